"""Contexts and versions as lists show them."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from ultracontext.chain import dump_json, load_json
from ultracontext.errors import InvalidCursorError
from ultracontext.model import ContextId, MessageId
from ultracontext.store.contexts import (
    ContextInfo,
    ContextPage,
    Fork,
    Gap,
    LogEntry,
    Tombstone,
    VersionInfo,
)
from ultracontext.store.history.rows import ContextFilter, Head, Root, Rows
from ultracontext.store.history.selection import end_of, origin_of, parsed
from ultracontext.store.values import milliseconds, moment

PLACE = re.compile(r"(-?[0-9]{1,18})\.(ctx_[0-9a-f]{24})", re.ASCII)
LONGEST_LABEL = 1024
"""Characters of a value that lists find a context by; longer ones are not found."""
FACTS = (
    "project_path", "git_branch", "git_remote", "title", "model", "agent_version", "started_at",
    "parent_session", "relation",
)  # fmt: skip


def label_of(metadata: Any) -> dict[str, str]:
    """What filters compare: top-level texts, numbers and booleans."""
    if not isinstance(metadata, dict):
        return {}
    found: dict[str, str] = {}
    for key, value in metadata.items():
        if isinstance(value, str):
            text = value
        elif isinstance(value, bool | int | float):
            text = dump_json(value).decode()
        else:
            continue
        if len(text) <= LONGEST_LABEL and len(key) <= LONGEST_LABEL:
            found[plain(key)] = plain(text)
    return found


def plain(text: str) -> str:
    """Text that a column of every database can hold, one to one: no lone surrogate, no NUL."""
    if text.isascii() and "\0" not in text and "\\" not in text:
        return text
    return "".join(
        f"\\u{ord(c):04x}" if c in "\0\\" or "\ud800" <= c <= "\udfff" else c for c in text
    )


def metadata_of(root: Root, given: bytes | None) -> Any:
    """Of a captured session what is known of it, with what was set by hand over it."""
    by_hand = parsed(given, {})
    if root.session_id is None or not isinstance(by_hand, dict):
        return by_hand
    known: dict[str, Any] = {"source": root.agent, "session_id": root.session_id}
    if root.facts is not None:
        facts = {name: getattr(root.facts, name) for name in FACTS}
        known.update({name: value for name, value in facts.items() if value is not None})
    return known | by_hand


def info_of(rows: Rows, root: Root) -> ContextInfo:
    origin = origin_of(root)
    fork, wiped = None, False
    if origin is not None:
        fork = msgspec.structs.replace(origin.fork, version=origin.version)
        wiped = rows.root(fork.source) is None
    return ContextInfo(
        context_id=ContextId(root.context_id),
        metadata=metadata_of(root, root.metadata),
        created_at=moment(root.created_ms),
        updated_at=moment(max(root.updated_ms, root.written_ms)),
        version=root.version,
        messages=root.next_position - root.removed,
        origin=fork,
        origin_wiped=wiped,
        agent=root.agent,
        session_id=root.session_id,
    )


def page_of(
    rows: Rows,
    *,
    filters: Mapping[str, str],
    after: datetime | None,
    before: datetime | None,
    limit: int,
    cursor: str | None,
) -> ContextPage:
    wanted = ContextFilter(
        labels={plain(key): plain(value) for key, value in filters.items()},
        after_ms=None if after is None else milliseconds(after),
        before_ms=None if before is None else milliseconds(before),
        limit=limit + 1,
        cursor=None if cursor is None else place_in(cursor),
    )
    found = rows.list_roots(wanted) if limit > 0 else []
    following = None
    if len(found) > limit:
        found = found[:limit]
        following = cursor_at(found[-1].created_ms, found[-1].context_id)
    return ContextPage(contexts=[info_of(rows, root) for root in found], next_cursor=following)


def cursor_at(created_ms: int, context_id: str) -> str:
    return base64.urlsafe_b64encode(f"{created_ms}.{context_id}".encode()).decode().rstrip("=")


def place_in(cursor: str) -> tuple[int, str]:
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode("ascii")
    except (ValueError, UnicodeError):
        text = ""
    found = PLACE.fullmatch(text)
    if found is None:
        raise InvalidCursorError("that cursor is no page's", hint="Start without it")
    return int(found[1]), found[2]


def version_of(head: Head) -> VersionInfo:
    affected = None if head.operation == "create" else parsed(head.affected, [])
    return VersionInfo(
        version=head.version,
        version_id=head.head_id,
        created_at=moment(head.created_ms),
        operation="delete" if head.operation == "delete" else _operation(head),
        affected=[MessageId(name) for name in affected] if isinstance(affected, list) else None,
        metadata=parsed(head.metadata),
        operation_id=head.operation_id,
        context_metadata=(
            msgspec.UNSET if head.context_metadata is None else load_json(head.context_metadata)
        ),
        repair=head.repair is not None,
    )


def _operation(head: Head) -> Any:
    return "create" if head.operation == "create" else "update"


def log_of(rows: Rows, root: Root) -> list[LogEntry]:
    heads = rows.heads(root)
    origin = origin_of(root)
    return [_entry(rows, root, head, origin.fork if origin else None) for head in heads]


def _entry(rows: Rows, root: Root, head: Head, fork: Fork | None) -> LogEntry:
    operation: Any = head.operation
    if head.repair is not None:
        operation = "repair"
    elif head.version == 0:
        operation = "create" if fork is None else "fork"
    elif head.context_metadata is not None:
        operation = "metadata"
    return LogEntry(
        operation=operation,
        at=moment(head.created_ms),
        version=head.version,
        version_id=head.head_id,
        affected=len(load_json(head.affected)) if head.affected else 0,
        messages=end_of(rows, root, head.version) - head.removed,
        operation_id=head.operation_id,
        metadata=parsed(head.metadata),
        origin=fork.source if fork is not None and head.version == 0 else None,
    )


def wipe_entry(tombstone: Tombstone) -> LogEntry:
    return LogEntry(
        operation="wipe",
        at=tombstone.wiped_at,
        metadata=tombstone.metadata,
        origin=tombstone.origin,
        messages=tombstone.messages,
    )


def gaps_in(head: Head) -> list[Gap]:
    """What a repair closed."""
    if head.repair is None:
        return []
    found = load_json(head.repair)["gaps"]
    return [Gap(first=first, last=last, reason=reason) for first, last, reason in found]
