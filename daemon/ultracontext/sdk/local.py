"""The embedded store as a transport: the requests of the SDK, answered in this process."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ultracontext.wire.link import JSON, Request, Response

if TYPE_CHECKING:
    from ultracontext.redaction import Redactor
    from ultracontext.store import Store


class LocalLink:
    """Safe between threads."""

    def __init__(self, store: Store, space: str) -> None:
        from ultracontext.store import LOCAL_SPACE
        from ultracontext.store.exchange import Exchange, Sight

        self._store = store
        self.space = store.within(space)
        self.captures = space == LOCAL_SPACE
        """Its space also holds what was captured."""
        self._exchange = Exchange(self.space, sight=Sight(load_redactor_of_home))

    def send(self, request: Request) -> Response:
        from ultracontext.store.exchange import Call

        call = Call(
            method=request.method,
            path=request.path,
            query=request.query,
            body=request.content() or b"",
            content_type=JSON if request.body is not None else "",
            minimal="Prefer" in request.headers,
            may_set_time=True,
        )
        answer = self._exchange.answer(call)
        return Response(status=answer.status, url=request.path, body=answer.whole())

    def close(self) -> None:
        self._store.close()


class AsyncLocalLink:
    """The same for a loop: the store blocks, so it is asked in a thread."""

    def __init__(self, link: LocalLink) -> None:
        self._link = link

    async def send(self, request: Request) -> Response:
        import asyncio

        return await asyncio.to_thread(self._link.send, request)

    async def close(self) -> None:
        import asyncio

        await asyncio.to_thread(self._link.close)


def open_link(store: str | Path | None, space: str | None) -> LocalLink:
    """`store` is a store URL or a file; None = this machine's. It is made when it is missing."""
    from ultracontext.errors import StoreError
    from ultracontext.paths import resolve_paths
    from ultracontext.store import LOCAL_SPACE, open_store

    if store is None:
        paths = resolve_paths(os.environ, Path.home())
        paths.ensure()
        store = paths.store_file
    try:
        opened = open_store(store)
    except StoreError as error:
        if error.code != "store-missing":
            raise
        opened = open_store(store, migrate=True)
    return LocalLink(opened, space or LOCAL_SPACE)


def load_redactor_of_home() -> Redactor:
    """The redactor of this machine: its key, its rules and the person's own."""
    from ultracontext.paths import resolve_paths
    from ultracontext.redaction.opening import masking_redactor
    from ultracontext.settings import load_settings

    paths = resolve_paths(os.environ, Path.home())
    paths.ensure()
    return masking_redactor(paths, load_settings(paths.config_file, os.environ))
