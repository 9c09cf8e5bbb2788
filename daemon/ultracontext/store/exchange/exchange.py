"""Answers the requests of the wire from one space of a store.

Without any transport: the HTTP server calls it for a key's space, `UltraContext.local()` for the
embedded store. Blocks; safe to use from several threads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec

from ultracontext.errors import NotFoundError, UltraContextError
from ultracontext.model import ContextId
from ultracontext.store.contexts import ContextStore, Edited, NewMessage, Update
from ultracontext.store.exchange import faults, reading, shapes
from ultracontext.store.exchange.call import Answer, Call, json_answer
from ultracontext.store.exchange.incoming import (
    context_name,
    event_name,
    naming,
    new_stored,
    origin_of,
    target_of,
    tombstone_of,
    version_of,
)
from ultracontext.store.exchange.routes import find
from ultracontext.store.exchange.sight import Sight
from ultracontext.wire import bodies, queries, render
from ultracontext.wire.faults import BAD_INDEX, bad, missing
from ultracontext.wire.masking import masked
from ultracontext.wire.shapes import split

if TYPE_CHECKING:
    from ultracontext.redaction import Redactor


def utc_now() -> datetime:
    return datetime.now(UTC)


class Exchange:
    """The requests of one space.

    `ingest` masks what is appended (`redact_on_ingest`); `sight` masks again what was captured
    under older rules.
    """

    def __init__(
        self,
        space: ContextStore,
        *,
        ingest: Redactor | None = None,
        sight: Sight | None = None,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self._space = space
        self._ingest = ingest
        self._sight = sight or Sight(None)
        self._clock = clock
        self.unscrubbed = False

    def answer(self, call: Call) -> Answer:
        """The answer to any request; raises nothing that a request could cause."""
        found = find("GET" if call.method == "HEAD" else call.method, call.path)
        if found is None:
            return json_answer({"error": "Not found"}, 404)
        route, ids = found
        texts = {"read": faults.of_reading, "create": faults.of_forking}
        try:
            answered: Answer = getattr(self, route.handler)(call, **ids)
        except UltraContextError as error:
            refused = faults.request_error(error, texts.get(route.handler, faults.of_editing))
            return json_answer(refused.body(), refused.status)
        return answered

    # contexts
    def create(self, call: Call) -> Answer:
        wanted = bodies.creation(call.body, stored=queries.is_stored(call.query))
        made = self._space.create(
            None if wanted.id is None else ContextId(wanted.id),
            origin=origin_of(wanted),
            metadata=self._masked(wanted.metadata),
            operation_id=queries.operation_id(call.query),
            now=self._now(call),
        )
        return json_answer(shapes.created(made), 201)

    def listing(self, call: Call) -> Answer:
        wanted = queries.listing(call.query)
        page = self._space.list_contexts(
            filters=wanted.filters or None,
            after=wanted.after,
            before=wanted.before,
            limit=wanted.limit,
            cursor=wanted.cursor,
        )
        one = shapes.info if queries.is_stored(call.query) else shapes.listed
        body: dict[str, Any] = {"data": [one(self._sight.info(c)) for c in page.contexts]}
        if page.next_cursor is not None:
            body["next_cursor"] = page.next_cursor
        return json_answer(body)

    def info(self, call: Call, *, id: str) -> Answer:
        del call
        return json_answer(shapes.info(self._sight.info(self._space.context(context_name(id)))))

    def delete_many(self, call: Call) -> Answer:
        results = [self._deleted(one, self._now(call)) for one in bodies.many(call.body)]
        self.scrub()
        gone = sum(result["deleted"] for result in results)
        status = 200 if gone == len(results) else 207
        return json_answer({"results": results, "deleted_count": gone}, status)

    def _deleted(self, name: str, now: datetime) -> dict[str, Any]:
        try:
            self._space.wipe(context_name(name), now=now)
        except NotFoundError:
            return {"id": name, "deleted": False, "error": "Not found"}
        except UltraContextError as error:
            refused = faults.request_error(error)
            return {"id": name, "deleted": False, "error": refused.message}
        return {"id": name, "deleted": True}

    # messages
    def append(self, call: Call, *, id: str) -> Answer:
        stored = queries.is_stored(call.query)
        given = bodies.messages(call.body, stored=stored)
        done = self._space.append_messages(
            context_name(id),
            [self._new(message, stored=stored) for message in given],
            expected_version=queries.expected_version(call.query),
            operation_id=queries.operation_id(call.query),
            now=self._now(call),
        )
        one = shapes.stored_message if stored else shapes.message
        texts = [one(self._sight.message(a.message), duplicate=a.duplicate) for a in done.messages]
        if call.minimal:
            texts = []
        body = b'{"data":[' + b",".join(texts) + b"]," + render({"version": done.version})[1:]
        fresh = sum(not a.duplicate for a in done.messages)
        return Answer(status=201, body=body, messages=fresh)

    def _new(self, given: Mapping[str, Any], *, stored: bool) -> NewMessage:
        if stored:
            return new_stored(given)
        content, metadata = split(given)
        if self._ingest is not None:
            apart = split({**masked(self._ingest, given)})
            return NewMessage(
                content=apart[0],
                metadata=apart[1],
                event_id=event_name(metadata),
                rule_set=self._ingest.rule_set,
            )
        return NewMessage(content=content, metadata=metadata, event_id=event_name(metadata))

    def read(self, call: Call, *, id: str) -> Answer:
        wanted = queries.window(call.query)
        no_index = wanted.at == queries.NOT_THERE
        found = self._space.read(
            context_name(id),
            version=wanted.version,
            before=wanted.before,
            at=None if no_index else wanted.at,
            first=wanted.first,
            last=wanted.last,
            history=wanted.history,
            salvage=wanted.salvage,
            redactor=self._sight.redactor,
        )
        if no_index:  # told after a version that is not there
            raise bad(BAD_INDEX)
        return reading.answer(found, wanted, seen=self._sight.message)

    def update(self, call: Call, *, id: str) -> Answer:
        wanted = bodies.edit(call.body, stored=queries.is_stored(call.query))
        name = context_name(id)
        if wanted.context is not None:
            made = self._space.set_metadata(
                name,
                self._masked(wanted.context.metadata),
                remove_keys=wanted.context.remove,
                **self._terms(call),
            )
        else:
            made = self._edit(name, wanted, call)
        return self._edited(made, name, call)

    def _edit(self, name: ContextId, wanted: bodies.Edit, call: Call) -> Edited:
        updates = [self._update(change) for change in wanted.changes]
        with naming(wanted.changes):
            return self._space.edit(
                name,
                updates,
                metadata=self._masked(wanted.metadata),
                redactor=self._sight.redactor,
                **self._terms(call),
            )

    def _update(self, change: bodies.Change) -> Update:
        metadata = msgspec.UNSET if change.metadata is None else self._masked(change.metadata)
        rest: dict[str, Any] = {
            "changes": render(self._masked(change.fields)) if change.text is None else change.text,
            "remove_keys": change.remove,
            "metadata": metadata,
            "remove_metadata_keys": change.remove_metadata,
        }
        target = target_of(change.target)
        if isinstance(target, int):
            return Update(index=target, **rest)
        return Update(message_id=target, **rest)

    def delete(self, call: Call, *, id: str) -> Answer:
        wanted = bodies.removal(call.body, call.content_type)
        name = context_name(id)
        if wanted.permanent:
            return self._wiped(name, wanted, id, self._now(call))
        which = [target_of(target) for target in wanted.targets]
        with naming(wanted.targets):
            made = self._space.remove(
                name, which, metadata=self._masked(wanted.metadata), **self._terms(call)
            )
        return self._edited(made, name, call)

    def _wiped(self, name: ContextId, wanted: bodies.Removal, given: str, now: datetime) -> Answer:
        gone = self._space.wipe(
            name,
            forks=wanted.forks,
            reason=wanted.reason,
            metadata=self._masked(wanted.metadata),
            now=now,
        )
        self.scrub()
        body: dict[str, Any] = {"deleted": True, "id": given}
        if wanted.metadata:
            body["metadata"] = wanted.metadata
        if wanted.asks_about_forks:
            body |= shapes.wiped(gone)
        return json_answer(body)

    def _edited(self, made: Edited, name: ContextId, call: Call) -> Answer:
        if call.minimal:
            return json_answer(shapes.edited(made))
        found = self._space.read(name, version=made.version, redactor=self._sight.redactor)
        whole = reading.answer(found, queries.Window(), seen=self._sight.message)
        if not made.duplicate:
            return whole
        return Answer(body=b'{"duplicate":true,' + whole.body[1:], rest=whole.rest)

    # history
    def versions(self, call: Call, *, id: str) -> Answer:
        del call
        found = self._space.versions(context_name(id))
        return json_answer({"data": [shapes.version(one, stored=True) for one in found]})

    def log(self, call: Call, *, id: str) -> Answer:
        del call
        return json_answer(
            {"data": [shapes.entry(one) for one in self._space.log(context_name(id))]}
        )

    def diff(self, call: Call, *, id: str) -> Answer:
        name = context_name(id)
        newest = self._space.context(name).version
        b = version_of(call.query, "b", newest)
        a = version_of(call.query, "a", max(b - 1, 0))
        found = self._sight.difference(self._space.diff(name, a, b, redactor=self._sight.redactor))
        return Answer(body=shapes.difference(found, stored=queries.is_stored(call.query)))

    def verify(self, call: Call, *, id: str) -> Answer:
        del call
        return json_answer(shapes.verification(self._space.verify(context_name(id))))

    def repair(self, call: Call, *, id: str) -> Answer:
        done = self._space.repair(context_name(id), now=self._now(call))
        return json_answer(shapes.verification(done))

    def forks(self, call: Call, *, id: str) -> Answer:
        del call
        found = self._space.forks(context_name(id))
        return json_answer({"data": [shapes.info(self._sight.info(one)) for one in found]})

    # tombstones
    def tombstones(self, call: Call) -> Answer:
        del call
        return json_answer({"data": [shapes.tombstone(one) for one in self._space.tombstones()]})

    def tombstone(self, call: Call, *, id: str) -> Answer:
        del call
        found = self._space.tombstone(context_name(id))
        if found is None:
            raise missing("Tombstone not found")
        return json_answer(shapes.tombstone(found))

    def bury(self, call: Call, *, id: str) -> Answer:
        found = tombstone_of(bodies.json_body(call.body), bodies.context_name(id) or "")
        self._space.bury(found)
        return json_answer(shapes.tombstone(found), 201)

    def lift(self, call: Call, *, id: str) -> Answer:
        try:
            lifted = self._space.lift(context_name(id), now=self._now(call))
        except NotFoundError:  # no id at all
            lifted = False
        return json_answer({"lifted": lifted})

    # pieces
    def scrub(self) -> None:
        """Leaves nothing of what was wiped in the store's files; `unscrubbed` until that is so."""
        try:
            self.unscrubbed = not self._space.scrub()
        except UltraContextError:
            self.unscrubbed = True

    def _now(self, call: Call) -> datetime:
        """The clock's; `?now=` where the caller may say when it was."""
        given = call.query.get("now") if call.may_set_time else None
        return self._clock() if given is None else queries.instant(given)

    def _masked(self, value: Any) -> Any:
        return masked(self._ingest, value) if self._ingest is not None and value else value

    def _terms(self, call: Call) -> dict[str, Any]:
        """What every edit takes."""
        return {
            "expected_version": queries.expected_version(call.query),
            "operation_id": queries.operation_id(call.query),
            "now": self._now(call),
        }
