"""Where Gemini CLI keeps its sessions.

Below `$GEMINI_CLI_HOME/.gemini`, else `~/.gemini` (runs of 0.24.5, 0.29.0 and 0.61.0):

    tmp/PROJECT/chats/session-*.jsonl          a session (0.39 and later)
    tmp/PROJECT/chats/session-*.json           a session (0.38 and before), rewritten in place
    tmp/PROJECT/chats/PARENT/AGENT.jsonl       a sub-agent
    tmp/PROJECT/chats/*.unreadable-MS          one that the program could not read
    tmp/PROJECT/checkpoint-TAG.json            what `/chat save TAG` keeps
    tmp/PROJECT/.project_root, projects.json   which folder a PROJECT is: companions, no sources
    tmp/PROJECT/tool-outputs/session-ID/*.txt  whole tool outputs: companions

PROJECT is a short slug (0.29 and later) or the sha256 of the folder's path (0.24). `logs.json`
holds the typed lines once more, without answers: no source.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePath, PurePosixPath

from ultracontext.formats import DocumentShape, Engine, SourceFacts

CHATS = "chats"
CHECKPOINT = "checkpoint"
DEEPEST = 6
"""Parts of a path below a root; a sub-agent lies at the fifth."""

MESSAGES = DocumentShape(items="messages")
HISTORY = DocumentShape(items="history")

_NAME = re.compile(r"([^.].*?)\.(jsonl?)(\.unreadable-\d{1,20})?", re.DOTALL)
_CHECKPOINT = re.compile(r"(checkpoint(?:-.+)?)\.json", re.DOTALL)
_ESCAPED = re.compile(r"(?:%[0-9a-fA-F]{2})+")


def roots(environment: Mapping[str, str], home: PurePath) -> Sequence[PurePath]:
    """The one folder that the program would use itself."""
    configured = environment.get("GEMINI_CLI_HOME")
    return [(type(home)(configured) if configured else home) / ".gemini"]


def classify(path: PurePosixPath) -> SourceFacts | None:
    """What lies at a path relative to a root; None for all that is no session file."""
    parts = path.parts
    if not 3 <= len(parts) <= DEEPEST or parts[0] != "tmp":
        return None
    if len(parts) == 3:
        return _checkpoint(parts[1], parts[2])
    if parts[2] != CHATS:
        return None
    named = _NAME.fullmatch(parts[-1])
    return None if named is None else _session(parts, named)


def _session(parts: tuple[str, ...], named: re.Match[str]) -> SourceFacts:
    stem, suffix, unreadable = named.groups()
    parent = parts[-2] if len(parts) > 4 else None
    extra = {"project": parts[1], "up": "../" * (len(parts) - 3)}
    if unreadable:
        extra["spare"] = "unreadable"
    return SourceFacts(
        engine=Engine.APPEND_LOG if suffix == "jsonl" else Engine.DOCUMENT,
        role="subagent" if parent is not None else "session",
        session_hint=stem,
        parent_hint=parent,
        extra=extra,
        document=MESSAGES if suffix == "json" else None,
    )


def _checkpoint(project: str, name: str) -> SourceFacts | None:
    named = _CHECKPOINT.fullmatch(name)
    if named is None:
        return None
    return SourceFacts(
        engine=Engine.DOCUMENT,
        role=CHECKPOINT,
        session_hint=f"{named[1]}@{project}",
        extra={"project": project, "up": ""},
        document=HISTORY,
    )


def checkpoint_tag(source: str) -> str | None:
    """The tag in a checkpoint's path: "" for one without; None for another path."""
    folders = source.replace("\\", "/").rsplit("/", 2)
    named = _CHECKPOINT.fullmatch(folders[-1])
    if named is None or folders[-2:-1] == [CHATS]:
        return None
    return _ESCAPED.sub(_plain, named[1][len(CHECKPOINT) + 1 :])


def _plain(found: re.Match[str]) -> str:
    return bytes.fromhex(found.group().replace("%", "")).decode("utf-8", "replace")


def is_document(source: str) -> bool:
    """Whether a source's path is that of a file that is rewritten as a whole."""
    return source.endswith(".json") or ".json.unreadable-" in source


def parent_of(source: str) -> str | None:
    """The session whose sub-agent a path belongs to, by its folder."""
    folders = source.replace("\\", "/").split("/")
    if CHATS not in folders[-4:-2] or folders[-2] == CHATS:
        return None
    return folders[-2]


def project_of(source: str) -> str | None:
    """The PROJECT of a path."""
    folders = source.replace("\\", "/").split("/")
    if len(folders) > 2 and checkpoint_tag(source) is not None:
        return folders[-2]
    for place in range(len(folders) - 2, 0, -1):
        if folders[place] == CHATS:
            return folders[place - 1]
    return None
