-- SPDX-License-Identifier: Apache-2.0
-- Postrider schema, version 1, for PostgreSQL 15 and later.
-- Names are unqualified: the tables go to the first schema of the search_path.

-- Events that are not yet delivered. A delivered event leaves this table, so that it and its indexes stay small.
CREATE TABLE outbox_event (
    -- CACHE 1: ids are handed out in one global order, which is the order of events of one key.
    id                 bigint      GENERATED ALWAYS AS IDENTITY (CACHE 1) PRIMARY KEY,
    event_id           uuid        NOT NULL DEFAULT gen_random_uuid() UNIQUE,
    stream             text        NOT NULL,
    -- NULL: this event is ordered with no other.
    event_key          text,
    -- Which part of the keys it belongs to; computed from the key, whatever is given.
    shard              smallint    NOT NULL,
    event_type         text        NOT NULL,
    aggregate_type     text,
    aggregate_id       text,
    -- The bytes as they were appended; NULL is a tombstone.
    payload            bytea,
    content_type       text,
    headers            jsonb       NOT NULL DEFAULT '{}',
    occurred_at        timestamptz NOT NULL DEFAULT clock_timestamp(),

    status             text        NOT NULL DEFAULT 'PENDING',
    -- Later events of this key must wait until this one has left.
    holds              boolean     NOT NULL DEFAULT false,
    -- Raised by every change of the row: who writes must have seen the last change.
    revision           integer     NOT NULL DEFAULT 0,
    -- When it may be taken. An event that is inserted with a later time becomes WAITING by itself.
    due_at             timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- The relay that will send it at its commit, or is sending it as an event of a competing stream, until due_at.
    locked_by          bigint,
    attempt_count      integer     NOT NULL DEFAULT 0,
    -- NULL: as the relay's retry policy says.
    max_attempts       integer,
    -- Relays that ended without a release while this event, and no other of their careful shards, was on its way; of a
    -- competing stream: leases that ran out.
    unclean_count      integer     NOT NULL DEFAULT 0,
    last_attempt_at    timestamptz,
    last_error_code    text,
    last_error_message text,
    created_at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- When its turn comes at this time or later, it is dead instead (EXPIRED). NULL: it never expires.
    expires_at         timestamptz,
    -- While this one is neither delivered nor dead, no other of its stream may have the same. NULL: any number may.
    dedup_key          text
) WITH (
    -- A queue turns over completely: vacuum by number of rows, not by share of the table.
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
    autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 50000,
    autovacuum_vacuum_cost_delay = 0
);

-- Computes what follows from the columns given, and refuses what could not be delivered. In a function, since its parts are
-- compiled once per session: as constraints and a generated column they cost each INSERT three times as much as the rest.
CREATE FUNCTION outbox_event_check() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    wrong text;
BEGIN
    NEW.shard := pg_catalog.hashtextextended(coalesce(NEW.event_key, NEW.event_id::text) COLLATE pg_catalog."C", 0) & 255;
    IF TG_OP = 'INSERT' AND NEW.status = 'PENDING' AND NEW.due_at > clock_timestamp() THEN
        NEW.status := 'WAITING';
    END IF;
    wrong := CASE
        WHEN pg_catalog.octet_length(NEW.stream) NOT BETWEEN 1 AND 128 THEN 'stream must have 1 to 128 bytes'
        WHEN pg_catalog.octet_length(NEW.event_type) NOT BETWEEN 1 AND 256 THEN 'event_type must have 1 to 256 bytes'
        WHEN pg_catalog.octet_length(NEW.event_key) NOT BETWEEN 1 AND 512
            THEN 'event_key must have 1 to 512 bytes, or be NULL for an event that is ordered with no other'
        WHEN pg_catalog.jsonb_typeof(NEW.headers) <> 'object' THEN 'headers must be a JSON object'
        WHEN NEW.max_attempts < 1 THEN 'max_attempts must be 1 or more, or NULL for what the relay says'
        WHEN NEW.status NOT IN ('PENDING', 'WAITING', 'DEAD', 'UNKNOWN')
            THEN 'status must be PENDING, WAITING, DEAD or UNKNOWN'
        WHEN NEW.holds AND NEW.status = 'PENDING' THEN 'a PENDING event holds nobody'
    END;
    -- Apart, so that the many events without them pay one look for it.
    IF NEW.expires_at IS NOT NULL OR NEW.dedup_key IS NOT NULL THEN
        wrong := coalesce(wrong, CASE
            WHEN pg_catalog.octet_length(NEW.dedup_key) NOT BETWEEN 1 AND 512
                THEN 'dedup_key must have 1 to 512 bytes, or be NULL for an event that may be there more than once'
            WHEN NOT pg_catalog.isfinite(NEW.expires_at)
                THEN 'expires_at must be a time, or NULL for an event that never expires'
            -- One that is leased is due at once; due_at says until when it is leased.
            WHEN TG_OP = 'INSERT' AND NEW.expires_at <= NEW.due_at AND NEW.status = 'WAITING' AND NEW.locked_by IS NULL
                THEN 'it expires before it is due (due_at), so it would never be delivered'
        END);
    END IF;
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION 'Event % is refused: %', NEW.event_id, wrong
            USING ERRCODE = 'check_violation', TABLE = TG_TABLE_NAME, SCHEMA = TG_TABLE_SCHEMA;
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER outbox_event_check BEFORE INSERT OR UPDATE OF event_id, stream, event_key, shard, event_type, headers, max_attempts,
    expires_at, dedup_key ON outbox_event FOR EACH ROW EXECUTE FUNCTION outbox_event_check();
-- What relays change all the time is tested without a call of the function.
CREATE TRIGGER outbox_event_check_state BEFORE UPDATE OF status, holds ON outbox_event FOR EACH ROW
    WHEN (NEW.status NOT IN ('PENDING', 'WAITING', 'DEAD', 'UNKNOWN') OR (NEW.holds AND NEW.status = 'PENDING'))
    EXECUTE FUNCTION outbox_event_check();

-- Reader: take, what is pending of each stream and shard, oldest first.
CREATE INDEX outbox_event_pending ON outbox_event (stream, shard, id) WHERE status = 'PENDING';
-- Reader: take, what has become due, and when the next will.
CREATE INDEX outbox_event_waiting ON outbox_event (shard, due_at) WHERE status = 'WAITING';
-- Readers: claim, what has become due of a competing stream, and when the next will; the renewal of its relays.
CREATE INDEX outbox_event_due ON outbox_event (stream, due_at) WHERE status = 'WAITING';
-- Reader: take, which keys are held.
CREATE INDEX outbox_event_holding ON outbox_event (shard, stream, event_key, id) WHERE holds;
-- Readers: dead letters by stream and key; take, the gap header of a stream that skips its dead.
CREATE INDEX outbox_event_dead ON outbox_event (stream, event_key, id) WHERE status IN ('DEAD', 'UNKNOWN');

-- Writer: append, of events that have one. What is dead stands in nobody's way, and comes back without its dedup key.
CREATE UNIQUE INDEX outbox_event_dedup ON outbox_event (stream, dedup_key)
    WHERE dedup_key IS NOT NULL AND status <> 'DEAD';

-- What became of events: delivered or discarded. One partition per UTC day, made ahead and dropped when it is old.
CREATE TABLE outbox_history (
    id                 bigint      NOT NULL,
    event_id           uuid        NOT NULL,
    stream             text        NOT NULL,
    event_key          text,
    event_type         text        NOT NULL,
    aggregate_type     text,
    aggregate_id       text,
    payload            bytea,
    -- false: the stream's history is kept without payloads.
    payload_kept       boolean     NOT NULL,
    content_type       text,
    headers            jsonb       NOT NULL,
    occurred_at        timestamptz NOT NULL,
    attempt_count      integer     NOT NULL,
    last_error_code    text,
    last_error_message text,
    created_at         timestamptz NOT NULL,
    outcome            text        NOT NULL CHECK (outcome IN ('PUBLISHED', 'DISCARDED')),
    settled_at         timestamptz NOT NULL,
    -- The relay that delivered it, or the person who discarded it.
    settled_by         text        NOT NULL
) PARTITION BY RANGE (settled_at);

-- Reader: what became of one event. The library's ids rise with time, so that new ones go to the end of it.
CREATE INDEX outbox_history_event ON outbox_history (event_id);

-- Takes what finds no partition: a missing partition must never stop delivery.
CREATE TABLE outbox_history_overflow (LIKE outbox_history INCLUDING ALL);

-- Where old history goes if it is archived; nothing reads or prunes it.
CREATE TABLE outbox_archive (LIKE outbox_history INCLUDING ALL);

-- Failed attempts only.
CREATE TABLE outbox_attempt (
    id            bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event_row     bigint      NOT NULL,
    event_id      uuid        NOT NULL,
    attempted_at  timestamptz NOT NULL,
    relay         text        NOT NULL,
    error_code    text        NOT NULL,
    error_message text        NOT NULL
);
-- Reader: the attempts of one event.
CREATE INDEX outbox_attempt_event ON outbox_attempt (event_id, id);
-- Reader: retention.
CREATE INDEX outbox_attempt_time ON outbox_attempt (attempted_at);

-- Live relays, one row each. A relay without a row here owns nothing.
CREATE TABLE outbox_relay (
    id          bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name        text        NOT NULL,
    relay_group text        NOT NULL,
    -- SHARDS: counted when shards are shared out. REST: paused. DRAIN: one pass over what is free, not counted. CLAIMS: takes
    -- events of competing streams.
    wants       text        NOT NULL CHECK (wants IN ('SHARDS', 'REST', 'DRAIN', 'CLAIMS')),
    -- The competing streams that it takes events of.
    streams     text[]      NOT NULL DEFAULT '{}',
    ttl_ms      integer     NOT NULL CHECK (ttl_ms > 0),
    lease_until timestamptz NOT NULL,
    -- Raised by every renewal; whoever declares a relay dead must have seen its last beat.
    beat        bigint      NOT NULL DEFAULT 0,
    in_flight   integer     NOT NULL DEFAULT 0,
    published   bigint      NOT NULL DEFAULT 0,
    -- Streams whose destination does not answer this relay.
    closed      text[]      NOT NULL DEFAULT '{}',
    started_at  timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 50);

-- Who may take events: the owner of their shard. The epoch rises with every owner.
CREATE TABLE outbox_shard (
    relay_group text     NOT NULL,
    shard       smallint NOT NULL CHECK (shard BETWEEN 0 AND 255),
    owner       bigint,
    epoch       bigint   NOT NULL DEFAULT 0,
    -- Owners in a row that did not release it; from 3 on it is kept until what they left behind has gone.
    unclean     integer  NOT NULL DEFAULT 0,
    -- The newest event (its id) when the first of them had ended.
    newest      bigint   NOT NULL DEFAULT 0,
    -- The events (their ids) that a careful owner is about to send, or was when it ended.
    suspects    bigint[],
    PRIMARY KEY (relay_group, shard)
) WITH (fillfactor = 50);

CREATE TABLE outbox_stream (
    stream       text        PRIMARY KEY,
    relay_group  text        NOT NULL,
    -- ORDERED: in order per key, by the owners of shards. COMPETING: a work queue, by whoever leases a row first.
    mode         text        NOT NULL DEFAULT 'ORDERED' CHECK (mode IN ('ORDERED', 'COMPETING')),
    on_dead      text        NOT NULL DEFAULT 'HOLD_KEY' CHECK (on_dead IN ('HOLD_KEY', 'SKIP', 'STOP_STREAM')),
    history      text        NOT NULL DEFAULT 'KEEP' CHECK (history IN ('KEEP', 'NO_PAYLOAD', 'OFF')),
    paused_at    timestamptz,
    paused_by    text,
    pause_reason text,
    created_at   timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- Who did what by hand, and why.
CREATE TABLE outbox_audit (
    id       bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    who      text        NOT NULL,
    action   text        NOT NULL,
    stream   text        NOT NULL,
    event_id uuid,
    reason   text        NOT NULL
);
-- Reader: what was done about one event.
CREATE INDEX outbox_audit_event ON outbox_audit (event_id, id) WHERE event_id IS NOT NULL;

-- What people were told of, channel by channel, so that nobody tells it twice.
CREATE TABLE outbox_alert (
    channel    text        NOT NULL,
    condition  text        NOT NULL,
    -- A stream or a relay.
    subject    text        NOT NULL,
    -- Raised by every change: who tells must have claimed the row in its last state.
    revision   bigint      NOT NULL DEFAULT 0,
    -- People were told that it is so, or may have been.
    raised     boolean     NOT NULL DEFAULT true,
    -- Until then somebody is telling, or the channel that failed is left alone.
    not_before timestamptz NOT NULL,
    failures   integer     NOT NULL DEFAULT 0,
    told_at    timestamptz,
    -- When what was told was so, and how much it was.
    told_of    timestamptz,
    told_value bigint      NOT NULL DEFAULT 0,
    PRIMARY KEY (channel, condition, subject)
);

-- What one process at a time does for all, and when it is to be done next.
CREATE TABLE outbox_duty (
    duty        text        PRIMARY KEY,
    -- Who does it, or did it last.
    holder      text        NOT NULL,
    -- Raised whenever somebody takes it.
    revision    bigint      NOT NULL DEFAULT 0,
    lease_until timestamptz NOT NULL,
    due_at      timestamptz NOT NULL
);

-- What consumers have processed: whoever inserts the row, in the transaction of his work, is the one who does it. It is
-- pruned in one pass over its pages, which needs no index on processed_at.
CREATE TABLE inbox_message (
    consumer     text        NOT NULL CHECK (octet_length(consumer) BETWEEN 1 AND 128),
    event_id     uuid        NOT NULL,
    processed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (consumer, event_id)
) WITH (
    -- A day of two weeks is pruned at a time: vacuum then, not when a fifth of the table is gone.
    autovacuum_vacuum_scale_factor = 0.02
);

-- What people look at: the state of every undelivered event, without its payload.
CREATE VIEW outbox_status AS
SELECT e.id, e.event_id, e.stream, e.event_key, e.event_type, e.aggregate_type, e.aggregate_id,
       CASE WHEN e.status IN ('DEAD', 'UNKNOWN') THEN e.status
            WHEN e.locked_by IS NOT NULL AND e.due_at > clock_timestamp() THEN 'PROCESSING'
            WHEN e.status = 'WAITING' AND e.attempt_count > 0 THEN 'FAILED'
            ELSE 'PENDING' END AS status,
       e.holds, e.due_at, e.attempt_count, e.max_attempts, e.last_attempt_at,
       e.last_error_code, e.last_error_message, e.created_at, e.updated_at, r.name AS relay, e.expires_at, e.dedup_key
FROM outbox_event e
LEFT JOIN outbox_stream st ON st.stream = e.stream
LEFT JOIN outbox_shard s ON s.relay_group = coalesce(st.relay_group, 'default') AND s.shard = e.shard
      AND st.mode IS DISTINCT FROM 'COMPETING'
LEFT JOIN outbox_relay r
       ON r.id = CASE WHEN e.due_at > clock_timestamp() THEN coalesce(e.locked_by, s.owner) ELSE s.owner END;

-- Makes the partitions of today and the days to come; returns how many were made.
-- CREATE + ATTACH: unlike PARTITION OF, it does not lock out those who are settling.
CREATE FUNCTION outbox_history_prepare(days_ahead integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    day  date;
    part text;
    made integer := 0;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('postrider.history', 0));
    FOR n IN 0 .. days_ahead LOOP
        day := (clock_timestamp() AT TIME ZONE 'UTC')::date + n;
        part := 'outbox_history_' || to_char(day, 'YYYYMMDD');
        IF to_regclass(part) IS NULL THEN
            EXECUTE format('CREATE TABLE %I (LIKE outbox_history INCLUDING ALL)', part);
            EXECUTE format('ALTER TABLE outbox_history ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
                part, day::timestamp AT TIME ZONE 'UTC', (day + 1)::timestamp AT TIME ZONE 'UTC');
            made := made + 1;
        END IF;
    END LOOP;
    RETURN made;
END $$;

-- Drops the oldest partition that ended before the cutoff; returns its name, or NULL if there is none.
-- Waits for its lock 100 ms at most, since those who settle queue behind it, and fails then: call again later.
CREATE FUNCTION outbox_history_drop(keep interval) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET lock_timeout = '100ms' AS $$
DECLARE
    part text;
BEGIN
    SELECT c.relname INTO part
    FROM pg_inherits i
    JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'outbox_history'::regclass
      AND c.relname ~ '^outbox_history_[0-9]{8}$'
      AND ((to_date(right(c.relname, 8), 'YYYYMMDD') + 1)::timestamp AT TIME ZONE 'UTC') <= clock_timestamp() - keep
    ORDER BY c.relname LIMIT 1;
    IF part IS NOT NULL THEN
        EXECUTE format('DROP TABLE %I', part);
    END IF;
    RETURN part;
END $$;

-- The partitions that may hold something older than this, and the overflow table, with how many pages each has.
CREATE FUNCTION outbox_history_old(keep interval) RETURNS TABLE (part text, pages bigint)
LANGUAGE sql STABLE SECURITY DEFINER AS $$
    SELECT c.relname::text, pg_relation_size(c.oid) / current_setting('block_size')::bigint
    FROM pg_class c LEFT JOIN pg_inherits i ON i.inhrelid = c.oid
    WHERE (i.inhparent = 'outbox_history'::regclass AND c.relname ~ '^outbox_history_[0-9]{8}$'
           AND (to_date(right(c.relname, 8), 'YYYYMMDD')::timestamp AT TIME ZONE 'UTC') < clock_timestamp() - keep)
       OR c.oid = 'outbox_history_overflow'::regclass
    ORDER BY c.relname
$$;

-- Deletes from some pages of one of these what is older, or moves it to the archive; returns how many rows.
-- Waits for a lock 100 ms at most, and fails then: call again later.
CREATE FUNCTION outbox_history_trim(keep interval, part_name text, from_page bigint, to_page bigint, archive boolean)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET lock_timeout = '100ms' AS $$
DECLARE
    moved bigint;
BEGIN
    IF NOT EXISTS (SELECT FROM outbox_history_old(keep) o WHERE o.part = part_name) THEN
        RETURN 0;
    END IF;
    EXECUTE format(
        CASE WHEN archive
            THEN 'WITH gone AS (DELETE FROM %I WHERE ctid >= $1 AND ctid < $2 AND settled_at < $3 RETURNING *)'
                 ' INSERT INTO outbox_archive SELECT * FROM gone'
            ELSE 'DELETE FROM %I WHERE ctid >= $1 AND ctid < $2 AND settled_at < $3' END, part_name)
        USING format('(%s,0)', from_page)::tid, format('(%s,0)', to_page)::tid, clock_timestamp() - keep;
    GET DIAGNOSTICS moved = ROW_COUNT;
    RETURN moved;
END $$;

-- Forgets who did what longer ago than this, which is 30 days at least; returns how many lines.
CREATE FUNCTION outbox_audit_prune(keep interval) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET lock_timeout = '100ms' AS $$
DECLARE
    gone bigint;
BEGIN
    DELETE FROM outbox_audit WHERE at < clock_timestamp() - greatest(keep, interval '30 days');
    GET DIAGNOSTICS gone = ROW_COUNT;
    RETURN gone;
END $$;

-- All run with the rights of their owner. So what they find depends neither on the caller's search_path nor on his
-- temporary tables, and who may call them is granted, not given to all.
DO $$
DECLARE
    routine regprocedure;
BEGIN
    FOREACH routine IN ARRAY ARRAY[
        'outbox_history_prepare(integer)', 'outbox_history_drop(interval)', 'outbox_history_old(interval)',
        'outbox_history_trim(interval, text, bigint, bigint, boolean)', 'outbox_audit_prune(interval)'
    ]::regprocedure[] LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = %I, pg_temp', routine, current_schema());
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', routine);
    END LOOP;
END $$;

SELECT outbox_history_prepare(14);
