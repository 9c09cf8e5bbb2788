"""Where Cursor keeps its conversations.

Below `$CURSOR_DATA_DIR` and `$CURSOR_CONFIG_DIR`, else `~/.cursor`:

    projects/SLUG/agent-transcripts/ID/ID.jsonl              a transcript
    projects/SLUG/agent-transcripts/ID.jsonl, ID.txt         the same, flat; before 2026-02
    projects/SLUG/agent-transcripts/ID/subagents/CHILD.jsonl a sub-agent's
    chats/MD5/ID/store.db                                    a conversation of `cursor-agent`

Below the IDE's `Cursor/User`:

    globalStorage/state.vscdb                                all conversations
    workspaceStorage/WORKSPACE/state.vscdb                   lists; tabs of 2024
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath, PurePosixPath

from ultracontext.agents.cursor.queries import STATE, STORE
from ultracontext.formats import Engine, SourceFacts

FOLDERS = ("projects", "chats", "workspaceStorage")
FILES = ("globalStorage/state.vscdb",)
TRANSCRIPTS = "agent-transcripts"
STATE_NAME = "state.vscdb"
STORE_NAME = "store.db"


def roots(environment: Mapping[str, str], home: PurePath) -> Sequence[PurePath]:
    """The command line's folders, and the IDE's on each system."""
    make = type(home)
    set_ones = [environment.get(name) for name in ("CURSOR_DATA_DIR", "CURSOR_CONFIG_DIR")]
    found: list[PurePath] = [make(folder) for folder in set_ones if folder] or [home / ".cursor"]
    config = environment.get("XDG_CONFIG_HOME")
    found.append((make(config) if config else home / ".config") / "Cursor" / "User")
    found.append(home / "Library" / "Application Support" / "Cursor" / "User")
    roaming = environment.get("APPDATA")
    if roaming:
        found.append(make(roaming) / "Cursor" / "User")
    return list(dict.fromkeys(found))


def classify(path: PurePosixPath) -> SourceFacts | None:
    """What lies at a path relative to a root; None for all that is no source."""
    parts = path.parts
    if not parts:
        return None
    if parts[0] == "projects" and len(parts) > 3 and parts[2] == TRANSCRIPTS:
        return _transcript(parts[3:])
    if parts[0] == "chats" and parts[-1] == STORE_NAME and len(parts) in (3, 4):
        return SourceFacts(
            engine=Engine.DATABASE, role="store", session_hint=parts[-2], queries=STORE
        )
    if parts == ("globalStorage", STATE_NAME):
        return SourceFacts(engine=Engine.DATABASE, role="global", queries=STATE)
    if len(parts) == 3 and parts[0] == "workspaceStorage" and parts[2] == STATE_NAME:
        workspace = {"workspace": parts[1]}
        return SourceFacts(engine=Engine.DATABASE, role="workspace", queries=STATE, extra=workspace)
    return None


def _transcript(parts: tuple[str, ...]) -> SourceFacts | None:
    stem, _, kind = parts[-1].rpartition(".")
    if not stem or stem.startswith(".") or kind not in ("jsonl", "txt"):
        return None
    engine = Engine.APPEND_LOG if kind == "jsonl" else Engine.DOCUMENT
    depth = {"depth": str(len(parts))}
    if len(parts) == 3 and parts[1] == "subagents":
        return SourceFacts(
            engine=engine, role="subagent", session_hint=stem, parent_hint=parts[0], extra=depth
        )
    if len(parts) == 1 or (len(parts) == 2 and parts[0] == stem):
        return SourceFacts(engine=engine, role="transcript", session_hint=stem, extra=depth)
    return None
