"""A stored context as a session: what `show`, search, MCP and a switch read.

Nodes are masked again under today's rules, then read by today's reader of their agent, so that
better rules and better readers also serve what was captured before.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from hashlib import blake2b
from typing import Any

import msgspec

from ultracontext.formats import LiveReader, SessionReader
from ultracontext.model import Message, MessageId, SessionFacts, message_id
from ultracontext.model.message import Kind, Role
from ultracontext.redaction import MaskedRecord, Redactor
from ultracontext.store.base import MESSAGE_KIND, ContextRow, FactsUpdate, SpaceStore, StoredNode
from ultracontext.store.beginning import Beginnings, Piece, remask, spec_of
from ultracontext.store.masking import masked_row
from ultracontext.store.values import dump, encode_text, iso, load, moment

NOT_CAPTURED = "The beginning of this session was not captured."
UNREADABLE = "This record could not be read by this version; its bytes are kept."

ROLES: dict[str, tuple[Role, Kind]] = {
    "user": ("user", "user"),
    "assistant": ("assistant", "assistant"),
    "system": ("system", "system"),
    "tool": ("tool", "tool_result"),
}
"""Of messages that a program gave."""


class NativeRecord(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A stored record as `show --raw` gives it: `native` or, for an opaque one, `text`."""

    event_id: str
    position: int
    native: Any = msgspec.UNSET
    text: str | msgspec.UnsetType = msgspec.UNSET


class Session(msgspec.Struct, kw_only=True):
    """One session, read. A message's index is its place in `messages`."""

    row: ContextRow
    facts: SessionFacts
    messages: list[Message]
    records: list[NativeRecord]
    """Only with `raw`; then `messages` is empty."""


def read_session(
    store: SpaceStore,
    row: ContextRow,
    redactor: Redactor,
    *,
    raw: bool = False,
    as_model: bool = False,
) -> Session:
    """The whole session, its beginning in other sessions included; with `as_model` what of it its
    agent would send to the model now.

    Memory grows with the session; `native_records` and `unsettled` go through it piece by piece."""
    row = masked_row(row, redactor)
    if raw:
        records = list(native_records(store, row, redactor))
        return Session(row=row, facts=row.facts, messages=[], records=records)
    reader = reader_of(row)
    fed = [m for messages in unsettled(store, row, redactor, reader=reader) for m in messages]
    facts = _facts(row, reader)
    messages = _settled(reader, fed)
    if as_model:
        messages = live_messages(store, row, redactor, reader, messages)
    return Session(row=row, facts=facts, messages=messages, records=[])


def live_messages(
    store: SpaceStore,
    row: ContextRow,
    redactor: Redactor,
    reader: SessionReader,
    messages: list[Message],
) -> list[Message]:
    """Of settled messages what the model would get now; all but `meta` where the reader cannot
    tell."""

    def record(name: str) -> MaskedRecord | None:
        base = name.partition(".")[0]
        pieces = Beginnings(store, redactor).pieces(row)
        return next(
            (p.record for p in pieces if p.node and message_id(p.node.event_id) == base), None
        )

    if isinstance(reader, LiveReader):
        with suppress(Exception):  # as above: more than the model gets is better than nothing
            return reader.live(messages, record)
    return [message for message in messages if message.kind != "meta"]


def unsettled(
    store: SpaceStore, row: ContextRow, redactor: Redactor, *, reader: SessionReader | None = None
) -> Iterator[list[Message]]:
    """Messages record by record, before the reader settles them."""
    reader = reader or reader_of(row)
    for piece in Beginnings(store, redactor).pieces(row):
        if piece.node is None or piece.record is None:
            yield [not_captured(piece)]
        else:
            yield _timed(_fed(reader, piece.record, piece.node), piece.node)


def fed_from(
    store: SpaceStore,
    row: ContextRow,
    redactor: Redactor,
    reader: SessionReader,
    *,
    first: int,
    until: int | None = None,
) -> Iterator[tuple[StoredNode | None, list[Message]]]:
    """Nodes from a place on, with their messages; all, with the session's beginning in others.

    A node of another session, and a beginning that is missing, comes as None."""
    if first == 0 and until is None:
        for piece in Beginnings(store, redactor).pieces(row):
            if piece.node is None or piece.record is None:
                yield None, [not_captured(piece)]
            else:
                own = piece.node if piece.row.context_id == row.context_id else None
                yield own, _timed(_fed(reader, piece.record, piece.node), piece.node)
        return
    for node in store.nodes(row.context_id, first=first, until=until):
        yield node, _timed(_fed(reader, remask(node, row.agent, redactor), node), node)


def native_records(
    store: SpaceStore, row: ContextRow, redactor: Redactor
) -> Iterator[NativeRecord]:
    """The masked native records, the base's first."""
    for piece in Beginnings(store, redactor).pieces(row):
        if piece.node is None or piece.record is None:
            continue
        record = NativeRecord(event_id=piece.node.event_id.hex(), position=piece.node.position)
        if piece.record.text is not None:
            record.text = piece.record.text
        else:
            record.native = piece.record.native
        yield record


def compute_facts(store: SpaceStore, row: ContextRow, redactor: Redactor) -> SessionFacts:
    """Facts by the reader's present code, in bounded memory."""
    reader = reader_of(row)
    for _ in unsettled(store, row, redactor, reader=reader):
        pass
    return _facts(row, reader)


def refresh_facts(store: SpaceStore, row: ContextRow, redactor: Redactor) -> SessionFacts:
    """Computes the facts of a stale row and keeps them, unless it has grown meanwhile."""
    facts = compute_facts(store, row, redactor)
    update = FactsUpdate(agent=row.agent, session_id=row.session_id, facts=facts)
    store.save_facts([update], nodes={row.context_id: row.nodes})
    return facts


def reader_of(row: ContextRow) -> SessionReader:
    """A fresh reader; for an agent that is not known here, one that leaves records opaque."""
    spec = spec_of(row.agent)
    return OpaqueReader() if spec is None else spec.reader(row.session_id)


class OpaqueReader:
    """Gives every record as one `meta` message with its text."""

    def feed(self, record: MaskedRecord, message_id: MessageId) -> list[Message]:
        text = record.text if record.text is not None else record.body.decode("utf-8", "replace")
        return [Message(id=message_id, role="system", kind="meta", event_type="unknown", text=text)]

    def settle(self, messages: list[Message]) -> list[Message]:
        return messages

    def facts(self) -> SessionFacts:
        return SessionFacts()

    def covers(self, record: MaskedRecord, base: object) -> bool:
        return False


def given(record: MaskedRecord, node: StoredNode) -> Message:
    """A message that a person or a program put into the session: no record of its agent."""
    body = None if record.text is None else load(encode_text(record.text))
    metadata, content = body if isinstance(body, list) and len(body) == 2 else ({}, {})
    content = content if isinstance(content, dict) else {}
    role, kind = ROLES.get(str(content.get("role")), ROLES["user"])
    text = content.get("content")
    if isinstance(text, dict) and isinstance(text.get("message"), str):
        text = text["message"]
    return Message(
        id=message_id(node.event_id),
        role=role,
        kind=kind,
        event_type=MESSAGE_KIND,
        text=text if isinstance(text, str) else dump(content).decode(),
        metadata=metadata if isinstance(metadata, dict) else {},
    )


def not_captured(piece: Piece) -> Message:
    """Stands where a session's beginning should be."""
    name = blake2b(f"{piece.row.context_id}/beginning".encode(), digest_size=12).hexdigest()
    return Message(
        id=f"msg_{name}",
        role="system",
        kind="system",
        event_type="ultracontext/not-captured",
        text=NOT_CAPTURED,
        metadata={"missing": "beginning"},
    )


def _fed(reader: SessionReader, record: MaskedRecord, node: StoredNode) -> list[Message]:
    if node.kind == MESSAGE_KIND:
        return [given(record, node)]
    name = message_id(node.event_id)
    try:
        return reader.feed(record, name)
    except Exception as error:  # noqa: BLE001  (a reader's bug must not hide the whole session)
        return [
            Message(
                id=name,
                role="system",
                kind="meta",
                event_type=node.event_type or "unreadable",
                text=UNREADABLE,
                metadata={"error": type(error).__name__},
            )
        ]


def _settled(reader: SessionReader, messages: list[Message]) -> list[Message]:
    try:
        return reader.settle(messages)
    except Exception:  # noqa: BLE001  (as above: unsettled is better than nothing)
        return messages


def _facts(row: ContextRow, reader: SessionReader) -> SessionFacts:
    """The reader's, with what the store knows better: where a copy began, whose child it is."""
    facts = reader.facts()
    if isinstance(reader, OpaqueReader):
        return row.facts
    if row.facts.base is not None and row.facts.base.unit == "position":
        facts.base = row.facts.base
    if row.facts.relation is not None and facts.relation is None:
        facts.relation, facts.parent_session = row.facts.relation, row.facts.parent_session
    return facts


def _timed(messages: list[Message], node: StoredNode) -> list[Message]:
    """Messages without a time of their own get the node's, marked."""
    if node.time_ms is None or all(m.timestamp for m in messages):
        return messages
    stamp = iso(moment(node.time_ms))
    marked = {"time_inherited": True} if node.time_inherited else {}
    return [
        m
        if m.timestamp
        else msgspec.structs.replace(m, timestamp=stamp, metadata={**m.metadata, **marked})
        for m in messages
    ]
