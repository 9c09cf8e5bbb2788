"""What the bodies of requests ask for, checked in the order and with the texts of the original.

The original is API 0.7.2, read and run in November 2026. Where it fails with a 500 or loses data,
a request is refused here with a 400.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ultracontext.wire import faults
from ultracontext.wire.faults import bad
from ultracontext.wire.payload import parse
from ultracontext.wire.selector import Selector, selected, selectors
from ultracontext.wire.times import parse_instant

MOST_IDS = 100
MOST_NAME = 200


class Creation(msgspec.Struct, kw_only=True, frozen=True):
    """A new context, empty or a fork."""

    id: str | None = None
    """Made by the writer, so that the same request can be sent again."""
    origin: Any = None
    """Of a fork: the source's id, anything truthy that was sent."""
    version: Any = msgspec.UNSET
    at: Any = msgspec.UNSET
    before: Any = msgspec.UNSET
    metadata: Any = {}


class Edit(msgspec.Struct, kw_only=True, frozen=True):
    """A PATCH. Without changes it is a checkpoint."""

    changes: list[Change]
    metadata: Mapping[str, Any] | None = None
    """Of the version."""
    context: ContextChange | None = None
    """Of the context's own metadata; then there are no changes of messages."""


class ContextChange(msgspec.Struct, kw_only=True, frozen=True):
    """What a context's metadata gets and loses."""

    metadata: Mapping[str, Any] = {}
    remove: Sequence[str] = ()


class Change(msgspec.Struct, kw_only=True, frozen=True):
    """What one message gets."""

    target: Selector
    fields: dict[str, Any]
    text: bytes | None = None
    """JSON text of the fields, where it was sent so (`form=stored`)."""
    metadata: Mapping[str, Any] | None = None
    """Keys of the message's metadata to set."""
    remove: Sequence[str] = ()
    remove_metadata: Sequence[str] = ()


class Removal(msgspec.Struct, kw_only=True, frozen=True):
    """A DELETE: of messages (`targets`), or of the whole context (`permanent`)."""

    targets: list[Selector] = []
    permanent: bool = False
    forks: bool = False
    asks_about_forks: bool = False
    """`forks` was named at all, so the answer says what became of them."""
    reason: str = "wipe"
    """Of a wipe, for its tombstone: a word."""
    metadata: Mapping[str, Any] | None = None


def json_body(data: bytes) -> Any:
    """The value of a body that has to be JSON."""
    try:
        return parse(data)
    except ValueError as error:
        raise bad(faults.INVALID_JSON) from error


def creation(data: bytes, *, stored: bool = False) -> Creation:
    """`POST /contexts`. Nothing, or what is no JSON, makes an empty context, as in the original."""
    try:
        body = parse(data) if data.strip() else {}
    except ValueError:
        body = {}
    if not isinstance(body, dict):
        raise bad(faults.NOT_AN_OBJECT)
    given = {name: body[name] for name in ("version", "at", "before") if name in body}
    if "before" in given and parse_instant(given["before"]) is None:
        raise bad(faults.BAD_TIME)
    if given and not body.get("from"):
        raise bad(faults.NEEDS_FROM)
    metadata = body.get("metadata")
    return Creation(
        id=context_name(body.get("id")),
        origin=body.get("from") or None,
        metadata={} if metadata is None and not (stored and "metadata" in body) else metadata,
        **given,
    )


def context_name(value: Any) -> str | None:
    """An id that a writer made for a context, checked."""
    if value is None:
        return None
    hexes = value[4:] if isinstance(value, str) else ""
    if not (isinstance(value, str) and value.startswith("ctx_") and _is_hex(hexes)):
        raise bad("id must be ctx_ and 24 lowercase hex digits")
    return value


def _is_hex(text: str) -> bool:
    return len(text) == 24 and all(c in "0123456789abcdef" for c in text)


def json_text(text: str) -> bytes:
    """The text of a JSON object, to be kept as it is."""
    try:
        data = text.encode()
        value = json.loads(data, parse_int=len, parse_float=len)  # numbers of any size
    except (ValueError, RecursionError) as error:
        raise bad("a content is no JSON") from error
    if not isinstance(value, dict):
        raise bad("a content must be an object")
    return data


def messages(data: bytes, *, stored: bool = False) -> list[dict[str, Any]]:
    """`POST /contexts/{id}`: one message, or an array of them."""
    body = json_body(data)
    given = body if isinstance(body, list) else [body]
    if not given and not stored:
        raise bad("Request body must be a message or a non-empty array of messages")
    if not all(isinstance(message, dict) for message in given):
        raise bad("Each message must be an object")
    return given


def edit(data: bytes, *, stored: bool = False) -> Edit:
    """`PATCH /contexts/{id}`: an array, an object with `updates`, or one update."""
    body = json_body(data)
    if stored and isinstance(body, dict) and isinstance(body.get("updates"), list):
        changes = [_stored_change(item) for item in _objects(body["updates"])]
        return Edit(changes=changes, metadata=_metadata(body))
    if body is None:
        raise bad(faults.INVALID_JSON)
    if isinstance(body, list):
        return Edit(changes=[_change(item) for item in _objects(body)])
    if not isinstance(body, dict):
        raise bad(faults.NOT_OBJECT_OR_ARRAY)
    metadata = _metadata(body)
    if "$context" in body:
        return Edit(changes=[], context=_context_change(body))
    if "updates" not in body:
        one = {name: value for name, value in body.items() if name != "metadata"}
        return Edit(changes=[_change(one)], metadata=metadata)
    updates = body["updates"]
    if not isinstance(updates, list):
        raise bad("updates must be an array")
    return Edit(changes=[_change(item) for item in _objects(updates)], metadata=metadata)


def _context_change(body: dict[str, Any]) -> ContextChange:
    """`{"$context": {"metadata": {…}, "remove": [keys]}}` alone: an addition of ours."""
    value = body["$context"]
    if len(body) > 1 or not isinstance(value, dict):
        raise bad("$context must be an object and stand alone")
    metadata = value.get("metadata", {})
    if not isinstance(metadata, dict):
        raise bad(faults.METADATA)
    return ContextChange(metadata=metadata, remove=_names(value, "remove"))


def _objects(items: list[Any]) -> list[dict[str, Any]]:
    if not all(isinstance(item, dict) for item in items):
        raise bad("Each update must be an object")
    return items


def _change(item: dict[str, Any]) -> Change:
    """`$remove` and `$remove_metadata` name keys that go; no other way loses one."""
    target = selected(item)
    apart = ("id", "index", "metadata", "$remove", "$remove_metadata")
    metadata = item.get("metadata", {})
    if not isinstance(metadata, dict):
        raise bad("metadata must be an object")
    return Change(
        target=target,
        fields={name: value for name, value in item.items() if name not in apart},
        metadata=metadata or None,
        remove=_names(item, "$remove"),
        remove_metadata=_names(item, "$remove_metadata"),
    )


def _stored_change(item: dict[str, Any]) -> Change:
    """`{"id" or "index", "changes_json", "remove", "metadata", "remove_metadata"}`"""
    metadata, text = item.get("metadata"), item.get("changes_json", "{}")
    if not isinstance(text, str) or not (metadata is None or isinstance(metadata, dict)):
        raise bad("changes_json must be a string, and metadata an object")
    return Change(
        target=selected(item),
        fields={},
        text=json_text(text),
        metadata=metadata,
        remove=_names(item, "remove"),
        remove_metadata=_names(item, "remove_metadata"),
    )


def _names(item: dict[str, Any], key: str) -> list[str]:
    names = item.get(key, [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise bad(f"{key} must be an array of keys")
    return names


def _metadata(body: dict[str, Any]) -> Mapping[str, Any] | None:
    if "metadata" not in body:
        return None
    metadata = body["metadata"]
    if not isinstance(metadata, dict):
        raise bad(faults.METADATA)
    return metadata


def removal(data: bytes, content_type: str) -> Removal:
    """`DELETE /contexts/{id}`. A wipe needs `{"permanent": true}` in so many words."""
    if not data.strip() or "application/json" not in content_type.lower():
        raise bad(faults.WIPE_WORDS)
    body = json_body(data)
    if not isinstance(body, dict):
        raise bad(faults.NOT_AN_OBJECT)
    if body.get("permanent") is True:
        if "ids" in body:
            raise bad(faults.COMBINED)
        metadata = body.get("metadata")
        return Removal(
            permanent=True,
            forks=_flag(body, "forks"),
            asks_about_forks="forks" in body,
            reason=_word(body.get("reason", "wipe")),
            metadata=metadata if isinstance(metadata, dict) else None,
        )
    if "ids" not in body:
        raise bad(faults.WIPE_WORDS)
    targets = selectors(body["ids"])
    return Removal(targets=targets, metadata=_metadata(body))


def _word(value: Any) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"[a-z][a-z-]{0,30}", value):
        raise bad("reason must be a word")
    return value


def _flag(body: dict[str, Any], name: str) -> bool:
    value = body.get(name, False)
    if not isinstance(value, bool):
        raise bad(f"{name} must be true or false")
    return value


def many(data: bytes) -> list[str]:
    """`POST /contexts/delete-many`."""
    try:
        body = parse(data)
    except ValueError as error:
        raise bad(faults.NOT_AN_OBJECT) from error
    if not isinstance(body, dict):
        raise bad(faults.NOT_AN_OBJECT)
    ids = body.get("ids")
    if not isinstance(ids, list) or not ids:
        raise bad("ids must be a non-empty array of context IDs")
    if len(ids) > MOST_IDS:
        raise bad(f"ids must contain at most {MOST_IDS} items")
    if not all(isinstance(one, str) for one in ids):
        raise bad("Each id must be a string")
    return ids


def key_request(data: bytes) -> dict[str, Any]:
    """`POST /v1/keys`: a name, and of ours a role and whether what is appended is masked."""
    try:
        body = parse(data)
    except ValueError as error:
        raise bad("name is required") from error
    name = body.get("name") if isinstance(body, dict) else None
    if not isinstance(name, str) or not name.strip():
        raise bad("name is required")
    if len(name) > MOST_NAME or not name.isprintable():
        raise bad(f"name must be printable and at most {MOST_NAME} characters")
    return {**body, "name": name}


__all__ = [
    "Change", "ContextChange", "Creation", "Edit", "Removal", "creation", "edit", "json_body",
    "key_request", "many", "messages", "removal",
]  # fmt: skip
