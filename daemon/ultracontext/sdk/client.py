"""The client for code that blocks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, cast, overload

from ultracontext.sdk import calls
from ultracontext.sdk.base import RETRIES, Masker, address, result
from ultracontext.sdk.results import EditResult
from ultracontext.sdk.types import (
    AppendResponse,
    Context,
    ContextInfo,
    CreateContextResponse,
    DeleteManyResponse,
    Difference,
    GetContextResponse,
    ListContextsResponse,
    LogEntry,
    Message,
    PermanentDeleteResponse,
    UpdateResponse,
    Verification,
    Version,
)
from ultracontext.wire.link import Link, Request, Response

When = str | datetime
Selector = str | int


class Transport(Protocol):
    """What carries requests."""

    def send(self, request: Request) -> Response: ...
    def close(self) -> None: ...


class UltraContext:
    """A client of an UltraContext server, or of the embedded store.

    A drop-in for the official Python SDK (1.6.0), with pooled connections, retries that repeat
    nothing twice, and iterators. Safe between threads.

    >>> from ultracontext import UltraContext
    >>> with UltraContext.local("memory://") as uc:
    ...     context = uc.create(metadata={"source": "docs"})
    ...     added = uc.append(context["id"], {"role": "user", "content": "Hello"})
    ...     [message["content"] for message in uc.get(context["id"])["data"]]
    ['Hello']

    `api_key` and `base_url` fall back to `ULTRACONTEXT_API_KEY` and `ULTRACONTEXT_BASE_URL`, then
    to the server of this machine. `timeout` is in seconds (30); `redact=True` masks every secret
    before it leaves this process.

    Raises UltraContextHttpError for what the server refuses, httpx's errors where it cannot be
    reached.
    """

    def __init__(
        self,
        api_key: str | None = None,
        *,
        base_url: str | None = None,
        timeout: float | None = None,
        headers: Mapping[str, str] | None = None,
        max_retries: int = RETRIES,
        redact: bool = False,
        transport: Transport | None = None,
    ) -> None:
        self._mask = Masker(redact)
        self._transport = transport or Link(
            address(api_key, base_url, timeout, headers, max_retries)
        )

    @classmethod
    def local(
        cls, store: str | Path | None = None, *, space: str | None = None, redact: bool = False
    ) -> UltraContext:
        """A client of the embedded store, without any server.

        `store` is a store URL or a file; without it this machine's own, which also holds what was
        captured.

        >>> uc = UltraContext.local("memory://")
        >>> uc.get()["data"]
        []
        >>> uc.close()
        """
        from ultracontext.sdk.local import open_link

        return cls(transport=open_link(store, space), redact=redact)

    def __enter__(self) -> UltraContext:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self.close()

    def close(self) -> None:
        """Closes pooled connections, or the embedded store."""
        self._transport.close()

    def _send(self, request: Request) -> Any:
        return result(request, self._transport.send(self._mask(request)))

    def create(
        self,
        *,
        from_: str | None = None,
        version: int | None = None,
        at: int | None = None,
        before: When | None = None,
        metadata: Any = None,
        id: str | None = None,
    ) -> CreateContextResponse:
        """Creates a context, empty or a fork of `from_`.

        Of the source `version`, then `before`, then `at` (inclusive) choose the messages. `id`
        (`ctx_` and 24 hex digits) is made here unless given; the same again makes nothing new.

        >>> uc = UltraContext.local("memory://")
        >>> first = uc.create()
        >>> _ = uc.append(first["id"], [{"content": "a"}, {"content": "b"}, {"content": "c"}])
        >>> fork = uc.create(from_=first["id"], at=1, metadata={"why": "try another way"})
        >>> [message["content"] for message in uc.get(fork["id"])["data"]]
        ['a', 'b']
        """
        made: CreateContextResponse = self._send(
            calls.create(
                from_=from_, version=version, at=at, before=before, metadata=metadata, id=id
            )
        )
        return made

    @overload
    def get(
        self,
        context_id: None = None,
        *,
        limit: int | None = None,
        source: str | None = None,
        user_id: str | None = None,
        host: str | None = None,
        project_path: str | None = None,
        session_id: str | None = None,
        after: When | None = None,
        before: When | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> ListContextsResponse: ...

    @overload
    def get(
        self,
        context_id: str,
        *,
        version: int | None = None,
        at: int | None = None,
        before: When | None = None,
        history: bool | None = None,
        first: int | None = None,
        last: int | None = None,
        salvage: bool | None = None,
    ) -> GetContextResponse: ...

    def get(
        self,
        context_id: str | None = None,
        *,
        version: int | None = None,
        at: int | None = None,
        before: When | None = None,
        history: bool | None = None,
        limit: int | None = None,
        first: int | None = None,
        last: int | None = None,
        salvage: bool | None = None,
        source: str | None = None,
        user_id: str | None = None,
        host: str | None = None,
        project_path: str | None = None,
        session_id: str | None = None,
        after: When | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> GetContextResponse | ListContextsResponse:
        """Messages of a context; without an id contexts, newest first, all unless `limit` says.

        `first` and `last` give a window: from that index on, or so many from the end. `salvage`
        gives the sound parts of a broken context, with the `gaps` named. Lists are filtered by
        exact metadata, `metadata={key: value}` for any key.

        >>> uc = UltraContext.local("memory://")
        >>> context = uc.create(metadata={"topic": "tea"})
        >>> _ = uc.append(context["id"], [{"content": str(n)} for n in range(5)])
        >>> [m["content"] for m in uc.get(context["id"], last=2)["data"]]
        ['3', '4']
        >>> [c["metadata"] for c in uc.get(metadata={"topic": "tea"})["data"]]
        [{'topic': 'tea'}]
        """
        if context_id is not None:
            found: GetContextResponse = self._send(
                calls.get(
                    context_id, version=version, at=at, before=before, history=history,
                    first=first, last=last, salvage=salvage,
                )
            )  # fmt: skip
            return found
        rows = self.contexts(
            limit=limit, source=source, user_id=user_id, host=host, project_path=project_path,
            session_id=session_id, after=after, before=before, metadata=metadata,
        )  # fmt: skip
        return {"data": list(rows)}

    def contexts(
        self,
        *,
        limit: int | None = None,
        source: str | None = None,
        user_id: str | None = None,
        host: str | None = None,
        project_path: str | None = None,
        session_id: str | None = None,
        after: When | None = None,
        before: When | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Iterator[Context]:
        """Contexts, newest first, asked for page by page as they are taken.

        >>> uc = UltraContext.local("memory://")
        >>> ids = {uc.create()["id"] for _ in range(3)}
        >>> {context["id"] for context in uc.contexts()} == ids
        True
        """
        filters = {
            "source": source, "user_id": user_id, "host": host, "project_path": project_path,
            "session_id": session_id, "after": after, "before": before,
        }  # fmt: skip
        left, cursor = limit or None, None
        while left is None or left > 0:
            size = calls.MOST_IN_PAGE if left is None else min(left, calls.MOST_IN_PAGE)
            page = self._send(calls.listing(filters, metadata=metadata, limit=size, cursor=cursor))
            yield from page["data"]
            cursor = page.get("next_cursor")
            left = None if left is None else left - len(page["data"])
            if cursor is None:
                return

    def messages(
        self, context_id: str, *, version: int | None = None, page: int = 1000
    ) -> Iterator[Message]:
        """Messages of one version in order, `page` at a time; what is appended meanwhile to the
        newest version comes along.

        >>> uc = UltraContext.local("memory://")
        >>> context = uc.create()
        >>> _ = uc.append(context["id"], [{"content": n} for n in range(5)])
        >>> [m["content"] for m in uc.messages(context["id"], page=2)]
        [0, 1, 2, 3, 4]
        """
        first = 0
        while True:
            found = self._send(calls.window(context_id, version, first, page))
            yield from found["data"]
            version, first = found["version"], first + len(found["data"])
            if len(found["data"]) < page:
                return

    def append(
        self,
        context_id: str,
        data: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        expected_version: int | None = None,
    ) -> AppendResponse:
        """Puts a message, or several, at the end. The answer holds the appended ones.

        A message whose `metadata["event_id"]` is there already is not stored again.

        >>> uc = UltraContext.local("memory://")
        >>> context = uc.create()
        >>> added = uc.append(context["id"], {"role": "user", "content": "Hi"})
        >>> added["data"][0]["index"], added["version"]
        (0, 0)
        """
        done: AppendResponse = self._send(
            calls.append(context_id, data, expected_version=expected_version)
        )
        return done

    def update(
        self,
        context_id: str,
        updates: Sequence[Mapping[str, Any]] | None = None,
        *,
        id: str | None = None,
        index: int | None = None,
        metadata: Mapping[str, Any] | None = None,
        expected_version: int | None = None,
        **fields: Any,
    ) -> UpdateResponse:
        """Changes messages by a new version: one by `id` or `index` (-1 is the last) and fields,
        or several by `updates`. `metadata` is the version's.

        >>> uc = UltraContext.local("memory://")
        >>> context = uc.create()
        >>> _ = uc.append(context["id"], [{"content": "a"}, {"content": "b"}])
        >>> changed = uc.update(context["id"], index=-1, content="B", metadata={"by": "me"})
        >>> changed["version"], [m["content"] for m in changed["data"]]
        (1, ['a', 'B'])
        """
        request = calls.update(
            context_id, updates, id=id, index=index, metadata=metadata, fields=fields,
            expected_version=expected_version, minimal=True,
        )  # fmt: skip
        return self._edited(context_id, request)

    def checkpoint(
        self,
        context_id: str,
        *,
        metadata: Mapping[str, Any] | None = None,
        expected_version: int | None = None,
    ) -> UpdateResponse:
        """Seals the newest version and gives the number of the next: a fork of the sealed one
        holds nothing of what is appended from now on.

        >>> uc = UltraContext.local("memory://")
        >>> context = uc.create()
        >>> _ = uc.append(context["id"], {"content": "kept"})
        >>> sealed = uc.checkpoint(context["id"])["version"] - 1
        >>> _ = uc.append(context["id"], {"content": "a failing step"})
        >>> back = uc.create(from_=context["id"], version=sealed)
        >>> [m["content"] for m in uc.get(back["id"])["data"]]
        ['kept']
        """
        request = calls.checkpoint(context_id, metadata=metadata, expected_version=expected_version)
        return self._edited(context_id, request)

    def set_metadata(
        self,
        context_id: str,
        changes: Mapping[str, Any] | None = None,
        *,
        remove: Sequence[str] = (),
        expected_version: int | None = None,
    ) -> UpdateResponse:
        """Changes keys of the context's own metadata, by a new version.

        >>> uc = UltraContext.local("memory://")
        >>> context = uc.create(metadata={"a": 1, "b": 2})
        >>> _ = uc.set_metadata(context["id"], {"a": None}, remove=["b"])
        >>> uc.info(context["id"])["metadata"]
        {'a': None}
        """
        request = calls.set_metadata(
            context_id, changes or {}, remove, expected_version=expected_version
        )
        return self._edited(context_id, request)

    def _edited(self, context_id: str, request: Request) -> UpdateResponse:
        answer = self._send(request)

        def fetch() -> list[Any]:
            found = self._send(calls.get(context_id, version=answer["version"]))
            messages: list[Any] = found["data"]
            return messages

        edited: Any = EditResult(answer, fetch)
        return cast(UpdateResponse, edited)

    @overload
    def delete(
        self, context_id: str, ids: Selector | Sequence[Selector], *,
        metadata: Mapping[str, Any] | None = None, expected_version: int | None = None,
    ) -> UpdateResponse: ...  # fmt: skip

    @overload
    def delete(
        self, context_id: str, ids: None = None, *, permanent: bool,
        metadata: Mapping[str, Any] | None = None, forks: bool | None = None,
    ) -> PermanentDeleteResponse: ...  # fmt: skip

    def delete(
        self,
        context_id: str,
        ids: Selector | Sequence[Selector] | None = None,
        *,
        permanent: bool = False,
        metadata: Mapping[str, Any] | None = None,
        forks: bool | None = None,
        expected_version: int | None = None,
    ) -> UpdateResponse | PermanentDeleteResponse:
        """Removes messages by a new version, or, with `permanent=True`, the context for good.

        `forks=True` takes the forks along; with `forks=False` the answer names those that stay.
        Raises ValueError before anything is sent when both, or neither, are given.

        >>> uc = UltraContext.local("memory://")
        >>> context = uc.create()
        >>> _ = uc.append(context["id"], [{"content": "a"}, {"content": "b"}])
        >>> [m["content"] for m in uc.delete(context["id"], 0)["data"]]
        ['b']
        >>> uc.delete(context["id"], permanent=True)["deleted"]
        True
        """
        request = calls.delete(
            context_id, ids, permanent=permanent, forks=forks, metadata=metadata,
            expected_version=expected_version, minimal=True,
        )  # fmt: skip
        if permanent:
            gone: PermanentDeleteResponse = self._send(request)
            return gone
        return self._edited(context_id, request)

    def delete_many(self, ids: Sequence[str]) -> DeleteManyResponse:
        """Deletes up to 100 contexts for good; the answer says of each whether it is gone.

        >>> uc = UltraContext.local("memory://")
        >>> uc.delete_many([uc.create()["id"], "ctx_none"])["deleted_count"]
        1
        """
        done: DeleteManyResponse = self._send(calls.delete_many(ids))
        return done

    def branches(self, context_id: str) -> list[Context]:
        """Contexts whose metadata says `branched_from` this one, newest first, all of them.

        >>> uc = UltraContext.local("memory://")
        >>> context = uc.create()
        >>> branch = uc.create(from_=context["id"], metadata={"branched_from": context["id"]})
        >>> [b["id"] for b in uc.branches(context["id"])] == [branch["id"]]
        True
        """
        return list(self.contexts(metadata={"branched_from": context_id}))

    def info(self, context_id: str) -> ContextInfo:
        """What is known of a context, its messages left out.

        >>> uc = UltraContext.local("memory://")
        >>> uc.info(uc.create()["id"])["messages"]
        0
        """
        found: ContextInfo = self._send(calls.part(context_id, "info"))
        return found

    def versions(self, context_id: str) -> list[Version]:
        """Versions, oldest first.

        >>> uc = UltraContext.local("memory://")
        >>> [v["operation"] for v in uc.versions(uc.create()["id"])]
        ['create']
        """
        found: list[Version] = self._send(calls.part(context_id, "versions"))["data"]
        return found

    def log(self, context_id: str) -> list[LogEntry]:
        """Versions and wipes, oldest first; of a wiped context what stays of it.

        >>> uc = UltraContext.local("memory://")
        >>> [entry["operation"] for entry in uc.log(uc.create()["id"])]
        ['create']
        """
        found: list[LogEntry] = self._send(calls.part(context_id, "log"))["data"]
        return found

    def diff(self, context_id: str, a: int | None = None, b: int | None = None) -> Difference:
        """What differs from version `a` to `b`; without them, what the newest version changed.

        >>> uc = UltraContext.local("memory://")
        >>> context = uc.create()
        >>> _ = uc.append(context["id"], {"content": "a"})
        >>> _ = uc.update(context["id"], index=0, content="b")
        >>> change = uc.diff(context["id"])["changed"][0]
        >>> change["before"]["content"], change["after"]["content"]
        ('a', 'b')
        """
        found: Difference = self._send(calls.part(context_id, "diff", a=a, b=b))
        return found

    def verify(self, context_id: str) -> Verification:
        """Checks the whole chain of a context, all versions.

        >>> uc = UltraContext.local("memory://")
        >>> uc.verify(uc.create()["id"])["sound"]
        True
        """
        found: Verification = self._send(calls.part(context_id, "verify"))
        return found
