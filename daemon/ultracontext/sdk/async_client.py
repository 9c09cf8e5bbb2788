"""The client for a loop."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, overload

from ultracontext.sdk import calls
from ultracontext.sdk.base import RETRIES, Masker, address, result
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
from ultracontext.wire.link import AsyncLink, Request, Response

When = str | datetime
Selector = str | int


class AsyncTransport(Protocol):
    """What carries requests."""

    async def send(self, request: Request) -> Response: ...
    async def close(self) -> None: ...


class AsyncUltraContext:
    """A client of an UltraContext server, or of the embedded store.

    A drop-in for the official Python SDK (1.6.0), with pooled connections, retries that repeat
    nothing twice, and iterators. Safe between threads.

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
        transport: AsyncTransport | None = None,
    ) -> None:
        self._mask = Masker(redact)
        self._transport = transport or AsyncLink(
            address(api_key, base_url, timeout, headers, max_retries)
        )

    @classmethod
    def local(
        cls, store: str | Path | None = None, *, space: str | None = None, redact: bool = False
    ) -> AsyncUltraContext:
        """A client of the embedded store, without any server.

        `store` is a store URL or a file; without it this machine's own, which also holds what was
        captured.
        """
        from ultracontext.sdk.local import AsyncLocalLink, open_link

        return cls(transport=AsyncLocalLink(open_link(store, space)), redact=redact)

    async def __aenter__(self) -> AsyncUltraContext:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        await self.close()

    async def close(self) -> None:
        """Closes pooled connections, or the embedded store."""
        await self._transport.close()

    async def _send(self, request: Request) -> Any:
        return result(request, await self._transport.send(self._mask(request)))

    async def create(
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
        """
        made: CreateContextResponse = await self._send(
            calls.create(
                from_=from_, version=version, at=at, before=before, metadata=metadata, id=id
            )
        )
        return made

    @overload
    async def get(
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
    async def get(
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

    async def get(
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
        """
        if context_id is not None:
            found: GetContextResponse = await self._send(
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
        return {"data": [row async for row in rows]}

    async def contexts(
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
    ) -> AsyncIterator[Context]:
        """Contexts, newest first, asked for page by page as they are taken."""
        filters = {
            "source": source, "user_id": user_id, "host": host, "project_path": project_path,
            "session_id": session_id, "after": after, "before": before,
        }  # fmt: skip
        left, cursor = limit or None, None
        while left is None or left > 0:
            size = calls.MOST_IN_PAGE if left is None else min(left, calls.MOST_IN_PAGE)
            page = await self._send(
                calls.listing(filters, metadata=metadata, limit=size, cursor=cursor)
            )
            for row in page["data"]:
                yield row
            cursor = page.get("next_cursor")
            left = None if left is None else left - len(page["data"])
            if cursor is None:
                return

    async def messages(
        self, context_id: str, *, version: int | None = None, page: int = 1000
    ) -> AsyncIterator[Message]:
        """Messages of one version in order, `page` at a time; what is appended meanwhile to the
        newest version comes along.
        """
        first = 0
        while True:
            found = await self._send(calls.window(context_id, version, first, page))
            for message in found["data"]:
                yield message
            version, first = found["version"], first + len(found["data"])
            if len(found["data"]) < page:
                return

    async def append(
        self,
        context_id: str,
        data: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        expected_version: int | None = None,
    ) -> AppendResponse:
        """Puts a message, or several, at the end. The answer holds the appended ones.

        A message whose `metadata["event_id"]` is there already is not stored again.
        """
        done: AppendResponse = await self._send(
            calls.append(context_id, data, expected_version=expected_version)
        )
        return done

    async def update(
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
        """
        request = calls.update(
            context_id, updates, id=id, index=index, metadata=metadata, fields=fields,
            expected_version=expected_version, minimal=False,
        )  # fmt: skip
        return await self._edited(context_id, request)

    async def checkpoint(
        self,
        context_id: str,
        *,
        metadata: Mapping[str, Any] | None = None,
        expected_version: int | None = None,
    ) -> UpdateResponse:
        """Seals the newest version and gives the number of the next: a fork of the sealed one
        holds nothing of what is appended from now on.
        """
        request = calls.checkpoint(context_id, metadata=metadata, expected_version=expected_version)
        return await self._edited(context_id, request)

    async def set_metadata(
        self,
        context_id: str,
        changes: Mapping[str, Any] | None = None,
        *,
        remove: Sequence[str] = (),
        expected_version: int | None = None,
    ) -> UpdateResponse:
        """Changes keys of the context's own metadata, by a new version."""
        request = calls.set_metadata(
            context_id, changes or {}, remove, expected_version=expected_version
        )
        return await self._edited(context_id, request)

    async def _edited(self, context_id: str, request: Request) -> UpdateResponse:
        """A checkpoint is answered without its messages; they are added here."""
        answer: UpdateResponse = await self._send(request)
        if "data" not in answer:
            found = await self._send(calls.get(context_id, version=answer["version"]))
            answer["data"] = found["data"]
        return answer

    @overload
    async def delete(
        self, context_id: str, ids: Selector | Sequence[Selector], *,
        metadata: Mapping[str, Any] | None = None, expected_version: int | None = None,
    ) -> UpdateResponse: ...  # fmt: skip

    @overload
    async def delete(
        self, context_id: str, ids: None = None, *, permanent: bool,
        metadata: Mapping[str, Any] | None = None, forks: bool | None = None,
    ) -> PermanentDeleteResponse: ...  # fmt: skip

    async def delete(
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
        """
        request = calls.delete(
            context_id, ids, permanent=permanent, forks=forks, metadata=metadata,
            expected_version=expected_version, minimal=False,
        )  # fmt: skip
        if permanent:
            gone: PermanentDeleteResponse = await self._send(request)
            return gone
        return await self._edited(context_id, request)

    async def delete_many(self, ids: Sequence[str]) -> DeleteManyResponse:
        """Deletes up to 100 contexts for good; the answer says of each whether it is gone."""
        done: DeleteManyResponse = await self._send(calls.delete_many(ids))
        return done

    async def branches(self, context_id: str) -> list[Context]:
        """Contexts whose metadata says `branched_from` this one, newest first, all of them."""
        found = self.contexts(metadata={"branched_from": context_id})
        return [context async for context in found]

    async def info(self, context_id: str) -> ContextInfo:
        """What is known of a context, its messages left out."""
        found: ContextInfo = await self._send(calls.part(context_id, "info"))
        return found

    async def versions(self, context_id: str) -> list[Version]:
        """Versions, oldest first."""
        found: list[Version] = (await self._send(calls.part(context_id, "versions")))["data"]
        return found

    async def log(self, context_id: str) -> list[LogEntry]:
        """Versions and wipes, oldest first; of a wiped context what stays of it."""
        found: list[LogEntry] = (await self._send(calls.part(context_id, "log")))["data"]
        return found

    async def diff(self, context_id: str, a: int | None = None, b: int | None = None) -> Difference:
        """What differs from version `a` to `b`; without them, what the newest version changed."""
        found: Difference = await self._send(calls.part(context_id, "diff", a=a, b=b))
        return found

    async def verify(self, context_id: str) -> Verification:
        """Checks the whole chain of a context, all versions."""
        found: Verification = await self._send(calls.part(context_id, "verify"))
        return found
