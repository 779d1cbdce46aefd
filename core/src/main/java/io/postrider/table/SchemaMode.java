// SPDX-License-Identifier: Apache-2.0
package io.postrider.table;

/** What is done about Postrider's tables at start. */
public enum SchemaMode {
    /** Run what is missing. */
    MIGRATE,
    /** Fail if something is missing, and print it. */
    VALIDATE,
    /** Look at nothing. */
    NONE
}
