"""What a client named, as a store takes it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from ultracontext.errors import InvalidIndexError, MessageNotFoundError
from ultracontext.model import ContextId, MessageId
from ultracontext.store.contexts import Fork, NewMessage, Tombstone
from ultracontext.store.exchange import faults
from ultracontext.wire import bodies, parse_instant, queries
from ultracontext.wire.faults import bad, missing
from ultracontext.wire.selector import Selector

ID = re.compile(r"(?:ctx|msg)_[0-9a-f]{24}", re.ASCII)
NOBODY = "ctx_"
"""Stands for a name that cannot be one; no store has it."""
FARTHEST = 1 << 53


def context_name(value: str) -> ContextId:
    return ContextId(value if ID.fullmatch(value) else NOBODY)


def target_of(target: Selector) -> MessageId | int:
    """As the store takes it: an index within 64 bits, an id that can be one."""
    if isinstance(target, int):
        return max(-FARTHEST, min(target, FARTHEST))
    return MessageId(target if ID.fullmatch(target) else f"{NOBODY}{target!a}")


class naming:  # noqa: N801  # reads as a statement
    """Names a message in an error as the client named it."""

    def __init__(self, targets: Any) -> None:
        given = [t.target if isinstance(t, bodies.Change) else t for t in targets]
        self._names = {target_of(target): target for target in given}

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, MessageNotFoundError):
            given = self._names.get(MessageId(error.message_id), error.message_id)
            raise missing(f"Message not found: {given}") from error
        if isinstance(error, InvalidIndexError):
            raise faults.of_editing(
                InvalidIndexError(int(self._names.get(error.index, error.index)))
            ) from error


def origin_of(wanted: bodies.Creation) -> Fork | None:
    if wanted.origin is None:
        return None
    unset = msgspec.UNSET
    return Fork(
        source=context_name(wanted.origin if isinstance(wanted.origin, str) else ""),
        version=None if wanted.version is unset else queries.index_of(wanted.version),
        before=None if wanted.before is unset else parse_instant(wanted.before),
        at=None if wanted.at is unset else queries.index_of(wanted.at),
    )


def event_name(metadata: Any) -> str | None:
    """The name that a writer gave a message, so that it is stored once."""
    name = metadata.get("event_id") if isinstance(metadata, dict) else None
    return name if isinstance(name, str) and 0 < len(name) <= 500 else None


def new_stored(given: Mapping[str, Any]) -> NewMessage:
    """`{"content_json", "metadata"?, "id"?, "event_id"?, "rule_set"?}` of the HTTP store."""
    text, name, event = given.get("content_json"), given.get("id"), given.get("event_id")
    if not isinstance(text, str):
        raise bad("content_json must be a string")
    if name is not None and not (isinstance(name, str) and ID.fullmatch(name)):
        raise bad("id must be msg_ and 24 lowercase hex digits")
    rules = given.get("rule_set")
    if not (event is None or isinstance(event, str)) or not (rules is None or type(rules) is int):
        raise bad("event_id must be a string and rule_set an integer")
    return NewMessage(
        content=bodies.json_text(text),
        metadata=given.get("metadata", {}),
        message_id=None if name is None else MessageId(name),
        event_id=event,
        rule_set=rules,
    )


def version_of(query: Mapping[str, str], name: str, default: int) -> int:
    value = query.get(name)
    return default if value is None else queries.index_of(value)


def tombstone_of(body: Any, name: str) -> Tombstone:
    try:
        return msgspec.convert({**body, "context_id": name}, type=Tombstone)
    except (TypeError, ValueError) as error:  # msgspec's error is a ValueError
        raise bad("Request body must be a tombstone") from error
