"""Writes contexts in few words, by a clock of its own."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from ultracontext.model import ContextId, MessageId
from ultracontext.store import (
    Appended,
    Created,
    Edited,
    Fork,
    NewMessage,
    Reading,
    SpaceStore,
    StoredMessage,
    Update,
)

START = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def message(value: Any, metadata: Any = None, **fields: Any) -> NewMessage:
    """`value` is a text (a user's), an object, or the JSON text of one."""
    if isinstance(value, str):
        value = {"role": "user", "content": value}
    content = value if isinstance(value, bytes) else json.dumps(value).encode()
    return NewMessage(content=content, metadata={} if metadata is None else metadata, **fields)


class Writer:
    """Every write comes one second after the one before."""

    def __init__(self, space: SpaceStore) -> None:
        self.space = space
        self.seconds = 0

    @property
    def now(self) -> datetime:
        """Of the last write."""
        return START + timedelta(seconds=self.seconds)

    def tick(self) -> datetime:
        self.seconds += 1
        return self.now

    def create(self, name: ContextId | None = None, **fields: Any) -> ContextId:
        return self.created(name, **fields).context_id

    def created(self, name: ContextId | None = None, **fields: Any) -> Created:
        return self.space.create(name, now=self.tick(), **fields)

    def fork(self, source: ContextId, metadata: Any = None, **where: Any) -> ContextId:
        return self.create(origin=Fork(source=source, **where), metadata=metadata or {})

    def append(self, name: ContextId, *values: Any, **fields: Any) -> Appended:
        messages = [v if isinstance(v, NewMessage) else message(v) for v in values]
        return self.space.append_messages(name, messages, now=self.tick(), **fields)

    def conversation(self, *values: Any, **fields: Any) -> ContextId:
        """A new context with messages, each appended by itself."""
        name = self.create(**fields)
        for value in values:
            self.append(name, value)
        return name

    def edit(self, name: ContextId, *updates: Update, **fields: Any) -> Edited:
        return self.space.edit(name, updates, now=self.tick(), **fields)

    def say(self, name: ContextId, which: MessageId | int, text: str, **fields: Any) -> Edited:
        """Changes the content of one message."""
        return self.edit(name, to(which, text), **fields)

    def remove(self, name: ContextId, *which: MessageId | int, **fields: Any) -> Edited:
        return self.space.remove(name, which, now=self.tick(), **fields)

    def checkpoint(self, name: ContextId, **fields: Any) -> Edited:
        return self.space.checkpoint(name, now=self.tick(), **fields)

    def set_metadata(self, name: ContextId, changes: Any = None, **fields: Any) -> Edited:
        return self.space.set_metadata(name, changes or {}, now=self.tick(), **fields)

    def wipe(self, name: ContextId, **fields: Any) -> Any:
        return self.space.wipe(name, now=self.tick(), **fields)

    def messages(self, name: ContextId, **where: Any) -> list[StoredMessage]:
        return list(self.space.read(name, **where).messages)

    def texts(self, name: ContextId, **where: Any) -> list[Any]:
        return said(self.space.read(name, **where))

    def ids(self, name: ContextId, **where: Any) -> list[MessageId]:
        return [found.message_id for found in self.messages(name, **where)]


def to(which: MessageId | int, text: str) -> Update:
    changes = json.dumps({"content": text}).encode()
    if isinstance(which, int):
        return Update(index=which, changes=changes)
    return Update(message_id=which, changes=changes)


def said(reading: Reading) -> list[Any]:
    """The content of each message, its index checked."""
    messages = list(reading.messages)
    indexes = [stored.index for stored in messages]
    assert indexes == list(range(indexes[0], indexes[0] + len(indexes))) if indexes else True
    return [json.loads(stored.content).get("content") for stored in messages]
