"""Tables of the SQLite store, and the migrations that make them.

Every primary key starts with the space. A version is `major * 1000 + minor`, kept in
`user_version`: a program reads any store of its own major version; migrations within one only add.

    spaces        counters of one tenant
    contexts      roots: one row a session; `ref` is its short name inside this file, `nodes`
                  counts its rows (revisions too), `next_position` its places
    heads         versions of a context
    nodes         messages: one row an event, edits and revisions as rows at the same position
    blocks        bodies of neighbouring nodes of one context, compressed together; a node says
                  (block, place, size), and a fork's rows say the same as the rows they were
                  copied from (then the block is `shared` and stays as it is)
    log           what was written, in order: the feed of index and remote, each node's stored_at
    kinds         (kind, role, event type) by number, so that a node spends a byte on them
    parts         strings over 256 KiB in pieces, by digest; `part_users` says who holds them
    dictionaries  what small blocks were compressed with
    dedup         event ids seen within the TTL, also of nodes that are gone
    sources       checkpoints of capture
    notes, totals small facts and counters of capture
    remasks       each change of a node's content by newer rules, chained within its context
    marks         which masks stand in which context: a summary of the bodies
    fingerprints  whole keyed digests of the secrets that the 8 digits of a mask are the head of
    gaps          how many positions of a context have no message, by bucket of positions
    labels        what lists find a context by: top-level values of its metadata
    operations    what was done under an `operation_id`, so that it is done once
    event_names   messages by their writers' own names for them
    tombstones    what stays of a wiped context, and which sources brought it

A node is visible in version v when `born <= v` and not `superseded <= v`. A revision within one
version is superseded in the version of its birth, so no version shows it. `chain` is the digest
over the row before (for an edit or a revision: over the row it replaces) and the content at birth.
A row with `base` is a copy: its `chain` is that of the row copied, and `base` what that stood on.
`form` is 1 for a message that a program gave (its body is `[metadata, content]`), else NULL.

`contexts.rule_set` are the rules under which all of its first `rule_nodes` rows are masked; a
context is behind when they are not today's, or when it has another number of rows.
"""

from __future__ import annotations

APPLICATION_ID = 0x55435478
"""`UCTx`, so that a foreign database is recognised."""

FIRST = """
CREATE TABLE spaces (
    space TEXT NOT NULL,
    next_context INTEGER NOT NULL DEFAULT 1,
    next_source INTEGER NOT NULL DEFAULT 1,
    next_log INTEGER NOT NULL DEFAULT 1,
    next_block INTEGER NOT NULL DEFAULT 1,
    created_ms INTEGER NOT NULL,
    PRIMARY KEY (space)
) WITHOUT ROWID;
CREATE TABLE contexts (
    space TEXT NOT NULL,
    context_id TEXT NOT NULL,
    ref INTEGER NOT NULL,
    agent TEXT,
    session_id TEXT,
    parent_id TEXT,
    parent_session TEXT,
    relation TEXT,
    related INTEGER NOT NULL DEFAULT 0,
    project_path TEXT,
    version INTEGER NOT NULL DEFAULT 0,
    nodes INTEGER NOT NULL DEFAULT 0,
    next_position INTEGER NOT NULL DEFAULT 0,
    loose INTEGER NOT NULL DEFAULT 0,
    tail BLOB,
    facts BLOB,
    facts_nodes INTEGER,
    reader_digest BLOB,
    base BLOB,
    metadata BLOB,
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL,
    stored_ms INTEGER NOT NULL,
    PRIMARY KEY (space, context_id)
);
CREATE UNIQUE INDEX contexts_ref ON contexts (space, ref);
CREATE UNIQUE INDEX contexts_session ON contexts (space, session_id, agent);
CREATE INDEX contexts_recent ON contexts (space, updated_ms, ref);
CREATE INDEX contexts_read ON contexts (space, agent, reader_digest);
CREATE INDEX contexts_loose ON contexts (space, loose) WHERE loose >= 64;
CREATE INDEX contexts_stale ON contexts (space, ref) WHERE facts_nodes IS NOT nodes;
CREATE TABLE heads (
    space TEXT NOT NULL,
    context INTEGER NOT NULL,
    version INTEGER NOT NULL,
    head_id TEXT NOT NULL,
    prev_id TEXT,
    operation TEXT NOT NULL,
    operation_id TEXT,
    affected BLOB,
    metadata BLOB,
    digest BLOB,
    log INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    PRIMARY KEY (space, context, version)
) WITHOUT ROWID;
CREATE TABLE nodes (
    space TEXT NOT NULL,
    context INTEGER NOT NULL,
    position INTEGER NOT NULL,
    born INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    superseded INTEGER,
    event_id BLOB NOT NULL,
    parent BLOB,
    log INTEGER NOT NULL,
    source INTEGER,
    start INTEGER,
    length INTEGER,
    ordinal INTEGER,
    kind INTEGER,
    call_id TEXT,
    time_ms INTEGER,
    rule_set INTEGER,
    opaque INTEGER NOT NULL,
    block INTEGER,
    place INTEGER,
    size INTEGER,
    digest BLOB,
    chain BLOB,
    extra BLOB,
    PRIMARY KEY (space, context, position, born, revision)
);
CREATE UNIQUE INDEX nodes_event ON nodes (space, event_id);
CREATE TABLE blocks (
    space TEXT NOT NULL,
    block INTEGER NOT NULL,
    context INTEGER NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    size INTEGER NOT NULL,
    shared INTEGER NOT NULL DEFAULT 0,
    codec INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (space, block)
);
CREATE INDEX blocks_loose ON blocks (space, context, block) WHERE size < 16384 AND shared = 0;
CREATE TABLE log (
    space TEXT NOT NULL,
    entry INTEGER NOT NULL,
    context INTEGER NOT NULL,
    operation TEXT NOT NULL,
    position INTEGER,
    count INTEGER,
    stored_ms INTEGER NOT NULL,
    PRIMARY KEY (space, entry)
) WITHOUT ROWID;
CREATE TABLE kinds (
    space TEXT NOT NULL,
    ref INTEGER NOT NULL,
    kind TEXT NOT NULL,
    role TEXT NOT NULL,
    event_type TEXT NOT NULL,
    PRIMARY KEY (space, ref)
) WITHOUT ROWID;
CREATE TABLE parts (
    space TEXT NOT NULL,
    digest BLOB NOT NULL,
    part INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (space, digest, part)
);
CREATE TABLE part_users (
    space TEXT NOT NULL,
    digest BLOB NOT NULL,
    event_id BLOB NOT NULL,
    PRIMARY KEY (space, digest, event_id)
) WITHOUT ROWID;
CREATE TABLE dictionaries (
    space TEXT NOT NULL,
    ref INTEGER NOT NULL,
    digest BLOB NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (space, ref)
);
CREATE TABLE dedup (
    space TEXT NOT NULL,
    event_id BLOB NOT NULL,
    digest BLOB NOT NULL,
    source INTEGER,
    stored_s INTEGER NOT NULL,
    PRIMARY KEY (space, event_id)
) WITHOUT ROWID;
CREATE TABLE sources (
    space TEXT NOT NULL,
    source_id INTEGER NOT NULL,
    agent TEXT NOT NULL,
    path TEXT NOT NULL,
    path_digest BLOB NOT NULL,
    device INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    fingerprint BLOB NOT NULL,
    fingerprint_length INTEGER NOT NULL,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    ctime_ns INTEGER NOT NULL,
    position INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    prefix BLOB NOT NULL,
    mode TEXT NOT NULL,
    branch TEXT,
    state BLOB,
    problem TEXT,
    gone INTEGER NOT NULL,
    PRIMARY KEY (space, source_id)
);
CREATE TABLE notes (
    space TEXT NOT NULL,
    name TEXT NOT NULL,
    value BLOB NOT NULL,
    PRIMARY KEY (space, name)
) WITHOUT ROWID;
CREATE TABLE totals (
    space TEXT NOT NULL,
    name TEXT NOT NULL,
    value INTEGER NOT NULL,
    PRIMARY KEY (space, name)
) WITHOUT ROWID;
"""

REMASKS = """
ALTER TABLE contexts ADD COLUMN rule_set INTEGER;
ALTER TABLE contexts ADD COLUMN rule_nodes INTEGER;
CREATE INDEX contexts_rules ON contexts (space, rule_set) WHERE rule_set IS NOT NULL;
CREATE INDEX contexts_mixed ON contexts (space, ref) WHERE rule_nodes IS NOT nodes;
CREATE TABLE remasks (
    space TEXT NOT NULL,
    context INTEGER NOT NULL,
    number INTEGER NOT NULL,
    event_id BLOB NOT NULL,
    rule_set INTEGER NOT NULL,
    before BLOB NOT NULL,
    after BLOB NOT NULL,
    chain BLOB NOT NULL,
    stored_ms INTEGER NOT NULL,
    PRIMARY KEY (space, context, number)
) WITHOUT ROWID;
CREATE TABLE marks (
    space TEXT NOT NULL,
    context INTEGER NOT NULL,
    kind TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    count INTEGER NOT NULL,
    first_ms INTEGER NOT NULL,
    last_ms INTEGER NOT NULL,
    PRIMARY KEY (space, context, kind, fingerprint)
) WITHOUT ROWID;
CREATE TABLE fingerprints (
    space TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    digest BLOB NOT NULL,
    PRIMARY KEY (space, fingerprint, digest)
) WITHOUT ROWID;
"""

HISTORY = """
ALTER TABLE contexts ADD COLUMN origin BLOB;
ALTER TABLE contexts ADD COLUMN copied INTEGER NOT NULL DEFAULT 0;
ALTER TABLE contexts ADD COLUMN removed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE contexts ADD COLUMN written_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE heads ADD COLUMN context_metadata BLOB;
ALTER TABLE heads ADD COLUMN repair BLOB;
ALTER TABLE heads ADD COLUMN positions INTEGER NOT NULL DEFAULT 0;
ALTER TABLE heads ADD COLUMN removed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE nodes ADD COLUMN form INTEGER;
ALTER TABLE nodes ADD COLUMN base BLOB;
CREATE INDEX contexts_created ON contexts (space, created_ms, context_id);
CREATE INDEX contexts_parent ON contexts (space, parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX blocks_context ON blocks (space, context);
CREATE INDEX part_users_event ON part_users (space, event_id);
CREATE TABLE gaps (
    space TEXT NOT NULL,
    context INTEGER NOT NULL,
    bucket INTEGER NOT NULL,
    removed INTEGER NOT NULL,
    PRIMARY KEY (space, context, bucket)
) WITHOUT ROWID;
CREATE TABLE labels (
    space TEXT NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    context INTEGER NOT NULL,
    PRIMARY KEY (space, name, value, context)
) WITHOUT ROWID;
CREATE INDEX labels_context ON labels (space, context);
CREATE TABLE operations (
    space TEXT NOT NULL,
    context_id TEXT NOT NULL,
    operation_id TEXT NOT NULL,
    request BLOB NOT NULL,
    result BLOB NOT NULL,
    PRIMARY KEY (space, context_id, operation_id)
) WITHOUT ROWID;
CREATE TABLE event_names (
    space TEXT NOT NULL,
    context INTEGER NOT NULL,
    name BLOB NOT NULL,
    event_id BLOB NOT NULL,
    PRIMARY KEY (space, context, name)
) WITHOUT ROWID;
CREATE TABLE tombstones (
    space TEXT NOT NULL,
    context_id TEXT NOT NULL,
    wiped_ms INTEGER NOT NULL,
    data BLOB NOT NULL,
    sources BLOB,
    PRIMARY KEY (space, context_id)
) WITHOUT ROWID;
"""

MIGRATIONS: tuple[tuple[int, str], ...] = ((1000, FIRST), (1001, REMASKS), (1002, HISTORY))
"""(version after it, statements), ascending; each runs in one transaction and is never changed."""

VERSION = MIGRATIONS[-1][0]


def major(version: int) -> int:
    return version // 1000
