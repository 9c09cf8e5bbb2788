"""A new context, empty or as a fork."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from ultracontext.chain import (
    Remask,
    Seal,
    dump_json,
    head_link,
    load_json,
    remask_link,
    shown,
)
from ultracontext.errors import ConflictError, SourceNotFoundError
from ultracontext.model import ContextId
from ultracontext.store.contexts import Appended, AppendedMessage, Created, Fork, Update
from ultracontext.store.history.listing import label_of, metadata_of, plain
from ultracontext.store.history.message import CONTEXT_ID, name_of
from ultracontext.store.history.reading import message_at
from ultracontext.store.history.rows import Head, Root, Rows, copied_id
from ultracontext.store.history.selection import Origin, origin_of, places_of, select
from ultracontext.store.history.writing import Writing, head_facts, new_id, request_digest
from ultracontext.store.values import moment


@dataclass(slots=True)
class Making:
    """One `create`."""

    context_id: ContextId
    given: bool
    """The id is the writer's."""
    origin: Fork | None
    metadata: Any
    operation_id: str | None
    ms: int

    def run(self, rows: Rows) -> Created:
        there = self._there(rows)
        if there is not None:
            return there
        source = None if self.origin is None else self._source(rows, self.origin)
        root = Root(
            ref=None,
            context_id=self.context_id,
            agent=None if source is None else source.agent,
            metadata=dump_json(self.metadata),
            created_ms=self.ms,
            updated_ms=self.ms,
            written_ms=self.ms,
        )
        rows.add_root(root)
        if source is not None and self.origin is not None:
            self._fork(rows, source, root, self.origin)
        self._seal(rows, root)
        rows.save_root(root)
        rows.set_labels(root, label_of(self.metadata))
        if self.operation_id is not None:
            rows.add_operation(
                self._holder, self.operation_id, self._request, dump_json(root.context_id)
            )
        return created(root)

    def _source(self, rows: Rows, origin: Fork) -> Root:
        known = CONTEXT_ID.fullmatch(origin.source) is not None
        source = rows.root(origin.source, lock=True) if known else None
        if source is None:
            raise SourceNotFoundError(
                f"there is no context {origin.source!r} to fork from", hint="Look at its id"
            )
        return source

    @property
    def _holder(self) -> str:
        """Which context remembers the operation."""
        return "" if self.origin is None else self.origin.source

    @property
    def _request(self) -> bytes:
        asked = None if self.origin is None else msgspec.to_builtins(self.origin)
        return request_digest("create", asked, self.metadata)

    def _there(self, rows: Rows) -> Created | None:
        """What the same call made before."""
        name = self.context_id if self.given else self._made_before(rows)
        if name is None:
            return None
        root = rows.root(name, lock=True)
        if root is None:
            if rows.tombstone(name) is not None:
                raise ConflictError(f"{name} was wiped", hint="Use a new id", code="wiped")
            return None
        found = origin_of(root)
        if (found.fork if found else None) != self.origin or root.session_id is not None:
            raise ConflictError(f"{name} is there, with another origin", hint="Use a new id")
        return created(root, duplicate=True)

    def _made_before(self, rows: Rows) -> str | None:
        if self.operation_id is None:
            return None
        done = rows.operation(self._holder, self.operation_id)
        if done is None:
            return None
        if done[0] != self._request:
            raise ConflictError(
                f"operation {self.operation_id!r} was something else", hint="Use a new id"
            )
        return str(load_json(done[1]))

    def _fork(self, rows: Rows, source: Root, root: Root, origin: Fork) -> None:
        chosen = select(rows, source, version=origin.version, before=origin.before, at=origin.at)
        until = chosen.until
        if origin.at is not None:
            until = chosen.places.position_of(origin.at) + 1
        count = rows.copy_rows(source, root, version=chosen.version, until=until)
        root.nodes = root.next_position = root.copied = count
        rows.add_remasks(root, carried(rows.remasks(source), root.context_id))
        seal = Seal(root.context_id)
        for chain in rows.links(root, count):
            seal.add(chain)
        root.tail = seal.digest()
        root.origin = msgspec.json.encode(
            Origin(fork=origin, version=chosen.version, seal=root.tail.hex())
        )

    def _seal(self, rows: Rows, root: Root) -> None:
        head = Head(
            version=0,
            head_id=new_id("ver_"),
            operation="create",
            operation_id=self.operation_id and plain(self.operation_id),
            context_metadata=root.metadata,
            positions=root.next_position,
            created_ms=self.ms,
        )
        head.digest = head_link(b"", head_facts(root.context_id, head), root.tail, ())
        rows.add_head(root, head)


def carried(remasks: Sequence[Remask], context_id: str) -> list[Remask]:
    """What was recorded of the source's re-masking, for the copies: they are as it left them."""
    made: list[Remask] = []
    previous = b""
    for found in remasks:
        name = copied_id(context_id, found.event_id)
        previous = remask_link(
            previous, event_id=name, rule_set=found.rule_set, before=found.before,
            after=found.after,
        )  # fmt: skip
        made.append(replace(found, event_id=name, chain=previous))
    return made


def created(root: Root, *, duplicate: bool = False) -> Created:
    return Created(
        context_id=ContextId(root.context_id),
        metadata=metadata_of(root, root.metadata),
        created_at=moment(root.created_ms),
        duplicate=duplicate,
    )


def appended_again(writing: Writing, done: Any) -> Appended:
    """What an append of the same `operation_id` stored."""
    rows, root = writing.rows, writing.root
    places = places_of(rows, root, root.version, root.next_position)
    answers = []
    for name in done["ids"]:
        found = rows.by_name(name_of(name) or b"")
        if found is None:
            continue
        row = found[1]
        visible = shown(row.born, row.superseded, root.version)
        index = places.index_of(row.position) if visible else -1
        message = message_at(rows, root, row, index, None)
        answers.append(AppendedMessage(message=message, duplicate=True))
    return Appended(version=done["version"], messages=answers)


def update_text(update: Update) -> Any:
    """An update as something that a digest can be made of."""
    given = None if update.metadata is msgspec.UNSET else [update.metadata]
    return [
        update.message_id, update.index, update.changes.decode(), list(update.remove_keys), given,
        list(update.remove_metadata_keys),
    ]  # fmt: skip
