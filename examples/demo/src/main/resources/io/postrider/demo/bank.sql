-- SPDX-License-Identifier: Apache-2.0
CREATE TABLE account (
    id      integer PRIMARY KEY,
    balance bigint  NOT NULL CHECK (balance >= 0),
    debits  integer NOT NULL DEFAULT 0
);

-- The service's ledger: what was committed.
CREATE TABLE transfer (
    event_id uuid    PRIMARY KEY,
    debtor   integer NOT NULL REFERENCES account,
    creditor integer NOT NULL REFERENCES account,
    cents    bigint  NOT NULL,
    -- Counts the debits of one account: the order in which its events must arrive.
    sequence integer NOT NULL,
    UNIQUE (debtor, sequence)
);

-- The consumer's ledger: what arrived, in the order of its arrival.
CREATE TABLE risk_log (
    position   bigint  GENERATED ALWAYS AS IDENTITY,
    event_id   uuid    PRIMARY KEY,
    account    integer NOT NULL,
    sequence   integer NOT NULL,
    cents      bigint  NOT NULL,
    suspicious boolean NOT NULL
);
