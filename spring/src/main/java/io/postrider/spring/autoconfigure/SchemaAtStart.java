// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring.autoconfigure;

import io.postrider.OutboxException;
import io.postrider.spring.autoconfigure.PostriderProperties.Mode;
import io.postrider.table.Schema;
import io.postrider.table.SchemaMode;
import org.springframework.beans.factory.SmartInitializingSingleton;

/**
 * Migrates or checks the tables when all beans are there: after Flyway or Liquibase, which may have made them, and
 * before the relay and the web server start.
 */
final class SchemaAtStart implements SmartInitializingSingleton {
    private final Storage storage;
    private final Mode mode;

    SchemaAtStart(Storage storage, Mode mode) {
        this.storage = storage;
        this.mode = mode;
    }

    @Override
    public void afterSingletonsInstantiated() {
        Schema schema = Schema.of(storage.dataSource(), storage.tables());
        switch (mode) {
            case MIGRATE -> migrate(schema);
            case VALIDATE -> validate(schema, "postrider.schema.mode is validate");
            case NONE -> schema.apply(SchemaMode.NONE);
            case AUTO -> {
                Address address = Address.of(storage.dataSource());
                if (address.isLocal()) {
                    migrate(schema);
                } else {
                    validate(schema, "the database is not on this machine (" + address + "), so nothing was migrated");
                }
            }
        }
    }

    private static void migrate(Schema schema) {
        try {
            schema.apply(SchemaMode.MIGRATE);
        } catch (OutboxException e) {
            throw new SetupException(
                    String.valueOf(e.getMessage()),
                    "If it lacks a right, start with a user who owns the tables and may create others, or run the scripts"
                            + " with another and set postrider.schema.mode=validate.",
                    e);
        }
    }

    private static void validate(Schema schema, String why) {
        try {
            schema.version();
        } catch (OutboxException e) {
            throw new SetupException(
                    String.valueOf(e.getMessage()),
                    "If the tables are too new, use the version of Postrider that the other instances run.",
                    e);
        }
        try {
            schema.apply(SchemaMode.VALIDATE);
        } catch (OutboxException e) {
            throw new SetupException(
                    "The tables of the outbox are missing or too old, and " + why + ".\n\n" + e.getMessage(),
                    "Run this SQL with your migration tool, or set postrider.schema.mode=migrate to have it done at"
                            + " start.",
                    e);
        }
    }
}
