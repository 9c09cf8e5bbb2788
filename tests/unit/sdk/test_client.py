"""Our SDK: docstrings, retries, pooling, masking, the embedded store, and a light import."""

from __future__ import annotations

import doctest
import inspect
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from api_server import ApiServer

import ultracontext
from ultracontext import AsyncUltraContext, UltraContext, UltraContextError, UltraContextHttpError
from ultracontext.sdk import client, local
from ultracontext.wire.link import Address, AsyncLink, Link, Request, Response

Answer = Callable[[httpx.Request], httpx.Response]


@pytest.mark.timeout(60)
def test_examples_in_docstrings() -> None:
    found = doctest.testmod(client, raise_on_error=False)
    assert found.failed == 0
    assert found.attempted > 60


def test_every_public_method_has_an_example() -> None:
    for name, method in inspect.getmembers(UltraContext, inspect.isfunction):
        if not name.startswith("_") and name != "close":
            assert ">>>" in (method.__doc__ or ""), name


def test_both_clients_offer_the_same() -> None:
    def offered(kind: type) -> dict[str, list[str]]:
        return {
            name: list(inspect.signature(method).parameters)
            for name, method in inspect.getmembers(kind, callable)
            if not name.startswith("_")
        }

    assert offered(UltraContext) == offered(AsyncUltraContext)


HEAVY = ("aiohttp", "textual", "mcp", "httpx", "msgspec", "orjson", "ultracontext.store")


@pytest.mark.parametrize(
    "code", ["import ultracontext", "from ultracontext import UltraContext, AsyncUltraContext"]
)
def test_import_is_light(code: str) -> None:
    heavy = HEAVY if code == "import ultracontext" else HEAVY[:3]
    check = f"{code}; import sys; print([m for m in {heavy!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_unknown_names_of_the_package() -> None:
    with pytest.raises(AttributeError, match="nope"):
        ultracontext.nope  # noqa: B018
    assert "UltraContext" in dir(ultracontext)


class Wire:
    """A transport below the link that answers as it is told, and remembers what came."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self.answers = list(answers)
        self.requests: list[httpx.Request] = []
        self.pauses: list[float] = []

    def handle(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def link(self, **more: Any) -> Link:
        link = Link(Address(base_url="http://x", **more), sleep=self.pauses.append)
        link._client = httpx.Client(transport=httpx.MockTransport(self.handle))
        return link


def ok() -> httpx.Response:
    return httpx.Response(200, json={"data": [], "version": 0})


FAULTS: list[Any] = [
    httpx.Response(503), httpx.Response(502), httpx.Response(504), httpx.Response(429),
    httpx.ReadTimeout("slow"), httpx.ConnectError("no"), httpx.RemoteProtocolError("gone"),
]  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_write_with_an_id_is_sent_again_with_the_same_id(fault: Any) -> None:
    wire = Wire(fault, ok())
    UltraContext(transport=wire.link()).append("ctx_1", {"a": 1})
    first, second = wire.requests
    assert first.url == second.url
    assert "operation_id=" in str(first.url)
    assert first.content == second.content
    assert len(wire.pauses) == 1


def test_a_new_context_is_sent_again_with_the_same_id() -> None:
    made = httpx.Response(201, json={"id": "x", "metadata": {}, "created_at": ""})
    wire = Wire(httpx.ReadTimeout("slow"), made)
    UltraContext(transport=wire.link()).create()
    assert wire.requests[0].content == wire.requests[1].content
    assert b'"id":"ctx_' in wire.requests[0].content


@pytest.mark.parametrize(
    ("fault", "sent"),
    [(httpx.ReadTimeout("slow"), 1), (httpx.ConnectError("no"), 2), (httpx.Response(503), 1),
     (httpx.Response(429), 2)],
)  # fmt: skip
def test_a_wipe_is_sent_again_only_when_it_was_not_done(fault: Any, sent: int) -> None:
    wire = Wire(fault, httpx.Response(200, json={"deleted": True}))
    uc = UltraContext(transport=wire.link())
    if sent == 1:
        with pytest.raises((httpx.ReadTimeout, UltraContextHttpError)):
            uc.delete("ctx_1", permanent=True)
    else:
        uc.delete("ctx_1", permanent=True)
    assert len(wire.requests) == sent


def test_what_stays_is_raised_as_it_is() -> None:
    wire = Wire(*[httpx.ConnectError("no")] * 4)
    with pytest.raises(httpx.ConnectError):
        UltraContext(transport=wire.link()).get("ctx_1")
    assert len(wire.requests) == 4
    assert wire.pauses == sorted(wire.pauses) or len(wire.pauses) == 3
    wire = Wire(*[httpx.Response(503, text="busy")] * 2)
    with pytest.raises(UltraContextHttpError) as caught:
        UltraContext(transport=wire.link(retries=1)).get("ctx_1")
    assert (caught.value.status, caught.value.body) == (503, "busy")
    assert str(caught.value) == "HTTP 503: busy"
    assert isinstance(caught.value, UltraContextError)


def test_retry_after_is_kept() -> None:
    wire = Wire(httpx.Response(429, headers={"Retry-After": "2"}), ok())
    UltraContext(transport=wire.link()).get("ctx_1")
    assert wire.pauses[0] >= 2


def test_a_fault_of_the_request_is_not_sent_again() -> None:
    for status in (400, 401, 404, 409, 413, 500):
        wire = Wire(httpx.Response(status, text="{}"))
        with pytest.raises(UltraContextHttpError):
            UltraContext(transport=wire.link()).get("ctx_1")
        assert len(wire.requests) == 1


async def test_the_async_link_retries_too() -> None:
    wire = Wire(httpx.ConnectError("no"), ok())
    link = AsyncLink(Address(base_url="http://x"))
    link._client = httpx.AsyncClient(transport=httpx.MockTransport(wire.handle))
    found = await link.send(Request(method="GET", path="/contexts"))
    assert isinstance(found, Response)
    assert len(wire.requests) == 2
    await link.close()


def test_headers_do_not_replace_key_and_content_type() -> None:
    headers = {"authorization": "mine", "CONTENT-TYPE": "text/plain", "X-Mine": "1"}
    wire = Wire(ok(), ok())
    link = wire.link(api_key="uc_live_k", headers=headers)
    uc = UltraContext(transport=link)
    uc.append("a/b", {"a": 1})
    uc.get("ctx_1")
    sent = wire.requests[0].headers
    assert (sent["authorization"], sent["content-type"]) == ("Bearer uc_live_k", "application/json")
    assert sent["x-mine"] == "1"
    assert wire.requests[0].url.raw_path.startswith(b"/contexts/a%2Fb?")
    assert "content-type" not in wire.requests[1].headers


def test_values_that_json_does_not_have_are_refused_before_anything_is_sent() -> None:
    wire = Wire()
    uc = UltraContext(transport=wire.link())
    with pytest.raises(ValueError, match="JSON"):
        uc.append("ctx_1", {"a": float("nan")})
    with pytest.raises(TypeError):
        uc.append("ctx_1", {"a": object()})
    with pytest.raises(ValueError, match="exclude"):
        uc.delete("ctx_1", 0, permanent=True)  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="name ids"):
        uc.delete("ctx_1")  # type: ignore[call-overload]
    assert wire.requests == []


def test_variables_name_server_and_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ULTRACONTEXT_API_KEY", "uc_live_env")
    monkeypatch.setenv("ULTRACONTEXT_BASE_URL", "http://env.example/base/")

    def address(**more: Any) -> Address:
        uc = UltraContext(**more)
        link = uc._transport
        assert isinstance(link, Link)
        uc.close()
        return link.address

    found = address()
    assert (found.api_key, found.base_url) == ("uc_live_env", "http://env.example/base")
    assert found.timeout_seconds == 30
    given = address(api_key="k", base_url="http://given/", timeout=5)
    assert (given.api_key, given.base_url, given.timeout_seconds) == ("k", "http://given", 5)
    monkeypatch.delenv("ULTRACONTEXT_BASE_URL")
    assert address(timeout=0).base_url == "http://127.0.0.1:8787"


def test_the_local_store_is_made_where_it_is_missing(tmp_path: Path) -> None:
    file = tmp_path / "new" / "store.db"
    with UltraContext.local(file) as uc:
        name = uc.create()["id"]
        uc.append(name, {"content": "a\0\ud800", "n": 2**70})
    with UltraContext.local(f"sqlite://{file}") as uc:
        assert uc.get(name)["data"][0]["content"] == "a\0\ud800"
    assert file.stat().st_mode & 0o777 == 0o600


async def test_the_local_store_on_a_loop(tmp_path: Path) -> None:
    async with AsyncUltraContext.local(tmp_path / "store.db") as uc:
        name = (await uc.create(metadata={"k": 1}))["id"]
        await uc.append(name, [{"content": n} for n in range(5)])
        assert [m["content"] async for m in uc.messages(name, page=2)] == [0, 1, 2, 3, 4]
        assert [row["id"] async for row in uc.contexts()] == [name]
        edited = await uc.checkpoint(name)
        assert len(edited["data"]) == 5
        with pytest.raises(UltraContextHttpError) as caught:
            await uc.get("ctx_none")
        assert caught.value.status == 404


def test_edits_fetch_their_messages_when_they_are_looked_at() -> None:
    wire = Wire(
        httpx.Response(200, json={"version": 1, "affected": ["m"]}),
        httpx.Response(200, json={"data": [{"content": "A"}], "version": 1}),
    )
    made = UltraContext(transport=wire.link()).update("ctx_1", index=0, content="A")
    assert wire.requests[0].headers["prefer"] == "return=minimal"
    assert (made["version"], made["affected"]) == (1, ["m"])
    assert len(wire.requests) == 1
    assert made["data"] == [{"content": "A"}]
    assert "version=1" in str(wire.requests[1].url)
    assert dict(made) == {"version": 1, "affected": ["m"], "data": [{"content": "A"}]}
    assert made == dict(made)
    assert "data" in made
    assert made.get("nope") is None
    assert len(wire.requests) == 2


SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"


def test_redact_masks_before_anything_leaves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ULTRACONTEXT_HOME", str(tmp_path / "uc"))
    with UltraContext.local("memory://", redact=True) as uc:
        name = uc.create(metadata={"m": SECRET})["id"]
        uc.append(name, [{"content": f"x {SECRET}", "metadata": {"t": SECRET}}])
        uc.update(name, index=0, more=SECRET)
        uc.update(name, [{"index": 0, "content": SECRET}], metadata={"why": SECRET})
        uc.set_metadata(name, {"n": SECRET})
        uc.delete(name, [0], metadata={"d": SECRET})
        for version in range(5):
            assert SECRET not in str(uc.get(name, version=version, history=True))
        assert SECRET not in str(uc.info(name))
        assert "redacted" in str(uc.get(name, version=0))


def test_paging_takes_no_more_than_is_asked(tmp_path: Path) -> None:
    with UltraContext.local("memory://") as uc:
        names = [uc.create(metadata={"n": n % 2})["id"] for n in range(60)]
        assert len(uc.get()["data"]) == 60
        assert len(uc.get(limit=7)["data"]) == 7
        assert len(list(uc.contexts(metadata={"n": 1}))) == 30
        origin = names[0]
        for _ in range(50):
            uc.create(from_=origin, metadata={"branched_from": origin})
        assert len(uc.branches(origin)) == 50
        assert uc.get(before=datetime(2020, 1, 1, tzinfo=UTC))["data"] == []


@pytest.mark.timeout(60)
def test_connections_are_pooled_and_threads_may_share_a_client(tmp_path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    server = ApiServer(tmp_path / "store.db").start()
    try:
        with UltraContext(server.key("s"), base_url=server.url) as uc:
            name = uc.create()["id"]
            with ThreadPoolExecutor(8) as threads:
                for _ in threads.map(lambda n: uc.append(name, {"content": n}), range(40)):
                    pass
            found = sorted(m["content"] for m in uc.messages(name, page=7))
        assert found == list(range(40))
    finally:
        server.stop()


def test_the_local_link_answers_as_the_server_does() -> None:
    assert local.LocalLink is not None
    with UltraContext.local("memory://") as uc, pytest.raises(UltraContextHttpError) as caught:
        uc.create(version=1)
    assert caught.value.status == 400
    assert caught.value.body == '{"error":"version, at, and before require from"}'
