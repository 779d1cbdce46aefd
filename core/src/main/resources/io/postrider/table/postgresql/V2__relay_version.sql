-- SPDX-License-Identifier: Apache-2.0
-- Postrider schema, version 2.

-- Which version of the library the relay runs, so that an upgrade can be watched. NULL: one that does not say, before version 2.
ALTER TABLE outbox_relay ADD COLUMN version text;
