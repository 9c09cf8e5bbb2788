"""A server of ours in a thread of its own, and a plain client for its wire."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx

from ultracontext.api import AccessLog, Options, Service, serving
from ultracontext.redaction import Redactor, load_redactor
from ultracontext.store import Store, open_store
from ultracontext.store.keys import Role, issue, open_keys

ADMIN = "the-admin-key-of-the-tests"
NOTHING = object()
RUNNING: dict[str, ApiServer] = {}
"""By URL."""


class ApiServer:
    """Runs from `start` to `stop`."""

    def __init__(
        self, url: str | Path, options: Options | None = None, *, access: Path | None = None
    ) -> None:
        self.store: Store = open_store(url, migrate=True)
        self.keys = open_keys(self.store, url)
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name="api server")
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._access = access
        self.port = 0
        self.failure: BaseException | None = None
        self._redactor: Redactor | None = None
        given = options or Options(admin_key=ADMIN)
        self.service = Service(
            self.store, self.keys, replace(given, port=0), redactor=self.redactor
        )

    def redactor(self) -> Redactor:
        if self._redactor is None:
            self._redactor = load_redactor(b"a secret of the tests")
        return self._redactor

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> ApiServer:
        self._thread.start()
        assert self._ready.wait(20), "the server did not start"
        if self.failure is not None:
            raise self.failure
        return self

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._serve())
        except BaseException as error:  # noqa: BLE001  # told in `start` and `stop`
            self.failure = error
        finally:
            self._ready.set()
            self._loop.close()

    async def _serve(self) -> None:
        access = None if self._access is None else AccessLog(self._access)
        async with serving(self.service, access) as port:
            self.port = port
            RUNNING[self.url] = self
            self._ready.set()
            await self._stop.wait()

    def stop(self) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._stop.set)
        RUNNING.pop(self.url, None)
        self._thread.join(30)
        assert not self._thread.is_alive()
        self.store.close()
        if self.failure is not None:
            raise self.failure

    def key(self, space: str, role: Role = "write", **more: Any) -> str:
        made = issue(
            self.keys, name=space, space=space, role=role, new_space=False,
            now=datetime.now(UTC), **more,
        )  # fmt: skip
        self.service.ring.changed()
        return made.key

    def caller(self, space: str, role: Role = "write", **more: Any) -> Caller:
        return Caller(self.url, self.key(space, role, **more))


class Caller:
    """Sends plain requests with one key, and keeps nothing from one to the next."""

    def __init__(self, url: str, key: str | None) -> None:
        self.url, self.key = url, key
        self.client = httpx.Client(base_url=url, timeout=20, verify=False, trust_env=False)

    def close(self) -> None:
        self.client.close()

    def send(
        self,
        method: str,
        path: str,
        body: Any = NOTHING,
        *,
        raw: bytes | None = None,
        headers: dict[str, str] | None = None,
        params: dict[str, Any] | None = None,
    ) -> httpx.Response:
        """`body` is sent as JSON, `raw` as it is, without a content type unless one is given."""
        given = dict(headers or {})
        if self.key is not None:
            given.setdefault("Authorization", f"Bearer {self.key}")
        content = raw
        if body is not NOTHING:
            content = json.dumps(body).encode()
            given.setdefault("Content-Type", "application/json")
        return self.client.request(method, path, content=content, headers=given, params=params)

    def get(self, path: str, **params: Any) -> httpx.Response:
        return self.send("GET", path, params=params)

    def post(self, path: str, body: Any = NOTHING, **more: Any) -> httpx.Response:
        return self.send("POST", path, body, **more)

    def patch(self, path: str, body: Any = NOTHING, **more: Any) -> httpx.Response:
        return self.send("PATCH", path, body, **more)

    def delete(self, path: str, body: Any = NOTHING, **more: Any) -> httpx.Response:
        return self.send("DELETE", path, body, **more)

    # what most tests begin with
    def context(self, *contents: Any, metadata: Any = None) -> str:
        """A new context with messages `{"content": …}`; gives its id."""
        body = {} if metadata is None else {"metadata": metadata}
        name: str = self.post("/contexts", body).json()["id"]
        if contents:
            messages = [c if isinstance(c, dict) else {"content": c} for c in contents]
            assert self.post(f"/contexts/{name}", messages).status_code == 201
        return name

    def contents(self, name: str, **params: Any) -> list[Any]:
        found = self.get(f"/contexts/{name}", **params)
        assert found.status_code == 200, found.text
        return [message.get("content") for message in found.json()["data"]]

    def ids(self, name: str) -> list[str]:
        return [m["id"] for m in self.get(f"/contexts/{name}").json()["data"]]

    def version(self, name: str) -> int:
        found: int = self.get(f"/contexts/{name}").json()["version"]
        return found


def refused(response: httpx.Response, status: int, text: str) -> None:
    """The fault is this one, as JSON."""
    assert (response.status_code, response.json().get("error")) == (status, text)
    assert response.headers["Content-Type"].startswith("application/json")


Made = Callable[..., Caller]
