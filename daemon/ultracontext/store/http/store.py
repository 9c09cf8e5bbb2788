"""The HTTP backend: the contexts of a server of ours, as a store.

The space is that of the key, whatever `within` is asked for. Times of writes are the server's,
unless the key is of the role `admin`, which may say when something was. What agents' sessions are
captured into is no part of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from hashlib import blake2b
from typing import Any, NoReturn, cast

import msgspec

from ultracontext.errors import (
    InvalidCursorError,
    InvalidMessageError,
    NotFoundError,
    SourceNotFoundError,
    StoreError,
    TransportError,
)
from ultracontext.model import ContextId, MessageId
from ultracontext.redaction import Redactor
from ultracontext.store.base import SpaceStore, Store
from ultracontext.store.contexts import (
    Appended,
    AppendedMessage,
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
    StoredMessage,
    Tombstone,
    Update,
    Verification,
    VersionInfo,
    Wiped,
)
from ultracontext.store.http import answers
from ultracontext.store.http.answers import Asked
from ultracontext.wire import iso_of, link
from ultracontext.wire.link import Address, Link, Request

PAGE = 1000
_ID = re.compile(r"ctx_[0-9a-f]{24}", re.ASCII)
STORED: dict[str, str] = {"form": "stored"}
MINIMAL = {"Prefer": "return=minimal"}


class HttpStore:
    """A server. `within` opens the one space that the key opens."""

    def __init__(self, address: Address, *, sets_times: bool = False) -> None:
        self._link = Link(address)
        self._sets_times = sets_times

    def within(self, space: str) -> SpaceStore:
        if not space:
            raise ValueError("a space has a name")
        found = HttpSpaceStore(self._link, space, sets_times=self._sets_times)
        return cast(SpaceStore, found)

    def maintain(self) -> None:
        """The server does it."""

    @property
    def damaged(self) -> bool:
        """The server looks after its own store."""
        return False

    def sound(self, halted: Callable[[], bool]) -> bool | None:
        """The server's own upkeep tells."""
        del halted
        return None

    def close(self) -> None:
        self._link.close()


def open_http(url: str, api_key: str | None, *, sets_times: bool = False) -> Store:
    """Nothing is sent before the first call."""
    return HttpStore(Address(base_url=url.rstrip("/"), api_key=api_key), sets_times=sets_times)


class HttpSpaceStore:
    """The contexts of one key's space."""

    def __init__(self, link: Link, space: str, *, sets_times: bool) -> None:
        self.space = space
        self._link = link
        self._sets_times = sets_times

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(name)
        raise StoreError(
            "a server does not offer this", hint="Use the local store", code="not-over-http"
        )

    # contexts
    def create(
        self,
        context_id: ContextId | None = None,
        *,
        origin: Fork | None = None,
        metadata: Any = msgspec.UNSET,
        operation_id: str | None = None,
        now: datetime,
    ) -> Created:
        body: dict[str, Any] = {} if context_id is None else {"id": context_id}
        if metadata is not msgspec.UNSET:
            body["metadata"] = metadata
        if origin is not None:
            body |= _origin(origin)
        query = STORED | self._query(now, operation_id=operation_id)
        request = Request(
            method="POST", path="/contexts", query=query, body=body,
            repeatable="id" in body or operation_id is not None,
        )  # fmt: skip
        asked = Asked() if origin is None else Asked(context_id=origin.source, at=origin.at)
        made = self._ask(request, asked)
        return Created(
            context_id=made["id"],
            metadata=made["metadata"],
            created_at=datetime.fromisoformat(made["created_at"]),
            duplicate=made.get("duplicate", False),
        )

    def context(self, context_id: ContextId) -> ContextInfo:
        return answers.info(self._part(context_id, "info"))

    def list_contexts(
        self,
        *,
        filters: Mapping[str, str] | None = None,
        after: datetime | None = None,
        before: datetime | None = None,
        limit: int = 20,
        cursor: str | None = None,
    ) -> ContextPage:
        if cursor == "":
            raise InvalidCursorError("an empty cursor")
        if limit < 1:
            return ContextPage(contexts=[])
        query = STORED | {"limit": str(min(limit, PAGE))}
        query |= {"filters": json.dumps(dict(filters))} if filters else {}
        query |= {} if after is None else {"after": iso_of(after)}
        query |= {} if before is None else {"before": iso_of(before)}
        query |= {} if cursor is None else {"cursor": cursor}
        found = self._ask(Request(method="GET", path="/contexts", query=query))
        rows = [answers.info(row) for row in found["data"]]
        return ContextPage(contexts=rows, next_cursor=found.get("next_cursor"))

    # messages
    def append_messages(
        self,
        context_id: ContextId,
        messages: Sequence[NewMessage],
        *,
        expected_version: int | None = None,
        operation_id: str | None = None,
        now: datetime,
    ) -> Appended:
        body = [_sent(message) for message in messages]
        query = STORED | self._query(now, operation_id, expected_version)
        named = all(message.message_id or message.event_id for message in messages)
        request = Request(
            method="POST", path=context_path(context_id), query=query, body=body,
            repeatable=named or operation_id is not None,
        )  # fmt: skip
        done = self._ask(request, Asked(context_id=context_id, expected_version=expected_version))
        return Appended(
            version=done["version"],
            messages=[
                AppendedMessage(message=answers.message(m), duplicate=m["duplicate"])
                for m in done["data"]
            ],
        )

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
        """The server reads captured records by its own rules."""
        del redactor
        given: dict[str, Any] = {
            "version": version, "before": None if before is None else iso_of(before), "at": at,
            "first": first, "last": last,
        }  # fmt: skip
        query: dict[str, str] = STORED | {
            name: str(v) for name, v in given.items() if v is not None
        }
        flags = {"history": history, "salvage": salvage}
        query |= {name: "true" for name, flag in flags.items() if flag}
        asked = Asked(context_id=context_id, at=at)
        if salvage:
            return self._whole(query, asked)
        page = self._ask(_reading(context_id, query | {"count": str(PAGE)}), asked)
        return _reading_of(page, self._pages(page, query, asked), [])

    def _whole(self, query: dict[str, str], asked: Asked) -> Reading:
        """The gaps of a broken context are known at its end only."""
        page = self._ask(_reading(asked.context_id, query), asked)
        gaps = [answers.gap(one) for one in page["gaps"]]
        return _reading_of(page, iter([answers.message(m) for m in page["data"]]), gaps)

    def _pages(
        self, page: dict[str, Any], query: dict[str, str], asked: Asked
    ) -> Iterator[StoredMessage]:
        """Of one state: its version and its number of messages are kept."""
        rest: dict[str, str] = {n: query[n] for n in ("form", "before", "at") if n in query}
        rest |= {"version": str(page["version"]), "count": str(PAGE)}
        total, data = page["total"], page["data"]
        while data:
            for found in data:
                yield answers.message(found)
            following = data[-1]["index"] + 1
            if following >= total:
                return
            left = {"first": str(following), "count": str(min(PAGE, total - following))}
            data = self._ask(_reading(asked.context_id, rest | left), asked)["data"]

    # edits
    def edit(
        self, context_id: ContextId, updates: Sequence[Update], *, metadata: Any = None,
        expected_version: int | None = None, operation_id: str | None = None,
        redactor: Redactor | None = None, now: datetime,
    ) -> Edited:  # fmt: skip
        del redactor
        body: dict[str, Any] = {"updates": [_changed(update) for update in updates]}
        body |= {} if metadata is None else {"metadata": metadata}
        query = STORED | self._query(now, operation_id, expected_version)
        return self._edited("PATCH", context_id, query, body, expected_version)

    def remove(
        self, context_id: ContextId, which: Sequence[MessageId | int], *, metadata: Any = None,
        expected_version: int | None = None, operation_id: str | None = None, now: datetime,
    ) -> Edited:  # fmt: skip
        if not which:
            raise InvalidMessageError("nothing to remove was named", hint="Name messages")
        body: dict[str, Any] = {"ids": list(which)}
        body |= {} if metadata is None else {"metadata": metadata}
        query = self._query(now, operation_id, expected_version)
        return self._edited("DELETE", context_id, query, body, expected_version)

    def checkpoint(
        self, context_id: ContextId, *, metadata: Any = None, expected_version: int | None = None,
        operation_id: str | None = None, now: datetime,
    ) -> Edited:  # fmt: skip
        return self.edit(
            context_id, [], metadata=metadata, expected_version=expected_version,
            operation_id=operation_id, now=now,
        )  # fmt: skip

    def set_metadata(
        self, context_id: ContextId, changes: Mapping[str, Any], *, remove_keys: Sequence[str] = (),
        expected_version: int | None = None, operation_id: str | None = None, now: datetime,
    ) -> Edited:  # fmt: skip
        body = {"$context": {"metadata": dict(changes), "remove": list(remove_keys)}}
        query = self._query(now, operation_id, expected_version)
        return self._edited("PATCH", context_id, query, body, expected_version)

    def _edited(
        self, method: str, context_id: ContextId, query: dict[str, str], body: Any,
        expected_version: int | None,
    ) -> Edited:  # fmt: skip
        request = Request(
            method=method, path=context_path(context_id), query=query, body=body, headers=MINIMAL,
            repeatable="operation_id" in query or expected_version is not None,
        )  # fmt: skip
        made = self._ask(request, Asked(context_id=context_id, expected_version=expected_version))
        return Edited(
            version=made["version"],
            affected=made["affected"],
            duplicate=made.get("duplicate", False),
        )

    # history
    def versions(self, context_id: ContextId) -> list[VersionInfo]:
        found = self._part(context_id, "versions")["data"]
        return [answers.version(one) for one in found]

    def diff(
        self, context_id: ContextId, a: int, b: int, *, redactor: Redactor | None = None
    ) -> Difference:
        del redactor
        query = STORED | {"a": str(a), "b": str(b)}
        return answers.difference(self._part(context_id, "diff", query))

    def verify(self, context_id: ContextId) -> Verification:
        return answers.verification(self._part(context_id, "verify"))

    def repair(self, context_id: ContextId, *, now: datetime) -> Verification:
        request = Request(
            method="POST", path=context_path(context_id, "repair"), query=self._query(now)
        )
        return answers.verification(self._ask(request, Asked(context_id=context_id)))

    def forks(self, context_id: ContextId) -> list[ContextInfo]:
        return [answers.info(one) for one in self._part(context_id, "forks")["data"]]

    def log(self, context_id: ContextId) -> list[LogEntry]:
        return [answers.entry(one) for one in self._part(context_id, "log")["data"]]

    # wipes
    def wipe(
        self, context_id: ContextId, *, forks: bool = False, reason: str = "wipe",
        metadata: Any = None, now: datetime,
    ) -> Wiped:  # fmt: skip
        body: dict[str, Any] = {"permanent": True, "forks": forks, "reason": reason}
        body |= {} if metadata is None else {"metadata": metadata}
        request = Request(
            method="DELETE", path=context_path(context_id), query=self._query(now), body=body,
            repeatable=False,
        )  # fmt: skip
        gone = self._ask(request, Asked(context_id=context_id))
        kept = [answers.info(one) for one in gone["kept_forks"]]
        return Wiped(context_id=context_id, contexts=gone["contexts"], kept_forks=kept)

    def scrub(self) -> bool:
        """The server does it after each wipe."""
        return True

    def tombstone(self, context_id: ContextId) -> Tombstone | None:
        request = Request(method="GET", path=f"/v1/tombstones/{context_id}")
        try:
            return answers.tombstone(self._ask(request))
        except NotFoundError:
            return None

    def tombstones(self) -> list[Tombstone]:
        found = self._ask(Request(method="GET", path="/v1/tombstones"))["data"]
        return [answers.tombstone(one) for one in found]

    def bury(self, tombstone: Tombstone) -> None:
        body = json.loads(msgspec.json.encode(tombstone))
        path = f"/v1/tombstones/{body.pop('context_id')}"
        self._ask(Request(method="PUT", path=path, body=body))

    def lift(self, context_id: ContextId, *, now: datetime) -> bool:
        request = Request(
            method="DELETE", path=f"/v1/tombstones/{context_id}", query=self._query(now)
        )
        return bool(self._ask(request)["lifted"])

    # pieces
    def _part(
        self, context_id: ContextId, name: str, query: Mapping[str, str] | None = None
    ) -> Any:
        path = context_path(context_id, name)
        request = Request(method="GET", path=path, query=query or {})
        return self._ask(request, Asked(context_id=context_id))

    def _ask(self, request: Request, asked: Asked | None = None) -> Any:
        import httpx

        try:
            response = self._link.send(request)
        except httpx.HTTPError as error:
            raise TransportError(
                f"cannot reach {self._link.address.base_url} ({type(error).__name__})",
                hint="Check the URL, and that the server runs",
            ) from error
        return answers.body(response, asked)

    def _query(
        self, now: datetime, operation_id: str | None = None, expected_version: int | None = None
    ) -> dict[str, str]:
        query = {"now": iso_of(now)} if self._sets_times else {}
        if operation_id is not None:
            query["operation_id"] = _on_the_wire(operation_id)
        if expected_version is not None:
            query["expected_version"] = str(expected_version)
        return query


def context_path(context_id: str, *more: str) -> str:
    """Raises NotFoundError for what is no id, which a path may not even hold."""
    if not _ID.fullmatch(context_id):
        raise NotFoundError("there is no such context", hint="Its id is ctx_ and 24 hex digits")
    return link.context_path(context_id, *more)


def _reading(context_id: str, query: Mapping[str, str]) -> Request:
    return Request(method="GET", path=context_path(context_id), query=query)


def _reading_of(
    page: Mapping[str, Any], messages: Iterator[StoredMessage], gaps: list[Gap]
) -> Reading:
    versions = page.get("versions")
    return Reading(
        context_id=page["id"],
        version=page["version"],
        total=page["total"],
        metadata=page["context_metadata"],
        messages=messages,
        versions=None if versions is None else [answers.version(one) for one in versions],
        gaps=gaps,
    )


def _origin(origin: Fork) -> dict[str, Any]:
    if not _ID.fullmatch(origin.source):
        raise SourceNotFoundError("there is no such context to fork")
    body: dict[str, Any] = {"from": origin.source}
    body |= {} if origin.version is None else {"version": origin.version}
    body |= {} if origin.before is None else {"before": iso_of(origin.before)}
    return body | ({} if origin.at is None else {"at": origin.at})


def _sent(message: NewMessage) -> dict[str, Any]:
    body = {
        "content_json": _text(message.content), "metadata": message.metadata,
        "id": message.message_id, "event_id": message.event_id, "rule_set": message.rule_set,
    }  # fmt: skip
    return {name: value for name, value in body.items() if value is not None or name == "metadata"}


def _changed(update: Update) -> dict[str, Any]:
    body: dict[str, Any] = {
        "changes_json": _text(update.changes), "remove": list(update.remove_keys),
        "remove_metadata": list(update.remove_metadata_keys),
    }  # fmt: skip
    if update.metadata is not msgspec.UNSET:
        body["metadata"] = update.metadata
    if update.message_id is not None:
        body["id"] = update.message_id
    if update.index is not None:
        body["index"] = update.index
    return body


def _text(content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise InvalidMessageError("a message is not UTF-8") from error


def _on_the_wire(operation_id: str) -> str:
    """The wire takes 1 to 200 printable characters; other ids go as their digest, so that the same
    is the same again."""
    if 0 < len(operation_id) <= 200 and operation_id.isprintable():
        return operation_id
    data = operation_id.encode("utf-8", "surrogatepass")
    return f"op_{blake2b(data, digest_size=16).hexdigest()}"
