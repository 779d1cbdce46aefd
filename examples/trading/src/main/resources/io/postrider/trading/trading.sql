-- SPDX-License-Identifier: Apache-2.0
CREATE TABLE trade_order (
    id     text PRIMARY KEY,
    symbol text NOT NULL,
    state  text NOT NULL DEFAULT 'OPEN' CHECK (state IN ('OPEN', 'ACCEPTED', 'REJECTED', 'HALTED'))
);

-- One attempt to place an order: NEW, SENT, then ACKED, REJECTED, THROTTLED or, until somebody has asked, UNKNOWN.
CREATE TABLE order_attempt (
    order_id   text NOT NULL REFERENCES trade_order,
    attempt_no int  NOT NULL,
    client_id  text NOT NULL UNIQUE,
    state      text NOT NULL DEFAULT 'NEW'
               CHECK (state IN ('NEW', 'SENT', 'ACKED', 'REJECTED', 'THROTTLED', 'UNKNOWN')),
    reason     text NOT NULL DEFAULT '',
    was_unknown boolean NOT NULL DEFAULT false,
    UNIQUE (order_id, attempt_no)
);

CREATE TABLE notification_log (
    event_id uuid NOT NULL UNIQUE,
    about    text NOT NULL,
    message  text NOT NULL
);

CREATE TABLE backtest_result (
    backtest_id text NOT NULL,
    profit      int  NOT NULL
);

CREATE TABLE kill_switch (
    halted boolean NOT NULL
);
INSERT INTO kill_switch VALUES (false);
