"""SQL of contexts with history."""

from __future__ import annotations

ROOT = (
    "SELECT context_id, agent, session_id, origin, copied, version, nodes, next_position, removed,"
    " tail, metadata, facts, created_ms, updated_ms, written_ms FROM contexts"
    " WHERE space = %(space)s"
)
CHILDREN = ROOT + " AND parent_id = %(name)s AND origin IS NOT NULL ORDER BY created_ms, context_id"
SESSIONS = ROOT + " AND session_id IS NOT NULL"
IN_PROJECT = (
    " AND (project_path = %(project)s OR starts_with(project_path, rtrim(%(project)s, '/') || '/'))"
)
NAMED_EXACTLY = " AND (context_id = %(name)s OR session_id = %(name)s) LIMIT 6"
NAMED_SO = " AND (starts_with(context_id, %(name)s) OR starts_with(session_id, %(name)s)) LIMIT 6"
NEWEST_FIRST = " ORDER BY created_ms DESC, context_id LIMIT %(limit)s"
BEHIND = " AND created_ms <= %(made)s AND (created_ms < %(made)s OR context_id > %(last)s)"
LABELLED = (
    "context_id IN (SELECT context_id FROM labels WHERE space = %(space)s"
    " AND label = %(label{number})s)"
)
KNOWN_OR_LABELLED = (
    "({labelled} OR (session_id IS NOT NULL AND {column} = %(value{number})s AND NOT EXISTS"
    " (SELECT 1 FROM labels l WHERE l.space = contexts.space"
    " AND l.context_id = contexts.context_id AND l.name = %(name{number})s)))"
)
ADD_ROOT = (
    "INSERT INTO contexts (space, context_id, agent, metadata, created_ms, updated_ms, written_ms)"
    " VALUES (%(space)s, %(name)s, %(agent)s, %(metadata)s, %(created)s, %(updated)s, %(written)s)"
)
SAVE_ROOT = (
    "UPDATE contexts SET origin = %(origin)s, parent_id = coalesce(%(parent)s, parent_id),"
    " copied = %(copied)s, version = %(version)s, nodes = %(nodes)s,"
    " next_position = %(next_position)s, removed = %(removed)s, tail = %(tail)s,"
    " metadata = %(metadata)s, updated_ms = %(updated)s, written_ms = %(written)s"
    " WHERE space = %(space)s AND context_id = %(name)s"
)
HEAD = (
    "SELECT version, head_id, prev_id, operation, operation_id, affected, metadata,"
    " context_metadata, repair, positions, removed, digest, created_ms"
    " FROM heads WHERE space = %(space)s AND context_id = %(name)s"
)
NEWEST_BEFORE = HEAD + " AND created_ms <= %(ms)s ORDER BY version DESC LIMIT 1"
ADD_HEAD = (
    "INSERT INTO heads (space, context_id, version, head_id, prev_id, operation, operation_id,"
    " affected, metadata, context_metadata, repair, positions, removed, digest, created_ms)"
    " VALUES (%(space)s, %(name)s, %(version)s, %(head_id)s, %(prev_id)s, %(operation)s,"
    " %(operation_id)s, %(affected)s, %(metadata)s, %(context_metadata)s, %(repair)s,"
    " %(positions)s, %(removed)s, %(digest)s, %(created_ms)s)"
)
COLUMNS = (
    "n.position, n.born, n.revision, n.superseded, n.event_id, n.parent, n.form, n.time_ms,"
    " n.stored_ms, n.rule_set, n.chain, n.base, n.size, n.body, n.native, n.extra"
)
PAGE = (
    f"SELECT {COLUMNS} FROM nodes n WHERE n.space = %(space)s AND n.context_id = %(name)s"  # noqa: S608
    " AND (n.position, n.born, n.revision) > (%(position)s, %(born)s, %(revision)s)"
    " AND n.position < %(until)s ORDER BY n.position, n.born, n.revision LIMIT %(limit)s"
)
AT = (
    f"SELECT {COLUMNS} FROM nodes n WHERE n.space = %(space)s AND n.context_id = %(name)s"  # noqa: S608
    " AND n.position = ANY(%(positions)s) ORDER BY n.position, n.born, n.revision"
)
BY_NAME = (
    f"SELECT n.context_id, {COLUMNS} FROM nodes n WHERE n.space = %(space)s"  # noqa: S608
    " AND n.event_id BETWEEN %(low)s AND %(high)s LIMIT 1"
)
BODIES = (
    "SELECT body, data FROM bodies WHERE space = %(space)s AND body = ANY(%(names)s)"
    " ORDER BY body, part"
)
ADD_NODE = (
    "INSERT INTO nodes (space, context_id, position, born, revision, event_id, parent, form, role,"
    " time_ms, stored_ms, rule_set, chain, base, size, body)"
    " VALUES (%(space)s, %(name)s, %(position)s, %(born)s, %(revision)s, %(event_id)s, %(parent)s,"
    " %(form)s, %(role)s, %(time_ms)s, %(stored_ms)s, %(rule_set)s, %(chain)s, %(base)s,"
    " %(size)s, %(body)s)"
)
SUPERSEDE = (
    "UPDATE nodes SET superseded = %(version)s WHERE space = %(space)s AND context_id = %(name)s"
    " AND position = %(position)s AND born = %(born)s AND revision = %(revision)s"
)
STANDS_ON = (
    "SELECT p.chain FROM nodes p WHERE p.space = n.space AND p.context_id = n.context_id AND"
)
"""What a row's link stands on, where it is no copy: see `chain.verify`."""
COPY = (
    "INSERT INTO nodes (space, context_id, position, born, revision, event_id, parent,"  # noqa: S608
    " form, role, time_ms, stored_ms, rule_set, chain, base, size, body, native, extra)"
    " SELECT n.space, %(target)s::text,"
    " CAST(row_number() OVER (ORDER BY n.position) - 1 AS integer), 0, 0,"
    " substring(sha256(convert_to(%(target)s::text, 'UTF8') || n.event_id) FROM 1 FOR 12),"
    " n.event_id, n.form, n.role, n.time_ms, %(now)s::bigint, n.rule_set, n.chain,"
    " coalesce(n.base, CASE"
    " WHEN n.born > 0 AND n.parent IS NOT NULL AND length(n.event_id) = 12 THEN"
    f" ({STANDS_ON} p.position = n.position AND p.event_id = n.parent)"
    " WHEN n.revision > 0 AND length(n.event_id) = 16 AND EXISTS"
    f" ({STANDS_ON} p.position = n.position AND length(p.event_id) = 16"
    " AND (p.born, p.revision) < (n.born, n.revision)) THEN"
    f" ({STANDS_ON} p.position = n.position AND length(p.event_id) = 16"
    " AND (p.born, p.revision) < (n.born, n.revision) ORDER BY p.born DESC, p.revision DESC"
    " LIMIT 1)"
    " WHEN n.position = %(copied)s THEN %(seal)s::bytea"
    f" ELSE ({STANDS_ON} p.position = n.position - 1 ORDER BY p.born, p.revision LIMIT 1) END,"
    " ''::bytea), n.size, n.body, n.native, n.extra"
    " FROM nodes n WHERE n.space = %(space)s AND n.context_id = %(source)s"
    " AND n.position < %(until)s AND n.born <= %(version)s"
    " AND (n.superseded IS NULL OR n.superseded > %(version)s)"
)
LINKS = (
    "SELECT string_agg(CASE WHEN length(chain) = 16 THEN chain ELSE"
    " decode(repeat('00', 16), 'hex') END, ''::bytea ORDER BY position, born, revision)"
    " FROM nodes WHERE space = %(space)s AND context_id = %(name)s AND position < %(until)s"
    " AND base IS NOT NULL"
)
CHANGED = (
    "SELECT DISTINCT position FROM nodes WHERE space = %(space)s AND context_id = %(name)s"
    " AND position < %(until)s AND ((born > %(low)s AND born <= %(high)s)"
    " OR (superseded > %(low)s AND superseded <= %(high)s)) ORDER BY position"
)
LAST_WRITTEN = (
    "SELECT position FROM nodes WHERE space = %(space)s AND context_id = %(name)s"
    " AND position < %(until)s AND born <= %(version)s AND time_ms <= %(ms)s"
    " ORDER BY position DESC LIMIT 1"
)
NEXT_TIMED = (
    "SELECT position FROM nodes WHERE space = %(space)s AND context_id = %(name)s"
    " AND position >= %(position)s AND position < %(until)s AND time_ms IS NOT NULL"
    " ORDER BY position LIMIT 1"
)
TIME_BEFORE = (
    "SELECT time_ms FROM nodes WHERE space = %(space)s AND context_id = %(name)s"
    " AND position < %(position)s AND time_ms IS NOT NULL ORDER BY position DESC LIMIT 1"
)
ADD_GAP = (
    "INSERT INTO gaps (space, context_id, bucket, removed)"
    " VALUES (%(space)s, %(name)s, %(bucket)s, %(count)s)"
    " ON CONFLICT (space, context_id, bucket)"
    " DO UPDATE SET removed = gaps.removed + excluded.removed"
)
SHOWN = (
    " FROM nodes WHERE space = %(space)s AND context_id = %(name)s AND position >= %(first)s"
    " AND position < %(until)s AND born <= %(version)s"
    " AND (superseded IS NULL OR superseded > %(version)s)"
)
SHOWN_IN = "SELECT position" + SHOWN + " ORDER BY position"
SHOWN_BY_BUCKET = (
    "SELECT position / %(bucket)s::integer, count(*)" + SHOWN + " GROUP BY 1 ORDER BY 1"
)
REMASKS = (
    "SELECT event_id, rule_set, before, after, chain FROM remasks"
    " WHERE space = %(space)s AND context_id = %(name)s ORDER BY number"
)
WIPE = (
    (
        "DELETE FROM bodies b WHERE b.space = %(space)s AND b.body IN"
        " (SELECT body FROM nodes WHERE space = %(space)s AND context_id = %(name)s)"
        " AND NOT EXISTS (SELECT 1 FROM nodes n WHERE n.space = b.space AND n.body = b.body"
        " AND n.context_id <> %(name)s)"
    ),
    "DELETE FROM nodes WHERE space = %(space)s AND context_id = %(name)s",
    "DELETE FROM heads WHERE space = %(space)s AND context_id = %(name)s",
    "DELETE FROM gaps WHERE space = %(space)s AND context_id = %(name)s",
    "DELETE FROM labels WHERE space = %(space)s AND context_id = %(name)s",
    "DELETE FROM event_names WHERE space = %(space)s AND context_id = %(name)s",
    "DELETE FROM operations WHERE space = %(space)s AND context_id = %(name)s",
    "DELETE FROM remasks WHERE space = %(space)s AND context_id = %(name)s",
    "DELETE FROM contexts WHERE space = %(space)s AND context_id = %(name)s",
)
BURY = (
    "INSERT INTO tombstones (space, context_id, wiped_ms, data)"
    " VALUES (%(space)s, %(name)s, %(ms)s, %(data)s) ON CONFLICT (space, context_id)"
    " DO UPDATE SET wiped_ms = excluded.wiped_ms, data = excluded.data"
)
