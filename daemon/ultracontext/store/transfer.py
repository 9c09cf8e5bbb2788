"""Contexts with their history as JSON lines, out of a store and into one.

    {"type": "export", "format": 1, "exported_at": …, "masked": true}
    {"type": "context", "id", "created_at", "metadata", "origin", "agent", "session_id"}
    {"type": "message", "id", "created_at", "content", "metadata", "event_id", "rule_set"} …
    {"type": "version", "version", "version_id", "operation", "created_at", "metadata",
     "changed": [{"index", "set", "remove", "set_metadata", "remove_metadata"}], "removed": [index],
     "context": {"set", "remove"}}
    {"type": "message", …} appended to that version …
    {"type": "tombstone", …}

A context is written as it came to be: messages of version 0, then each version and what was
appended to it. An import does the same again; a second import of the same lines changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from ultracontext.errors import ConflictError, StoreError
from ultracontext.model import ContextId, MessageId
from ultracontext.store.contexts import (
    ContextInfo,
    ContextStore,
    NewMessage,
    StoredMessage,
    Tombstone,
    Update,
    VersionInfo,
)
from ultracontext.store.exchange import shapes
from ultracontext.wire import iso_of, parse, parse_instant, render

FORMAT = 1
BATCH = 500
PAGE = 500

Line = dict[str, Any]
Mask = Callable[[Any], Any]


class TransferError(StoreError):
    """A line is no line of an export."""

    code = "export-format"


def export_lines(
    space: ContextStore, contexts: Iterable[ContextInfo], *, mask: Mask | None, now: datetime
) -> Iterator[Line]:
    """Lines of an export; `mask` is applied to every text that is written."""
    yield {
        "type": "export", "format": FORMAT, "exported_at": iso_of(now), "masked": mask is not None,
    }  # fmt: skip
    hide: Mask = mask or _as_it_is
    for info in contexts:
        yield from _context_lines(space, info, hide)
    for stone in space.tombstones():
        yield {"type": "tombstone", **hide(shapes.tombstone(stone))}


def all_contexts(space: ContextStore) -> Iterator[ContextInfo]:
    """Newest first, by pages."""
    cursor: str | None = None
    while True:
        page = space.list_contexts(limit=PAGE, cursor=cursor)
        yield from page.contexts
        cursor = page.next_cursor
        if cursor is None:
            return


def _as_it_is(value: Any) -> Any:
    return value


def _context_lines(space: ContextStore, info: ContextInfo, hide: Mask) -> Iterator[Line]:
    name = info.context_id
    first = space.read(name, version=0, history=True)
    yield {
        "type": "context", "id": name, "created_at": iso_of(info.created_at),
        "metadata": hide(first.metadata),
        "origin": None if info.origin is None else shapes.fork(info.origin),
        "agent": info.agent, "session_id": info.session_id,
    }  # fmt: skip
    for message in first.messages:
        yield _message_line(message, hide)
    before = first.metadata
    for version in (first.versions or [])[1:]:
        yield from _version_lines(space, name, version, before, hide)
        if version.context_metadata is not msgspec.UNSET:
            before = version.context_metadata


def _version_lines(
    space: ContextStore, name: ContextId, version: VersionInfo, before: Any, hide: Mask
) -> Iterator[Line]:
    found = space.diff(name, version.version - 1, version.version)
    line: Line = {
        "type": "version", "version": version.version, "version_id": version.version_id,
        "operation": version.operation, "created_at": iso_of(version.created_at),
        "metadata": hide(version.metadata),
        "changed": [_change(old, new, hide) for old, new in found.changed],
        "removed": [message.index for message in found.removed],
    }  # fmt: skip
    if version.context_metadata is not msgspec.UNSET:
        line["context"] = _keys(before, version.context_metadata, hide)
    yield line
    for message in found.added:
        yield _message_line(message, hide)


def _message_line(message: StoredMessage, hide: Mask) -> Line:
    return {
        "type": "message", "id": message.message_id, "created_at": iso_of(message.created_at),
        "content": hide(parse(message.content)), "metadata": hide(message.metadata),
        "event_id": None if message.event_id is None else message.event_id.hex(),
        "rule_set": message.rule_set,
    }  # fmt: skip


def _change(old: StoredMessage, new: StoredMessage, hide: Mask) -> Line:
    content = _keys(parse(old.content), parse(new.content), hide)
    metadata = _keys(old.metadata, new.metadata, hide)
    return {
        "index": old.index, "set": content["set"], "remove": content["remove"],
        "set_metadata": metadata["set"], "remove_metadata": metadata["remove"],
    }  # fmt: skip


def _keys(old: Any, new: Any, hide: Mask) -> dict[str, Any]:
    """What makes one object of another; of anything else nothing."""
    if not isinstance(old, dict) or not isinstance(new, dict):
        return {"set": {}, "remove": []}
    changed = {k: v for k, v in new.items() if k not in old or old[k] != v}
    return {"set": hide(changed), "remove": [key for key in old if key not in new]}


class Imported(msgspec.Struct, kw_only=True):
    """What an import did."""

    contexts: int = 0
    messages: int = 0
    versions: int = 0
    present: int = 0
    """Messages and versions that were there already."""
    tombstones: int = 0
    skipped: dict[str, str] = {}
    """Contexts that were left out, with the reason."""


def import_lines(
    space: ContextStore, lines: Iterable[Line], *, mask: Mask | None, rule_set: int | None,
    now: datetime,
) -> Imported:  # fmt: skip
    """Raises TransferError for what is no export, before anything of that line is stored."""
    work = _Import(space, mask or _as_it_is, rule_set if mask is not None else None, now)
    for number, line in enumerate(lines, 1):
        try:
            work.take(line)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise TransferError(
                f"line {number} is no line of an export", hint="`ultracontext export` writes them"
            ) from error
    work.flush()
    return work.done


class _Import:
    """Takes lines in order."""

    def __init__(
        self, space: ContextStore, hide: Mask, rule_set: int | None, now: datetime
    ) -> None:
        self._space, self._hide, self._rule_set, self._now = space, hide, rule_set, now
        self._name: ContextId | None = None
        self._held: list[Line] = []
        self.done = Imported(skipped={})

    def take(self, line: Line) -> None:
        match line["type"]:
            case "export":
                if line["format"] != FORMAT:
                    raise ValueError("another format")
            case "context":
                self.flush()
                self._begin(line)
            case "message":
                self._hold(line)
            case "version":
                self.flush()
                if self._name is not None:
                    self._guarded(lambda: self._version(line))
            case "tombstone":
                self.flush()
                self._bury(line)
            case _:
                raise ValueError("an unknown line")

    def flush(self) -> None:
        held, self._held = self._held, []
        if held and self._name is not None:
            self._guarded(lambda: self._append(held))

    def _hold(self, line: Line) -> None:
        """Messages of one time are appended together."""
        if self._held and self._held[0]["created_at"] != line["created_at"]:
            self.flush()
        self._held.append(line)
        if len(self._held) >= BATCH:
            self.flush()

    def _begin(self, line: Line) -> None:
        self._name = ContextId(str(line["id"]))

        def create() -> None:
            made = self._space.create(
                self._name, metadata=self._hide(line["metadata"]), now=_time(line["created_at"])
            )
            self.done.contexts += not made.duplicate

        self._guarded(create)

    def _append(self, lines: Sequence[Line]) -> None:
        messages = [self._new(line) for line in lines]
        now = _time(lines[0]["created_at"])
        done = self._space.append_messages(self._name or ContextId(""), messages, now=now)
        fresh = sum(not one.duplicate for one in done.messages)
        self.done.messages += fresh
        self.done.present += len(lines) - fresh

    def _new(self, line: Line) -> NewMessage:
        return NewMessage(
            content=render(self._hide(line["content"])),
            metadata=self._hide(line["metadata"]),
            message_id=MessageId(line["id"]),
            event_id=line["event_id"],
            rule_set=self._rule_set,
        )

    def _version(self, line: Line) -> None:
        name = self._name or ContextId("")
        terms: dict[str, Any] = {
            "operation_id": f"import-{line['version_id']}", "now": _time(line["created_at"]),
        }  # fmt: skip
        metadata = self._hide(line["metadata"])
        if "context" in line:
            change = line["context"]
            made = self._space.set_metadata(
                name, self._hide(change["set"]), remove_keys=change["remove"], **terms
            )
        elif line["removed"]:
            made = self._space.remove(name, line["removed"], metadata=metadata, **terms)
        else:
            updates = [self._update(one) for one in line["changed"]]
            made = self._space.edit(name, updates, metadata=metadata, **terms)
        self.done.versions += not made.duplicate
        self.done.present += made.duplicate

    def _update(self, change: Mapping[str, Any]) -> Update:
        metadata = change["set_metadata"]
        return Update(
            index=change["index"],
            changes=render(self._hide(change["set"])),
            remove_keys=change["remove"],
            metadata=self._hide(metadata) if metadata else msgspec.UNSET,
            remove_metadata_keys=change["remove_metadata"],
        )

    def _bury(self, line: Line) -> None:
        given = {**line, "context_id": line["id"]}
        self._space.bury(msgspec.convert(given, type=Tombstone))
        self.done.tombstones += 1

    def _guarded(self, work: Callable[[], None]) -> None:
        """A context that contradicts what is stored is left out, not the rest."""
        try:
            work()
        except ConflictError as error:
            reason = "wiped" if error.code == "wiped" else "another context of this id is there"
            self.done.skipped[str(self._name)] = reason
            self._name = None


def _time(text: str) -> datetime:
    when = parse_instant(text)
    if when is None:
        raise ValueError("no time")
    return when
