// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring.autoconfigure;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.postrider.OutboxException;
import io.postrider.spring.EventJson;
import java.io.IOException;
import java.lang.reflect.Type;

/** With the mapper of Jackson 2. */
record Jackson2Json(ObjectMapper mapper) implements EventJson {

    @Override
    public byte[] write(Object body) {
        try {
            return mapper.writeValueAsBytes(body);
        } catch (JsonProcessingException e) {
            throw new OutboxException(
                    "An object of " + body.getClass().getName() + " cannot be written as JSON: "
                            + e.getOriginalMessage()
                            + ". Give the class what Jackson needs, or write the payload yourself.",
                    e);
        }
    }

    @Override
    public Object read(byte[] json, Type type) throws IOException {
        return mapper.readValue(json, mapper.constructType(type));
    }
}
