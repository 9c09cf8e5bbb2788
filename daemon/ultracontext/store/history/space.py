"""Contexts of one space: each call as transactions of the backend."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

import msgspec

from ultracontext.errors import ConflictError, InvalidMessageError
from ultracontext.model import ContextId, MessageId
from ultracontext.redaction import Redactor
from ultracontext.store.contexts import (
    Appended,
    ContextInfo,
    ContextPage,
    Created,
    Difference,
    Edited,
    Fork,
    Gap,
    LogEntry,
    NewMessage,
    Reading,
    Tombstone,
    Update,
    Verification,
    VersionInfo,
    Wiped,
)
from ultracontext.store.history import differing, listing, making, proving, wiping
from ultracontext.store.history.message import CONTEXT_ID, known_context, no_context
from ultracontext.store.history.reading import Walk, positions
from ultracontext.store.history.rows import Root, Rows
from ultracontext.store.history.selection import metadata_at, select
from ultracontext.store.history.writing import Writing, new_id, request_digest
from ultracontext.store.values import milliseconds

T = TypeVar("T")


class History(ABC):
    """What every backend makes a `ContextStore` of: a way to run work in a transaction."""

    space: str

    @abstractmethod
    def _in_read(self, work: Callable[[Rows], T]) -> T:
        """Runs it in a transaction that sees one state."""

    @abstractmethod
    def _in_write(self, work: Callable[[Rows], T], *, context: str = "") -> T:
        """Runs it in a transaction, from the start again where the database says so. `context` is
        the one that it locks, as a hint."""

    @abstractmethod
    def scrub(self) -> bool: ...

    def create(
        self,
        context_id: ContextId | None = None,
        *,
        origin: Fork | None = None,
        metadata: Any = msgspec.UNSET,
        operation_id: str | None = None,
        now: datetime,
    ) -> Created:
        if context_id is not None and not CONTEXT_ID.fullmatch(context_id):
            raise InvalidMessageError(
                "a context id is `ctx_` and 24 lowercase hex digits",
                hint="Leave it out",
                code="invalid-id",
            )
        name = context_id or ContextId(new_id("ctx_"))
        making_of = making.Making(
            context_id=name,
            given=context_id is not None,
            origin=origin,
            metadata={} if metadata is msgspec.UNSET else metadata,
            operation_id=operation_id,
            ms=milliseconds(now),
        )
        return self._in_write(making_of.run, context=origin.source if origin else name)

    def append_messages(
        self,
        context_id: ContextId,
        messages: Sequence[NewMessage],
        *,
        expected_version: int | None = None,
        operation_id: str | None = None,
        now: datetime,
    ) -> Appended:
        def work(writing: Writing) -> Appended:
            if operation_id is None:
                writing.expect(expected_version)
                return writing.append(messages)
            request = request_digest("append", [m.content.decode() for m in messages])
            done = writing.done_before(request)
            if done is not None:
                return making.appended_again(writing, done)
            writing.expect(expected_version)
            made = writing.append(messages)
            names = [m.message.message_id for m in made.messages]
            writing.remember(request, {"version": made.version, "ids": names})
            return made

        return self._write(context_id, operation_id, now, work)

    def edit(
        self,
        context_id: ContextId,
        updates: Sequence[Update],
        *,
        metadata: Any = None,
        expected_version: int | None = None,
        operation_id: str | None = None,
        redactor: Redactor | None = None,
        now: datetime,
    ) -> Edited:
        for update in updates:
            if (update.message_id is None) == (update.index is None):
                raise InvalidMessageError("a change names an id or an index", hint="One of them")
        request = [
            "edit",
            [making.update_text(u) for u in updates],
            metadata,
        ]  # fmt: skip
        return self._version(
            context_id, operation_id, expected_version, now, request,
            lambda writing: writing.edit(updates, metadata, redactor),
        )  # fmt: skip

    def remove(
        self,
        context_id: ContextId,
        which: Sequence[MessageId | int],
        *,
        metadata: Any = None,
        expected_version: int | None = None,
        operation_id: str | None = None,
        now: datetime,
    ) -> Edited:
        return self._version(
            context_id, operation_id, expected_version, now, ["remove", list(which), metadata],
            lambda writing: writing.remove(which, metadata),
        )  # fmt: skip

    def checkpoint(
        self,
        context_id: ContextId,
        *,
        metadata: Any = None,
        expected_version: int | None = None,
        operation_id: str | None = None,
        now: datetime,
    ) -> Edited:
        return self.edit(
            context_id,
            [],
            metadata=metadata,
            expected_version=expected_version,
            operation_id=operation_id,
            now=now,
        )

    def set_metadata(
        self,
        context_id: ContextId,
        changes: Mapping[str, Any],
        *,
        remove_keys: Sequence[str] = (),
        expected_version: int | None = None,
        operation_id: str | None = None,
        now: datetime,
    ) -> Edited:
        return self._version(
            context_id, operation_id, expected_version, now,
            ["metadata", dict(changes), list(remove_keys)],
            lambda writing: writing.set_metadata(changes, remove_keys),
        )  # fmt: skip

    def _version(
        self,
        context_id: str,
        operation_id: str | None,
        expected_version: int | None,
        now: datetime,
        request: list[Any],
        work: Callable[[Writing], Edited],
    ) -> Edited:
        digest = request_digest(*request) if operation_id is not None else b""

        def once(writing: Writing) -> Edited:
            done = writing.done_before(digest)
            if done is not None:
                return Edited(version=done["version"], affected=done["affected"], duplicate=True)
            writing.expect(expected_version)
            made = work(writing)
            writing.remember(digest, {"version": made.version, "affected": made.affected})
            return made

        return self._write(context_id, operation_id, now, once)

    def _write(
        self,
        context_id: str,
        operation_id: str | None,
        now: datetime,
        work: Callable[[Writing], T],
    ) -> T:
        known_context(context_id)

        def run(rows: Rows) -> T:
            root = rows.root(context_id, lock=True)
            if root is None:
                raise no_context(context_id)
            return work(Writing(rows, root, milliseconds(now), operation_id))

        return self._in_write(run, context=context_id)

    # ---- reading ---------------------------------------------------------------------------------
    def read(
        self,
        context_id: ContextId,
        *,
        version: int | None = None,
        before: datetime | None = None,
        at: int | None = None,
        first: int | None = None,
        last: int | None = None,
        history: bool = False,
        salvage: bool = False,
        redactor: Redactor | None = None,
    ) -> Reading:
        known_context(context_id)
        gaps: list[Gap] = []

        def begin(rows: Rows) -> tuple[Reading, Walk]:
            root = self._root(rows, context_id)
            chosen = select(
                rows, root, version=version, before=before, at=at, first=first, last=last
            )
            start, until = positions(chosen)
            walk = Walk(
                self._in_read, chosen, salvage=salvage, redactor=redactor, gaps=gaps,
                first=start, until=until,
            )  # fmt: skip
            given = metadata_at(rows, root, chosen.version)
            heads = rows.heads(root) if history else []
            reading = Reading(
                context_id=context_id,
                version=chosen.version,
                total=chosen.total,
                metadata=listing.metadata_of(root, given),
                messages=iter(()),
                versions=[listing.version_of(head) for head in heads] if history else None,
                gaps=gaps,
            )
            return reading, walk

        reading, walk = self._in_read(begin)
        reading.messages = walk.messages()
        return reading

    def _root(self, rows: Rows, context_id: str) -> Root:
        root = rows.root(context_id)
        if root is None:
            raise no_context(context_id)
        return root

    def list_contexts(
        self,
        *,
        filters: Mapping[str, str] | None = None,
        after: datetime | None = None,
        before: datetime | None = None,
        limit: int = 20,
        cursor: str | None = None,
    ) -> ContextPage:
        return self._in_read(
            lambda rows: listing.page_of(
                rows, filters=filters or {}, after=after, before=before, limit=limit, cursor=cursor
            )
        )

    def context(self, context_id: ContextId) -> ContextInfo:
        known_context(context_id)
        return self._in_read(lambda rows: listing.info_of(rows, self._root(rows, context_id)))

    def versions(self, context_id: ContextId) -> list[VersionInfo]:
        known_context(context_id)
        heads = self._in_read(lambda rows: rows.heads(self._root(rows, context_id)))
        return [listing.version_of(head) for head in heads]

    def diff(
        self, context_id: ContextId, a: int, b: int, *, redactor: Redactor | None = None
    ) -> Difference:
        known_context(context_id)
        return self._in_read(
            lambda rows: differing.difference(rows, self._root(rows, context_id), a, b, redactor)
        )

    # ---- soundness -------------------------------------------------------------------------------
    def verify(self, context_id: ContextId) -> Verification:
        return proving.prove(self._in_read, known_context(context_id))[1]

    def repair(self, context_id: ContextId, *, now: datetime) -> Verification:
        proof, found = proving.prove(self._in_read, known_context(context_id))
        if found.sound:
            return found

        def work(writing: Writing) -> None:
            if (writing.root.version, writing.root.next_position) != (
                proof.root.version, proof.root.next_position,
            ):  # fmt: skip
                raise ConflictError(f"{context_id} changed while it was verified", hint="Try again")
            proving.close(writing, proof)

        self._write(context_id, None, now, work)
        return self.verify(context_id)

    # ---- the end ---------------------------------------------------------------------------------
    def forks(self, context_id: ContextId) -> list[ContextInfo]:
        known_context(context_id)

        def work(rows: Rows) -> list[ContextInfo]:
            if rows.root(context_id) is None and rows.tombstone(context_id) is None:
                raise no_context(context_id)
            return [listing.info_of(rows, root) for root in wiping.descendants(rows, context_id)]

        return self._in_read(work)

    def wipe(
        self,
        context_id: ContextId,
        *,
        forks: bool = False,
        reason: str = "wipe",
        metadata: Any = None,
        now: datetime,
    ) -> Wiped:
        known_context(context_id)
        found = self._in_write(
            lambda rows: wiping.wipe(
                rows, context_id, forks=forks, reason=reason, metadata=metadata, now=now
            ),
            context=context_id,
        )
        self.scrub()
        return found

    def tombstone(self, context_id: ContextId) -> Tombstone | None:
        if not CONTEXT_ID.fullmatch(context_id):
            return None
        return self._in_read(lambda rows: rows.tombstone(context_id))

    def tombstones(self) -> list[Tombstone]:
        return self._in_read(lambda rows: rows.tombstones())

    def bury(self, tombstone: Tombstone) -> None:
        known_context(tombstone.context_id)
        self._in_write(lambda rows: rows.put_tombstone(tombstone))

    def lift(self, context_id: ContextId, *, now: datetime) -> bool:
        known_context(context_id)

        def work(rows: Rows) -> bool:
            found = rows.tombstone(context_id)
            if found is None or found.lifted_at is not None:
                return found is not None
            rows.put_tombstone(wiping.lifted(found, now))
            rows.read_again(context_id)
            return True

        return self._in_write(work)

    def log(self, context_id: ContextId) -> list[LogEntry]:
        known_context(context_id)

        def work(rows: Rows) -> list[LogEntry]:
            root, tombstone = rows.root(context_id), rows.tombstone(context_id)
            if root is None and tombstone is None:
                raise no_context(context_id)
            wiped = [] if tombstone is None else [listing.wipe_entry(tombstone)]
            return wiped + ([] if root is None else listing.log_of(rows, root))

        return self._in_read(work)
