"""Values of a store as the JSON of the wire."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from ultracontext.store.contexts import (
    ContextInfo,
    Created,
    Difference,
    Edited,
    Fork,
    Gap,
    LogEntry,
    StoredMessage,
    Tombstone,
    Verification,
    VersionInfo,
    Wiped,
)
from ultracontext.wire import iso_of, render, shapes


def plain(value: Any) -> Any:
    """A struct of the store as JSON: times in ISO, bytes in hex, unset left out."""
    if isinstance(value, datetime):
        return iso_of(value)
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, msgspec.Struct):
        names = value.__struct_fields__
        found = {name: getattr(value, name) for name in names}
        return {name: plain(v) for name, v in found.items() if v is not msgspec.UNSET}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


def created(made: Created) -> dict[str, Any]:
    body = {
        "id": made.context_id, "metadata": made.metadata, "created_at": iso_of(made.created_at),
    }  # fmt: skip
    return body | ({"duplicate": True} if made.duplicate else {})


def listed(info: ContextInfo) -> dict[str, Any]:
    return {
        "id": info.context_id,
        "metadata": info.metadata,
        "created_at": iso_of(info.created_at),
        "updated_at": iso_of(info.updated_at),
    }


def info(found: ContextInfo) -> dict[str, Any]:
    """All that is known of a context; an addition of ours."""
    origin = None if found.origin is None else fork(found.origin)
    return listed(found) | {
        "version": found.version,
        "messages": found.messages,
        "origin": origin,
        "origin_wiped": found.origin_wiped,
        "agent": found.agent,
        "session_id": found.session_id,
    }


def fork(origin: Fork) -> dict[str, Any]:
    found = plain(origin)
    return {name: value for name, value in found.items() if value is not None}


def message(stored: StoredMessage, *, duplicate: bool = False) -> bytes:
    return shapes.message(
        stored.content,
        name=stored.message_id,
        index=stored.index,
        metadata=stored.metadata,
        duplicate=duplicate,
    )


def stored_message(stored: StoredMessage, *, duplicate: bool = False) -> bytes:
    """Everything of a message, its content as the text that is stored (`form=stored`)."""
    return render({
        "id": stored.message_id, "index": stored.index, "metadata": stored.metadata,
        "created_at": iso_of(stored.created_at), "stored_at": plain(stored.stored_at),
        "parent_id": stored.parent_id, "rule_set": stored.rule_set,
        "event_id": plain(stored.event_id), "duplicate": duplicate,
        "content_json": stored.content.decode(),
    })  # fmt: skip


def version(found: VersionInfo, *, stored: bool = False) -> dict[str, Any]:
    body: dict[str, Any] = {
        "version": found.version,
        "created_at": iso_of(found.created_at),
        "operation": found.operation,
        "affected": found.affected,
    }
    if found.metadata:
        body["metadata"] = found.metadata
    if stored:
        body |= {"version_id": found.version_id, "operation_id": found.operation_id}
        body["repair"] = found.repair
        if found.context_metadata is not msgspec.UNSET:
            body["context_metadata"] = found.context_metadata
    return body


def edited(made: Edited) -> dict[str, Any]:
    body: dict[str, Any] = {"version": made.version, "affected": made.affected}
    return body | ({"duplicate": True} if made.duplicate else {})


def difference(found: Difference, *, stored: bool) -> bytes:
    """`{"a", "b", "added", "removed", "changed": [{"before", "after"}], "metadata"?}`"""
    one = stored_message if stored else message
    head: dict[str, Any] = {"a": found.a, "b": found.b}
    if found.metadata is not None:
        head["metadata"] = {"before": found.metadata[0], "after": found.metadata[1]}
    changed = (
        b'{"before":' + one(old) + b',"after":' + one(new) + b"}" for old, new in found.changed
    )
    parts = (
        b'"added":[' + b",".join(map(one, found.added)) + b"]",
        b'"removed":[' + b",".join(map(one, found.removed)) + b"]",
        b'"changed":[' + b",".join(changed) + b"]",
    )
    return render(head)[:-1] + b"," + b",".join(parts) + b"}"


def gap(found: Gap) -> dict[str, Any]:
    body: dict[str, Any] = plain(found)
    return body


def verification(found: Verification) -> dict[str, Any]:
    body: dict[str, Any] = plain(found)
    return {"id": body.pop("context_id"), **body}


def entry(found: LogEntry) -> dict[str, Any]:
    body: dict[str, Any] = plain(found)
    return {name: value for name, value in body.items() if value is not None}


def tombstone(found: Tombstone) -> dict[str, Any]:
    body: dict[str, Any] = plain(found)
    return {"id": body.pop("context_id"), **body}


def wiped(found: Wiped) -> dict[str, Any]:
    return {
        "contexts": list(found.contexts),
        "kept_forks": [info(kept) for kept in found.kept_forks],
    }
