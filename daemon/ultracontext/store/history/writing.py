"""Writes of one context, inside one transaction: append, edit, remove, metadata."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import msgspec

from ultracontext.chain import (
    BUCKET,
    HeadFacts,
    content_digest,
    dump_json,
    head_link,
    link,
    load_json,
    merged,
    shown,
)
from ultracontext.errors import (
    ConflictError,
    InvalidIndexError,
    InvalidMessageError,
    MessageNotFoundError,
    VersionConflictError,
)
from ultracontext.model import MessageId
from ultracontext.redaction import Redactor
from ultracontext.store.contexts import (
    Appended,
    AppendedMessage,
    Edited,
    NewMessage,
    StoredMessage,
    Update,
)
from ultracontext.store.history.listing import label_of, plain
from ultracontext.store.history.message import (
    Rendering,
    id_of,
    name_of,
    new_body,
    not_an_object,
)
from ultracontext.store.history.rows import WIRE, Head, Made, Root, Row, Rows
from ultracontext.store.history.selection import places_of

NAME_BYTES = 16


def new_id(prefix: str) -> str:
    return prefix + secrets.token_hex(12)


def request_digest(*parts: Any) -> bytes:
    """Of what was asked under an `operation_id`."""
    return blake2b(dump_json(parts), digest_size=NAME_BYTES).digest()


@dataclass(slots=True)
class Writing:
    """One write of one context, its root locked."""

    rows: Rows
    root: Root
    ms: int
    operation_id: str | None = None

    def __post_init__(self) -> None:
        self.ms = max(self.ms, self.root.written_ms)

    def expect(self, version: int | None) -> None:
        if version is not None and version != self.root.version:
            raise VersionConflictError(self.root.version, expected=version)

    def done_before(self, request: bytes) -> Any:
        """What the same operation made; None when it is new."""
        if self.operation_id is None:
            return None
        found = self.rows.operation(self.root.context_id, self.operation_id)
        if found is None:
            return None
        if found[0] != request:
            raise ConflictError(
                f"operation {self.operation_id!r} was something else", hint="Use a new id"
            )
        return load_json(found[1])

    def remember(self, request: bytes, result: Any) -> None:
        if self.operation_id is not None:
            self.rows.add_operation(
                self.root.context_id, self.operation_id, request, dump_json(result)
            )

    def save(self) -> None:
        self.root.written_ms = self.ms
        self.root.updated_ms = max(self.root.updated_ms, self.ms)
        self.rows.save_root(self.root)

    # ---- append ----------------------------------------------------------------------------------
    def append(self, messages: Sequence[NewMessage]) -> Appended:
        known = _Known(self, messages)
        made: list[Made] = []
        answers: list[AppendedMessage] = []
        names: dict[bytes, bytes] = {}
        fresh: dict[bytes, AppendedMessage] = {}
        for message in messages:
            body, role = new_body(message)
            there = known.find(message, body, fresh)
            if there is not None:
                answers.append(AppendedMessage(message=there, duplicate=True))
                continue
            row = self._next_row(message, body, len(made))
            made.append(Made(row, body, role))
            answers.append(AppendedMessage(message=self._fresh(row, message)))
            fresh[row.event_id] = answers[-1]
            if message.event_id is not None:
                names[name_digest(message.event_id)] = row.event_id
                fresh[name_digest(message.event_id)] = answers[-1]
        if made:
            self.rows.add_rows(self.root, made)
            self.rows.add_names(self.root, names)
            self.root.next_position += len(made)
            self.root.nodes += len(made)
            self.root.tail = made[-1].row.chain or b""
            self.save()
        return Appended(version=self.root.version, messages=answers)

    def _next_row(self, message: NewMessage, body: bytes, number: int) -> Row:
        name = None if message.message_id is None else name_of(message.message_id)
        if message.message_id is not None and name is None:
            raise InvalidMessageError(
                "a message id is `msg_` and 24 lowercase hex digits", hint="Leave it out"
            )
        chain = link(self.root.tail, content_digest(body, None))
        self.root.tail = chain
        return Row(
            position=self.root.next_position + number,
            born=self.root.version,
            revision=0,
            superseded=None,
            event_id=name or secrets.token_bytes(12),
            parent=None,
            form=WIRE,
            time_ms=self.ms,
            stored_ms=self.ms,
            rule_set=message.rule_set,
            chain=chain,
            base=None,
            size=len(body),
        )

    def _fresh(self, row: Row, message: NewMessage) -> StoredMessage:
        found = Rendering(self.root, None).wire(
            row,
            b"[" + dump_json(message.metadata) + b"," + b"{}]",
            row.position - self.root.removed,
        )
        found.content = message.content
        return found

    # ---- versions --------------------------------------------------------------------------------
    def edit(
        self,
        updates: Sequence[Update],
        metadata: Any,
        redactor: Redactor | None = None,
    ) -> Edited:
        targets = self.resolve([u.message_id if u.index is None else u.index for u in updates])
        last = {row.event_id: (row, update) for row, update in zip(targets, updates, strict=True)}
        chosen = sorted(last.values(), key=lambda pair: pair[0].position)
        made = self._replacements(chosen, redactor)
        head = self._head("update", [id_of(row.event_id) for row in targets], metadata)
        self.rows.supersede(self.root, [row.key for row, _ in chosen], head.version)
        self.rows.add_rows(self.root, made)
        self.root.nodes += len(made)
        return self._seal(head, [m.row.chain or b"" for m in made])

    def remove(self, which: Sequence[MessageId | int], metadata: Any) -> Edited:
        targets = self.resolve(which)
        gone = {row.key for row in targets}
        counts: dict[int, int] = {}
        for position, _, _ in gone:
            counts[position // BUCKET] = counts.get(position // BUCKET, 0) + 1
        self.root.removed += len(gone)
        head = self._head("delete", [id_of(row.event_id) for row in targets], metadata)
        self.rows.supersede(self.root, sorted(gone), head.version)
        self.rows.add_gaps(self.root, counts)
        return self._seal(head, [])

    def set_metadata(self, changes: Mapping[str, Any], remove_keys: Iterable[str]) -> Edited:
        now = load_json(self.root.metadata) if self.root.metadata is not None else {}
        if not isinstance(now, dict):
            raise InvalidMessageError(
                f"the metadata of {self.root.context_id} is not a JSON object",
                hint="Its keys cannot be edited",
            )
        now.update(changes)
        for key in remove_keys:
            now.pop(key, None)
        self.root.metadata = dump_json(now)
        self.rows.set_labels(self.root, label_of(now))
        head = self._head("update", [], None)
        head.context_metadata = self.root.metadata
        return self._seal(head, [])

    def close_gaps(self, targets: Sequence[Row], repair: Any) -> Edited:
        """The version of a repair: the rows go, and what is wrong stands in the head. Removed
        positions are counted anew."""
        affected = [id_of(row.event_id) for row in targets]
        head = self._head("delete", affected, {"repair": repair["gaps"]})
        head.repair = dump_json(repair)
        self.rows.supersede(self.root, [row.key for row in targets], head.version)
        found = dict(self.rows.gaps_at(self.root, head.version, self.root.next_position))
        counted = dict(self.rows.gaps(self.root))
        buckets = found.keys() | counted.keys()
        self.rows.add_gaps(
            self.root, {b: found.get(b, 0) - counted.get(b, 0) for b in sorted(buckets)}
        )
        self.root.removed = sum(found.values())
        return self._seal(head, [])

    def _head(self, operation: str, affected: Sequence[str], metadata: Any) -> Head:
        return Head(
            version=self.root.version + 1,
            head_id=new_id("ver_"),
            operation=operation,
            operation_id=self.operation_id and plain(self.operation_id),
            affected=dump_json(list(affected)),
            metadata=None if metadata is None else dump_json(metadata),
            positions=self.root.next_position,
            created_ms=self.ms,
        )

    def _seal(self, head: Head, chains: Sequence[bytes]) -> Edited:
        previous = self.rows.head(self.root, self.root.version)
        head.removed = self.root.removed
        head.prev_id = previous.head_id if previous else None
        before = (previous.digest if previous else None) or b""
        facts = head_facts(self.root.context_id, head)
        head.digest = head_link(before, facts, self.root.tail, chains)
        self.rows.add_head(self.root, head)
        self.root.version = head.version
        self.save()
        return Edited(version=head.version, affected=load_json(head.affected or b"[]"))

    # ---- targets ---------------------------------------------------------------------------------
    def resolve(self, which: Sequence[MessageId | int | None]) -> list[Row]:
        """Rows of the newest version by message id or index."""
        places = None
        total = self.root.next_position - self.root.removed
        found: list[Row] = []
        for name in which:
            if isinstance(name, int):
                index = name + total if name < 0 else name
                if not 0 <= index < total:
                    raise InvalidIndexError(name, code="index-range")
                if places is None:  # the counts are read only where an index is asked for
                    end = self.root.next_position
                    places = places_of(self.rows, self.root, self.root.version, end)
                found.append(self._shown_at(places.position_of(index), name))
            else:
                found.append(self._named(name or ""))
        return found

    def _shown_at(self, position: int, index: int) -> Row:
        for row in self.rows.at_positions(self.root, [position]):
            if shown(row.born, row.superseded, self.root.version):
                return row
        raise InvalidIndexError(index, code="index-range")

    def _named(self, name: str) -> Row:
        key = name_of(name)
        found = None if key is None else self.rows.by_name(key)
        if found is None or found[0] != self.root.context_id:
            raise MessageNotFoundError(name)
        if not shown(found[1].born, found[1].superseded, self.root.version):
            raise MessageNotFoundError(name)
        return found[1]

    def _replacements(
        self, chosen: Sequence[tuple[Row, Update]], redactor: Redactor | None
    ) -> list[Made]:
        made = []
        for row, update in chosen:
            content, metadata = self._now(row, redactor)
            content, metadata = changed(content, metadata, update)
            message = NewMessage(content=content, metadata=metadata)
            body, role = new_body(message)
            made.append(Made(self._edited_row(row, body), body, role))
        return made

    def _edited_row(self, row: Row, body: bytes) -> Row:
        return row._replace(
            born=self.root.version + 1,
            revision=0,
            superseded=None,
            event_id=secrets.token_bytes(12),
            parent=row.event_id,
            form=WIRE,
            stored_ms=self.ms,
            rule_set=None,
            chain=link(row.chain or b"", content_digest(body, None)),
            base=None,
            size=len(body),
            at=None,
        )

    def _now(self, row: Row, redactor: Redactor | None) -> tuple[bytes, Any]:
        rendering = Rendering(self.root, redactor)
        if row.form == WIRE:
            body = self.rows.contents([row])[0].body
            found = rendering.wire(row, body, 0)
        else:
            found = rendering.captured(row, self.rows.nodes(self.root, [row])[0], 0)
        return found.content, found.metadata


class _Known:
    """Which of the messages to append are there already."""

    def __init__(self, writing: Writing, messages: Sequence[NewMessage]) -> None:
        self.writing = writing
        names = [name_digest(m.event_id) for m in messages if m.event_id is not None]
        self.named = writing.rows.named(writing.root, names) if names else {}

    def find(
        self, message: NewMessage, body: bytes, fresh: Mapping[bytes, AppendedMessage]
    ) -> StoredMessage | None:
        """The stored message; None when it is new. Raises ConflictError."""
        if message.event_id is not None:
            digest = name_digest(message.event_id)
            if digest in fresh:
                return fresh[digest].message
            event = self.named.get(digest) or captured_name(message.event_id)
            found = None if event is None else self.writing.rows.by_name(event)
            if found is not None and found[0] == self.writing.root.context_id:
                return self._stored(found[1])
        name = None if message.message_id is None else name_of(message.message_id)
        if name is None:
            return None
        if name in fresh:
            return self._same(fresh[name].message, message)
        found = self.writing.rows.by_name(name)
        if found is None:
            return None
        if found[0] != self.writing.root.context_id:
            raise self._taken(message)
        if found[1].form != WIRE or self.writing.rows.contents([found[1]])[0].body != body:
            raise self._taken(message)
        return self._stored(found[1])

    def _same(self, stored: StoredMessage, message: NewMessage) -> StoredMessage:
        if stored.content != message.content or stored.metadata != message.metadata:
            raise self._taken(message)
        return stored

    def _taken(self, message: NewMessage) -> ConflictError:
        return ConflictError(
            f"the message id {message.message_id} is another message's", hint="Make a new id"
        )

    def _stored(self, row: Row) -> StoredMessage:
        root, rows = self.writing.root, self.writing.rows
        index = -1
        if shown(row.born, row.superseded, root.version):
            places = places_of(rows, root, root.version, root.next_position)
            index = places.index_of(row.position)
        rendering = Rendering(root, None)
        if row.form == WIRE:
            return rendering.wire(row, rows.contents([row])[0].body, index)
        return rendering.captured(row, rows.nodes(root, [row])[0], index)


def name_digest(event_id: str) -> bytes:
    data = event_id.encode("utf-8", "surrogatepass")
    return blake2b(data, digest_size=NAME_BYTES).digest()


def captured_name(event_id: str) -> bytes | None:
    """The event id of a captured node, where the text can be one."""
    if len(event_id) != 32:
        return None
    try:
        return bytes.fromhex(event_id)
    except ValueError:
        return None


def changed(content: bytes, metadata: Any, update: Update) -> tuple[bytes, Any]:
    """A message's content and metadata after a change."""
    try:
        content = merged(content, update.changes, update.remove_keys)
    except (ValueError, RecursionError) as error:
        raise not_an_object("a change") from error
    if update.metadata is not msgspec.UNSET or update.remove_metadata_keys:
        given = {} if update.metadata is msgspec.UNSET else update.metadata
        if not isinstance(given, dict) or not isinstance(metadata, dict):
            raise not_an_object("the metadata of a message")
        metadata = {**metadata, **given}
        for key in update.remove_metadata_keys:
            metadata.pop(key, None)
    return content, metadata


def head_facts(context_id: str, head: Head) -> HeadFacts:
    return HeadFacts(
        context_id=context_id,
        version=head.version,
        operation=head.operation,
        operation_id=head.operation_id,
        affected=head.affected,
        metadata=head.metadata,
        context_metadata=head.context_metadata,
        repair=head.repair,
        created_ms=head.created_ms,
        positions=head.positions,
        removed=head.removed,
    )
