"""Tables of the PostgreSQL store, and the migrations that make them.

The tables are those of the SQLite store, under the same names, less what only capture needs. Every
primary key starts with the space and every statement binds it, so that the tables distribute by
space. There is no sequence, no trigger, no function and no LISTEN; nothing is kept between two
transactions, so that a transaction pooler may stand in between.

Texts that may hold any character (metadata, operation ids) are bytes: PostgreSQL's text has no NUL.

    bodies  the content of rows, in pieces of at most 512 KiB, by the event id of the row that
            brought it; a fork's rows name the bodies of the rows that they were copied from
"""

from __future__ import annotations

FIRST = """
CREATE TABLE contexts (
    space text NOT NULL,
    context_id text NOT NULL,
    agent text,
    session_id text,
    project_path text,
    parent_id text,
    origin bytea,
    copied integer NOT NULL DEFAULT 0,
    version integer NOT NULL DEFAULT 0,
    nodes integer NOT NULL DEFAULT 0,
    next_position integer NOT NULL DEFAULT 0,
    removed integer NOT NULL DEFAULT 0,
    tail bytea NOT NULL DEFAULT '',
    metadata bytea,
    facts bytea,
    created_ms bigint NOT NULL,
    updated_ms bigint NOT NULL,
    written_ms bigint NOT NULL,
    PRIMARY KEY (space, context_id)
);
CREATE INDEX contexts_created ON contexts (space, created_ms, context_id);
CREATE INDEX contexts_origin ON contexts (space, parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX contexts_session ON contexts (space, session_id) WHERE session_id IS NOT NULL;
CREATE TABLE heads (
    space text NOT NULL,
    context_id text NOT NULL,
    version integer NOT NULL,
    head_id text NOT NULL,
    prev_id text,
    operation text NOT NULL,
    operation_id bytea,
    affected bytea,
    metadata bytea,
    context_metadata bytea,
    repair bytea,
    positions integer NOT NULL,
    removed integer NOT NULL,
    digest bytea,
    created_ms bigint NOT NULL,
    PRIMARY KEY (space, context_id, version)
);
CREATE TABLE nodes (
    space text NOT NULL,
    context_id text NOT NULL,
    position integer NOT NULL,
    born integer NOT NULL,
    revision integer NOT NULL,
    superseded integer,
    event_id bytea NOT NULL,
    parent bytea,
    form smallint,
    role text NOT NULL,
    time_ms bigint,
    stored_ms bigint,
    rule_set bigint,
    chain bytea,
    base bytea,
    size integer NOT NULL,
    body bytea NOT NULL,
    native bytea,
    extra bytea,
    PRIMARY KEY (space, context_id, position, born, revision)
);
CREATE UNIQUE INDEX nodes_event ON nodes (space, event_id);
CREATE INDEX nodes_body ON nodes (space, body);
CREATE TABLE bodies (
    space text NOT NULL,
    body bytea NOT NULL,
    part integer NOT NULL,
    data bytea NOT NULL,
    PRIMARY KEY (space, body, part)
);
CREATE TABLE gaps (
    space text NOT NULL,
    context_id text NOT NULL,
    bucket integer NOT NULL,
    removed integer NOT NULL,
    PRIMARY KEY (space, context_id, bucket)
);
CREATE TABLE labels (
    space text NOT NULL,
    label bytea NOT NULL,
    context_id text NOT NULL,
    name bytea NOT NULL,
    PRIMARY KEY (space, label, context_id)
);
CREATE INDEX labels_context ON labels (space, context_id);
CREATE TABLE operations (
    space text NOT NULL,
    context_id text NOT NULL,
    operation bytea NOT NULL,
    request bytea NOT NULL,
    result bytea NOT NULL,
    PRIMARY KEY (space, context_id, operation)
);
CREATE TABLE event_names (
    space text NOT NULL,
    context_id text NOT NULL,
    name bytea NOT NULL,
    event_id bytea NOT NULL,
    PRIMARY KEY (space, context_id, name)
);
CREATE TABLE remasks (
    space text NOT NULL,
    context_id text NOT NULL,
    number integer NOT NULL,
    event_id bytea NOT NULL,
    rule_set bigint NOT NULL,
    before bytea NOT NULL,
    after bytea NOT NULL,
    chain bytea NOT NULL,
    PRIMARY KEY (space, context_id, number)
);
CREATE TABLE tombstones (
    space text NOT NULL,
    context_id text NOT NULL,
    wiped_ms bigint NOT NULL,
    data bytea NOT NULL,
    PRIMARY KEY (space, context_id)
)
"""

MIGRATIONS: tuple[tuple[int, str], ...] = ((1002, FIRST),)
"""(version after it, statements), ascending, numbered as those of the SQLite store; each runs in
one transaction and is never changed."""

VERSION = MIGRATIONS[-1][0]
VERSIONS = (
    "CREATE TABLE IF NOT EXISTS versions (space text NOT NULL, version integer NOT NULL,"
    " PRIMARY KEY (space, version))"
)
"""What was applied; its space is empty."""
