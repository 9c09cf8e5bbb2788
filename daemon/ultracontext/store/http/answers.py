"""Answers of a server as the values of a store."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, TypeVar

import msgspec

from ultracontext import errors
from ultracontext.errors import StoreError
from ultracontext.model import EventId
from ultracontext.store.contexts import (
    ContextInfo,
    Difference,
    Gap,
    LogEntry,
    StoredMessage,
    Tombstone,
    Verification,
    VersionInfo,
)
from ultracontext.wire import faults
from ultracontext.wire.link import Response

T = TypeVar("T")
MANGLED = "Check that the URL is that of an UltraContext server"


class Asked(msgspec.Struct, kw_only=True):
    """What a request was about, as its errors name it."""

    context_id: str = ""
    at: int | None = None
    expected_version: int | None = None
    forks: bool = False


def body(response: Response, asked: Asked | None = None) -> Any:
    """The JSON of an answer. Raises the StoreError that a local store would."""
    try:
        found = response.json()
    except ValueError as error:
        raise _mangled(response) from error
    if 200 <= response.status < 300:
        return found
    if not isinstance(found, dict) or not isinstance(found.get("error"), str):
        raise _mangled(response)
    raise _error(response.status, found, asked or Asked())


def _mangled(response: Response) -> StoreError:
    return StoreError(
        f"the server answered {response.status} with what is no answer of ours",
        hint=MANGLED, code="transport",
    )  # fmt: skip


def _error(status: int, told: Mapping[str, Any], asked: Asked) -> StoreError:
    text = str(told["error"])
    match status:
        case 404:
            return _missing(text, asked)
        case 409:
            return _conflict(told, text, asked)
        case 400:
            return _malformed(text, asked)
        case 401:
            return StoreError(
                "the server does not know this key", hint="Set ULTRACONTEXT_API_KEY", code="key"
            )
        case 403:
            return StoreError(text, hint="Use a key of another role", code="role")
        case 429 | 503:
            return errors.StoreBusyError(f"the server says: {text}", hint="Try again in a moment")
        case _:
            return StoreError(f"the server refused it: {text}", code=f"http-{status}")


def _missing(text: str, asked: Asked) -> StoreError:
    name = text.removeprefix("Message not found: ")
    if name != text:
        return errors.MessageNotFoundError(name)
    match text:
        case faults.NO_SOURCE:
            return errors.SourceNotFoundError(f"there is no context {asked.context_id} to fork")
        case faults.NO_VERSION:
            return errors.VersionNotFoundError(f"no such version of {asked.context_id}")
        case faults.NO_VERSION_BEFORE:
            return errors.VersionNotFoundError(
                f"{asked.context_id} has no version before that time", code="no-version-before"
            )
        case faults.OUT_OF_RANGE:
            return errors.InvalidIndexError(asked.at or 0, code="index-range")
        case faults.NO_CONTEXT:
            return errors.NotFoundError(
                f"there is no context {asked.context_id}", hint="`ultracontext sessions` lists them"
            )
        case _:
            return errors.NotFoundError(f"the server says: {text}")


def _conflict(told: Mapping[str, Any], text: str, asked: Asked) -> StoreError:
    if isinstance(told.get("version"), int):
        expected = -1 if asked.expected_version is None else asked.expected_version
        return errors.VersionConflictError(told["version"], expected=expected)
    if isinstance(told.get("position"), int):
        return errors.BrokenChainError(
            asked.context_id, position=told["position"], reason=str(told.get("reason"))
        )
    if text == "Context was deleted":
        return errors.ConflictError(text, code="wiped")
    return errors.ConflictError(text)


def _malformed(text: str, asked: Asked) -> StoreError:
    index = text.removeprefix(f"{faults.OUT_OF_RANGE}: ")
    if index != text:
        return errors.InvalidIndexError(int(index), code="index-range")
    if text == faults.BAD_INDEX:
        at = asked.at or 0
        return errors.InvalidIndexError(at, code="invalid-index" if at < 0 else "index-range")
    if text == "Invalid cursor":
        return errors.InvalidCursorError(text)
    return errors.InvalidMessageError(text)


def _as(kind: type[T], found: Mapping[str, Any], **more: Any) -> T:
    """A struct of the store, `id` being its context id."""
    given = {**found, **more}
    if "id" in given:
        given["context_id"] = given.pop("id")
    try:
        return msgspec.convert(given, type=kind)
    except msgspec.ValidationError as error:
        raise StoreError(
            "the server's answer lacks parts", hint=MANGLED, code="transport"
        ) from error


def info(found: Mapping[str, Any]) -> ContextInfo:
    return _as(ContextInfo, found)


def message(found: Mapping[str, Any]) -> StoredMessage:
    event, stored = found.get("event_id"), found["stored_at"]
    return StoredMessage(
        message_id=found["id"],
        index=found["index"],
        content=found["content_json"].encode(),
        metadata=found["metadata"],
        created_at=datetime.fromisoformat(found["created_at"]),
        stored_at=None if stored is None else datetime.fromisoformat(stored),
        parent_id=found["parent_id"],
        rule_set=found["rule_set"],
        event_id=None if event is None else EventId(bytes.fromhex(event)),
    )


def version(found: Mapping[str, Any]) -> VersionInfo:
    return _as(VersionInfo, found)


def gap(found: Mapping[str, Any]) -> Gap:
    return _as(Gap, found)


def verification(found: Mapping[str, Any]) -> Verification:
    return _as(Verification, found)


def entry(found: Mapping[str, Any]) -> LogEntry:
    return _as(LogEntry, found)


def tombstone(found: Mapping[str, Any]) -> Tombstone:
    return _as(Tombstone, found)


def difference(found: Mapping[str, Any]) -> Difference:
    metadata = found.get("metadata")
    return Difference(
        a=found["a"],
        b=found["b"],
        added=[message(m) for m in found["added"]],
        removed=[message(m) for m in found["removed"]],
        changed=[(message(c["before"]), message(c["after"])) for c in found["changed"]],
        metadata=None if metadata is None else (metadata["before"], metadata["after"]),
    )
