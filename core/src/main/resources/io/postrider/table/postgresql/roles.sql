-- SPDX-License-Identifier: Apache-2.0
-- Roles for those who use Postrider's tables, each with no more rights than it needs; docs/guide/roles.md.
-- Run it as the owner of the tables who may create roles, with the schema of the tables first in the search_path;
-- again after every migration. What it does not grant it takes away, and then grants the rest: run it in one transaction.

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['postrider_writer', 'postrider_committer', 'postrider_relay', 'postrider_operator',
                              'postrider_editor', 'postrider_viewer', 'postrider_consumer'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) THEN
            BEGIN
                EXECUTE format('CREATE ROLE %I NOLOGIN', name);
            EXCEPTION WHEN duplicate_object OR unique_violation THEN
                NULL; -- Roles belong to the server: another database's script was faster.
            END;
        END IF;
    END LOOP;
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO postrider_writer, postrider_committer, postrider_relay,'
        ' postrider_operator, postrider_editor, postrider_viewer, postrider_consumer', current_schema());
    IF to_regclass('outbox_meta') IS NOT NULL THEN
        GRANT SELECT ON outbox_meta TO postrider_writer, postrider_committer, postrider_relay, postrider_operator,
            postrider_editor, postrider_viewer, postrider_consumer;
    END IF;
END $$;

REVOKE ALL ON outbox_event, outbox_history, outbox_history_overflow, outbox_attempt, outbox_relay, outbox_shard,
    outbox_stream, outbox_audit, outbox_status, outbox_alert, outbox_duty, outbox_archive, inbox_message
    FROM PUBLIC, postrider_writer, postrider_committer, postrider_relay, postrider_operator, postrider_editor,
        postrider_viewer, postrider_consumer;

-- Writers append, and can neither read what was appended nor change it, nor say what state it is in. due_at: when an
-- event shall be delivered later. event_id is read to find out that an event is there already; a dedup key need not be.
GRANT INSERT (event_id, stream, event_key, event_type, aggregate_type, aggregate_id, payload, content_type, headers,
              occurred_at, max_attempts, due_at, expires_at, dedup_key)
    ON outbox_event TO postrider_writer;
GRANT SELECT (event_id) ON outbox_event TO postrider_writer;

-- Committers append events that a relay of their own process publishes at the commit: they lease what they insert.
GRANT INSERT (event_id, stream, event_key, event_type, aggregate_type, aggregate_id, payload, content_type, headers,
              occurred_at, max_attempts, due_at, status, holds, locked_by, expires_at, dedup_key)
    ON outbox_event TO postrider_committer;
GRANT SELECT (event_id) ON outbox_event TO postrider_committer;

-- Relays deliver: they move rows from state to state and out of the table, and cannot change what an event says.
GRANT SELECT, DELETE ON outbox_event TO postrider_relay;
GRANT UPDATE (status, holds, revision, due_at, locked_by, attempt_count, last_attempt_at, last_error_code,
              last_error_message, unclean_count, updated_at)
    ON outbox_event TO postrider_relay;
GRANT INSERT ON outbox_history TO postrider_relay;
GRANT SELECT, INSERT, DELETE ON outbox_history_overflow, outbox_attempt TO postrider_relay;
GRANT SELECT, INSERT, UPDATE, DELETE ON outbox_relay TO postrider_relay;
GRANT SELECT, INSERT, UPDATE ON outbox_shard TO postrider_relay;
GRANT SELECT, INSERT ON outbox_stream TO postrider_relay;
GRANT UPDATE (on_dead, history, paused_at, paused_by, pause_reason) ON outbox_stream TO postrider_relay;
-- They keep the household and tell people what is wrong, one of them at a time.
GRANT SELECT, INSERT, UPDATE, DELETE ON outbox_alert, outbox_duty TO postrider_relay;
GRANT EXECUTE ON FUNCTION outbox_history_prepare(integer), outbox_history_drop(interval), outbox_history_old(interval),
    outbox_history_trim(interval, text, bigint, bigint, boolean), outbox_audit_prune(interval) TO postrider_relay;

-- Operators act on dead letters, unknown events and streams, and leave a trace that they cannot remove.
GRANT SELECT, DELETE ON outbox_event TO postrider_operator;
GRANT UPDATE (status, holds, revision, due_at, attempt_count, last_error_code, last_error_message, unclean_count, updated_at,
              expires_at, dedup_key)
    ON outbox_event TO postrider_operator;
GRANT SELECT, INSERT ON outbox_history, outbox_history_overflow, outbox_audit TO postrider_operator;
GRANT SELECT ON outbox_attempt, outbox_relay, outbox_shard, outbox_stream, outbox_status, outbox_alert, outbox_duty
    TO postrider_operator;
GRANT UPDATE (paused_at, paused_by, pause_reason) ON outbox_stream TO postrider_operator;
GRANT SELECT ON outbox_archive TO postrider_operator;
-- They prune what consumers have processed.
GRANT SELECT, DELETE ON inbox_message TO postrider_operator;

-- Consumers note what they have processed, when they do: they can neither forget it nor give it another time. processed_at
-- is left to its default.
GRANT INSERT (consumer, event_id), SELECT ON inbox_message TO postrider_consumer;

-- Editors are operators who may also change what a dead letter says.
GRANT postrider_operator TO postrider_editor;
GRANT UPDATE (payload, content_type, headers) ON outbox_event TO postrider_editor;

-- Viewers see what happens to events, without payloads and headers.
GRANT SELECT ON outbox_status, outbox_attempt, outbox_relay, outbox_shard, outbox_stream, outbox_audit, outbox_alert, outbox_duty
    TO postrider_viewer;
GRANT SELECT (id, event_id, stream, event_key, shard, event_type, aggregate_type, aggregate_id, content_type,
              occurred_at, status, holds, revision, due_at, locked_by, attempt_count, max_attempts, last_attempt_at,
              last_error_code, last_error_message, created_at, updated_at, expires_at, dedup_key)
    ON outbox_event TO postrider_viewer;
GRANT SELECT (ctid, id, event_id, stream, event_key, event_type, aggregate_type, aggregate_id, content_type, occurred_at,
              attempt_count, last_error_code, last_error_message, created_at, outcome, settled_at, settled_by)
    ON outbox_history, outbox_history_overflow, outbox_archive TO postrider_viewer;
