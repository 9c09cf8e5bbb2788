"""Where Codex keeps its sessions (FORMAT.md section 1, seen with 0.45 to 0.171, November 2026).

    $CODEX_HOME, else ~/.codex
        sessions/YYYY/MM/DD/rollout-<local time>-<uuid>.jsonl     one thread a file, appended to
        sessions/…/rollout-….jsonl.zst                            the same, cold
        archived_sessions/rollout-….jsonl                         after `codex archive`
        session_index.jsonl                                       names of threads
        external_agent_session_imports.json                       threads made of others' files

Date and time in the path are local time and never used. The folders below `sessions` may have any
depth and name (RESUME_MATRIX.md). `history.jsonl`, the SQLite files and `auth.json` are no sources.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePath, PurePosixPath

from ultracontext.formats import DocumentShape, Engine, SourceFacts

FOLDERS = ("sessions", "archived_sessions")
NAMES_FILE = "session_index.jsonl"
IMPORTS_FILE = "external_agent_session_imports.json"
"""`{"records": [{"source_path": …, "imported_thread_id": …, "imported_at": …}]}` (reported for 2026
versions, vakovalskii/codbash 220; not run)."""
FILES = (NAMES_FILE, IMPORTS_FILE)

SESSION_ROLE = "session"
NAMES_ROLE = "names"
IMPORTS_ROLE = "imports"
IMPORTS = DocumentShape(items="records", item_id="imported_thread_id")

_UUID_AT_END = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z")


def roots(environment: Mapping[str, str], home: PurePath) -> Sequence[PurePath]:
    """The one folder that Codex itself would use."""
    moved = environment.get("CODEX_HOME")
    return [home.joinpath(moved) if moved else home / ".codex"]


def classify(path: PurePosixPath) -> SourceFacts | None:
    """What a path below a root is, None when it is no source."""
    name = path.name
    if name.startswith("rollout-") and path.parts[0] in FOLDERS:
        return _rollout(name, path.parts[0])
    if name == NAMES_FILE and len(path.parts) == 1:
        return SourceFacts(engine=Engine.APPEND_LOG, role=NAMES_ROLE)
    if name == IMPORTS_FILE and len(path.parts) == 1:
        return SourceFacts(engine=Engine.DOCUMENT, role=IMPORTS_ROLE, document=IMPORTS)
    return None


def _rollout(name: str, folder: str) -> SourceFacts | None:
    if name.endswith(".jsonl"):
        engine, stem = Engine.APPEND_LOG, name[: -len(".jsonl")]
    elif name.endswith(".jsonl.zst"):
        engine, stem = Engine.COMPRESSED_LOG, name[: -len(".jsonl.zst")]
    else:
        return None
    match = _UUID_AT_END.search(stem)
    return SourceFacts(
        engine=engine,
        role=SESSION_ROLE,
        session_hint=match.group() if match else None,
        extra={"archived": "true"} if folder == "archived_sessions" else {},
    )
