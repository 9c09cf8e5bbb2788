"""Where OpenClaw keeps its sessions.

Below `$OPENCLAW_STATE_DIR`, else `~/.openclaw` (runs of 2026.7.35 and 2026.9.6):

    agents/AGENT/sessions/ID.jsonl                     a session (2026.7)
    agents/AGENT/sessions/ID-topic-THREAD.jsonl        the same, of a chat's topic
    agents/AGENT/sessions/*.jsonl.reset.TIME           archived by a reset; so `deleted` and `bak`
    agents/AGENT/sessions/sessions.json                index: a companion, no source
    agents/AGENT/sessions/ID.trajectory.jsonl          debug trace: its begin is a companion
    agents/AGENT/agent/openclaw-agent.sqlite           all sessions of an agent (2026.9)
    agents/AGENT/session-sqlite-import-archive/*       files that were imported into it

Left out, as they repeat a session: `*.checkpoint.UUID.jsonl`, `*.corrupt-*.jsonl`, and locks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePath, PurePosixPath

from ultracontext.formats import Engine, Query, SourceFacts

DATABASE = "openclaw-agent.sqlite"
IMPORTED = "session-sqlite-import-archive"

_COPIES = re.compile(r"\.(?:trajectory|checkpoint\.[0-9A-Fa-f-]+|corrupt-[^/]*)\.jsonl")
_LIVE = re.compile(r"(?P<stem>.+)\.jsonl")
_ARCHIVED = re.compile(r"(?P<stem>.+)\.jsonl\.(?P<role>reset|deleted|bak)[.-][0-9TZ:.-]+")
_IMPORTED = re.compile(
    r"(?P<stem>.+)\.jsonl(?:\.(?:reset|deleted|bak)[.-][0-9TZ:.-]+)?\.imported-\d+"
)
_TOPIC = re.compile(r"(?P<id>.+)-topic-(?P<topic>[^/]+)")

_TRANSCRIPT = """
SELECT rowid, seq || '/' || session_id, {value} FROM transcript_events
WHERE rowid > :cursor ORDER BY rowid LIMIT :limit
"""

_WINDOW = """
SELECT w.rowid,
  CASE WHEN EXISTS (SELECT 1 FROM transcript_events e WHERE e.session_id = w.session_id)
       THEN w.session_id END,
  json_object(
    'session_id', w.session_id, 'session_key', w.session_key, 'reason', w.reason,
    'previous_session_id', w.previous_session_id, 'created_at', w.created_at,
    'channel', w.channel, 'label', n.label,
    'display_name', coalesce(w.display_name, n.display_name),
    'fork_source_session_id', n.fork_source_session_id,
    'spawned_by', coalesce(w.spawned_by, n.spawned_by),
    'spawned_by_session_id', (SELECT p.current_session_id FROM session_nodes p
      WHERE p.session_key = coalesce(w.spawned_by, n.spawned_by)),
    'archived', n.archived_at IS NOT NULL)
FROM session_windows w LEFT JOIN session_nodes n ON n.session_key = w.session_key
WHERE w.rowid > :cursor ORDER BY w.rowid LIMIT :limit
"""

_OLDER_WINDOW = """
SELECT rowid, session_id, json_object('session_id', session_id, 'session_key', session_key,
  'previous_session_id', previous_session_id)
FROM session_windows WHERE rowid > :cursor ORDER BY rowid LIMIT :limit
"""

QUERIES = (
    Query(name="transcript", sql=_TRANSCRIPT.format(value="coalesce(event_json, event_zstd)")),
    Query(name="transcript", sql=_TRANSCRIPT.format(value="event_json")),
    Query(name="window", sql=_WINDOW),
    Query(name="window", sql=_OLDER_WINDOW),
)
"""Of each name the first that the schema can answer. No other table is looked at: `auth_profile_*`
hold credentials."""


def roots(environment: Mapping[str, str], home: PurePath) -> Sequence[PurePath]:
    """The one folder that the program would use itself."""
    configured = environment.get("OPENCLAW_STATE_DIR")
    return [type(home)(configured)] if configured else [home / ".openclaw"]


def classify(path: PurePosixPath) -> SourceFacts | None:
    """What lies at a path relative to a root; None for all that is no source."""
    parts = path.parts
    if len(parts) != 4 or parts[0] != "agents":
        return None
    if parts[2] == "agent" and parts[3] == DATABASE:
        return SourceFacts(engine=Engine.DATABASE, role="database", queries=QUERIES)
    if parts[2] == "sessions":
        return _session(parts[3])
    if parts[2] == IMPORTED:
        found = _IMPORTED.fullmatch(parts[3])
        if found is not None and not _COPIES.search(parts[3]):
            return _log(found["stem"].rpartition(".")[2] or found["stem"], "imported")
    return None


def _session(name: str) -> SourceFacts | None:
    if name.startswith(".") or _COPIES.search(name):
        return None
    found = _LIVE.fullmatch(name)
    if found is not None:
        return _log(found["stem"], "session")
    found = _ARCHIVED.fullmatch(name)
    return None if found is None else _log(found["stem"], found["role"])


def _log(stem: str, role: str) -> SourceFacts:
    topic = _TOPIC.fullmatch(stem)
    extra = {"file": stem}
    if topic is not None:
        extra["topic"] = topic["topic"]
    return SourceFacts(
        engine=Engine.APPEND_LOG,
        role=role,
        session_hint=topic["id"] if topic is not None else stem,
        extra=extra,
    )
