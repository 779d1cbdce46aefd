// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring.autoconfigure;

import io.postrider.OutboxException;
import io.postrider.spring.EventJson;
import java.lang.reflect.Type;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/** With the mapper of Jackson 3. */
record Jackson3Json(JsonMapper mapper) implements EventJson {

    @Override
    public byte[] write(Object body) {
        try {
            return mapper.writeValueAsBytes(body);
        } catch (JacksonException e) {
            throw new OutboxException(
                    "An object of " + body.getClass().getName() + " cannot be written as JSON: "
                            + e.getOriginalMessage()
                            + ". Give the class what Jackson needs, or write the payload yourself.",
                    e);
        }
    }

    @Override
    public Object read(byte[] json, Type type) {
        return mapper.readValue(json, mapper.constructType(type));
    }
}
