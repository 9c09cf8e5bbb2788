# ruff: noqa: ASYNC240  # a look at one file
"""The control socket with a stand-in for the daemon behind it."""

from __future__ import annotations

import asyncio
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ultracontext.errors import FatalError, StoreError, TransportError
from ultracontext.runtime.client import PROTOCOL, ControlClient
from ultracontext.runtime.control import Actions, serve_control
from ultracontext.runtime.hub import WAITING, Hub


@pytest.fixture
def place() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="uc-", dir="/tmp") as folder:
        yield Path(folder) / "daemon.sock"


class Behind:
    """What the socket was asked to do."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.error: Exception | None = None

    def actions(self) -> Actions:
        return Actions(
            status=self.status,
            sessions=lambda limit: [{"id": "ctx_1", "limit": limit}],
            pause=lambda project: self.done.append(_named("pause", project)),
            go_on=lambda project: self.done.append(_named("continue", project)),
            sweep=lambda: self.done.append("sweep"),
            forget=self.forget,
            stop=lambda: self.done.append("stop"),
        )

    def forget(self, contexts: list[str]) -> bool:
        self.done.append(f"forget {' '.join(contexts)}")
        return True

    def status(self) -> dict[str, Any]:
        if self.error is not None:
            raise self.error
        return {"daemon": {"running": True}}


def _named(verb: str, project: str | None) -> str:
    return verb if project is None else f"{verb} {project}"


async def ask(place: Path, method: str, target: str) -> dict[str, Any]:
    client = ControlClient(place)
    return await asyncio.to_thread(client.get if method == "GET" else client.post, target)


async def connected(hub: Hub, clients: int = 1) -> None:
    """Waits for the number of clients; the hub tells nobody of them."""
    while hub.clients != clients:  # noqa: ASYNC110
        await asyncio.sleep(0.01)


async def test_answers_bear_protocol_and_version(place: Path) -> None:
    behind = Behind()
    async with serve_control(place, behind.actions(), Hub("a"), version="1.2"):
        answer = await ask(place, "GET", "/status")
        assert answer == {"protocol": PROTOCOL, "version": "1.2", "daemon": {"running": True}}
        listed = await ask(place, "GET", "/sessions?limit=7")
        assert listed["sessions"] == [{"id": "ctx_1", "limit": 7}]
        for verb in ("pause", "continue", "sweep", "stop"):
            assert (await ask(place, "POST", f"/{verb}"))["protocol"] == PROTOCOL
    assert behind.done == ["pause", "continue", "sweep", "stop"]
    assert not place.exists()


async def test_a_project_is_named_in_the_body(place: Path) -> None:
    behind = Behind()
    async with serve_control(place, behind.actions(), Hub("a"), version="1"):
        client = ControlClient(place)
        await asyncio.to_thread(client.post, "/pause", {"project": "/w/app"})
        await asyncio.to_thread(client.post, "/continue", {"project": "/w/app"})
        for body in ({"project": "relative"}, {"project": 3}, {"folder": "/w"}):
            with pytest.raises(TransportError) as caught:
                await asyncio.to_thread(client.post, "/pause", body)
            assert caught.value.code == "usage"
    assert behind.done == ["pause /w/app", "continue /w/app"]


async def test_wiped_contexts_are_told(place: Path) -> None:
    behind = Behind()
    async with serve_control(place, behind.actions(), Hub("a"), version="1"):
        client = ControlClient(place)
        body = {"contexts": ["ctx_1", "ctx_2"]}
        answer = await asyncio.to_thread(client.post, "/forget", body)
        assert answer["clean"] is True
        for wrong in ({"contexts": "ctx_1"}, {"contexts": [1]}, {}):
            with pytest.raises(TransportError) as caught:
                await asyncio.to_thread(client.post, "/forget", wrong)
            assert caught.value.code == "usage"
    assert behind.done == ["forget ctx_1 ctx_2"]


async def test_errors_are_answers_with_a_code(place: Path) -> None:
    behind = Behind()
    async with serve_control(place, behind.actions(), Hub("a"), version="1"):
        for method, target, code in (
            ("GET", "/nothing", "not-found"),
            ("GET", "/pause", "method"),
            ("GET", "/sessions?limit=0", "usage"),
            ("GET", "/sessions?limit=x", "usage"),
        ):
            with pytest.raises(TransportError) as caught:
                await ask(place, method, target)
            assert caught.value.code == code
        for error, code in ((StoreError("x", code="busy"), "busy"), (KeyError("k"), "internal")):
            behind.error = error
            with pytest.raises(TransportError) as caught:
                await ask(place, "GET", "/status")
            assert caught.value.code == code


async def test_socket_is_private(place: Path) -> None:
    async with serve_control(place, Behind().actions(), Hub("a"), version="1"):
        assert place.stat().st_mode & 0o077 == 0


async def test_other_user_is_refused(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ultracontext.runtime.control.peer_uid", lambda _: 12345)
    async with serve_control(place, Behind().actions(), Hub("a"), version="1"):
        with pytest.raises(TransportError) as caught:
            await ask(place, "GET", "/status")
        assert caught.value.code == "forbidden"


async def test_stale_socket_is_taken_over(place: Path) -> None:
    left = socket.socket(socket.AF_UNIX)
    left.bind(str(place))
    left.close()
    async with serve_control(place, Behind().actions(), Hub("a"), version="1"):
        assert (await ask(place, "GET", "/status"))["version"] == "1"


async def test_file_in_the_place_of_the_socket_is_not_removed(place: Path) -> None:
    place.write_text("mine")
    with pytest.raises(FatalError, match="cannot make the control socket"):
        async with serve_control(place, Behind().actions(), Hub("a"), version="1"):
            pass
    assert place.read_text() == "mine"


def take(client: ControlClient, count: int, cursor: str | None = None) -> list[tuple[str, Any]]:
    found = []
    for name, data in client.events(cursor):
        found.append((name, data))
        if len(found) == count:
            break
    return found


async def test_events_come_live_and_replay_from_a_cursor(place: Path) -> None:
    hub = Hub("a")
    async with serve_control(place, Behind().actions(), hub, version="1"):
        client = ControlClient(place)
        first = asyncio.create_task(asyncio.to_thread(take, client, 2))  # noqa: TID251
        await connected(hub)
        hub.publish("committed", [{"n": 1}, {"n": 2}])
        (hello, data), (name, event) = await first
        assert (hello, data["protocol"], name, event["n"]) == ("hello", PROTOCOL, "committed", 1)
        replayed = await asyncio.to_thread(take, client, 2, event["cursor"])
        assert replayed[1][1]["n"] == 2
        reset = await asyncio.to_thread(take, client, 2, "other-7")
        assert reset[1][0] == "reset"


async def test_slow_client_is_told_and_let_go(place: Path) -> None:
    hub = Hub("a")
    async with serve_control(place, Behind().actions(), hub, version="1"):
        reader, writer = await asyncio.open_unix_connection(place)
        writer.write(b"GET /events HTTP/1.1\r\nHost: x\r\n\r\n")
        await connected(hub)
        hub.publish("committed", [{"n": n} for n in range(WAITING + 10)])
        text = (await asyncio.wait_for(reader.read(), 10)).decode()
        assert text.count("event: committed") == WAITING
        assert "event: dropped" in text
        assert hub.clients == 0
        writer.close()


async def test_client_that_does_not_read_is_cut_off(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ultracontext.runtime.control.WRITE_SECONDS", 0.2)
    hub = Hub("a")
    async with serve_control(place, Behind().actions(), hub, version="1"):
        reader, writer = await asyncio.open_unix_connection(place, limit=1)
        writer.write(b"GET /events HTTP/1.1\r\nHost: x\r\n\r\n")
        await connected(hub)
        for _ in range(WAITING):
            hub.publish("committed", [{"text": "x" * 20_000}])
        async with asyncio.timeout(5):
            await connected(hub, 0)
        del reader
        writer.close()


async def test_streams_end_when_the_daemon_stops(place: Path) -> None:
    hub = Hub("a")
    async with asyncio.timeout(5):
        async with serve_control(place, Behind().actions(), hub, version="1"):
            reader, writer = await asyncio.open_unix_connection(place)
            writer.write(b"GET /events HTTP/1.1\r\nHost: x\r\n\r\n")
            await connected(hub)
        text = (await reader.read()).decode()
        writer.close()
    assert "event: bye" in text


def test_client_names_a_daemon_that_is_not_there(place: Path) -> None:
    with pytest.raises(TransportError) as caught:
        ControlClient(place).get("/status")
    assert caught.value.code == "daemon-down"
    assert "daemon start" in caught.value.hint


async def test_client_refuses_what_is_newer_or_no_daemon(place: Path) -> None:
    answers = [
        b'{"protocol": 2, "version": "9"}', b"[]", b"{}", b"no json",
    ]  # fmt: skip

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        body = answers.pop(0)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))
        writer.close()

    async with await asyncio.start_unix_server(answer, place):
        for code in ("protocol", "protocol", "protocol", "transport"):
            with pytest.raises(TransportError) as caught:
                await ask(place, "GET", "/status")
            assert caught.value.code == code


async def test_client_does_not_wait_for_a_daemon_that_hangs(place: Path) -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    async with await asyncio.start_unix_server(silent, place):
        with pytest.raises(TransportError) as caught:
            await asyncio.to_thread(ControlClient(place, timeout_seconds=0.1).get, "/status")
        assert caught.value.code == "daemon-hangs"


async def test_a_removed_file_is_made_again_and_streams_go_on(place: Path) -> None:
    hub = Hub("a")
    async with serve_control(place, Behind().actions(), hub, version="1") as control:
        assert not await control.mend()
        first = asyncio.create_task(asyncio.to_thread(take, ControlClient(place), 2))  # noqa: TID251
        await connected(hub)
        place.unlink()
        assert await control.mend()
        assert place.stat().st_mode & 0o777 == 0o600
        assert (await ask(place, "GET", "/status"))["version"] == "1"
        hub.publish("committed", [{"n": 1}])
        assert [name for name, _ in await first] == ["hello", "committed"]
    assert not place.exists()


async def test_what_somebody_puts_in_its_place_stays(place: Path) -> None:
    async with serve_control(place, Behind().actions(), Hub("a"), version="1") as control:
        place.unlink()
        place.write_text("mine")
        with pytest.raises(FatalError) as caught:
            await control.mend()
        assert "remove it" in caught.value.hint
        place.unlink()
        assert await control.mend()


async def test_the_way_out_fits_the_fault(place: Path) -> None:
    for path, way in (
        (place.parent / ("long" * 40), "shorter path"),
        (place.parent / "no" / "folder", "local disk"),
    ):
        with pytest.raises(FatalError) as caught:
            async with serve_control(path, Behind().actions(), Hub("a"), version="1"):
                pass
        assert way in caught.value.hint


async def test_a_client_that_leaves_is_not_called_slow(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted: list[str] = []

    def note(event: str, **_: object) -> None:
        noted.append(event)

    quiet = SimpleNamespace(info=note, debug=note, warning=note, error=note)
    monkeypatch.setattr("ultracontext.runtime.control.log", quiet)
    hub = Hub("a")
    async with serve_control(place, Behind().actions(), hub, version="1"):
        _, writer = await asyncio.open_unix_connection(place)
        writer.write(b"GET /events HTTP/1.1\r\nHost: x\r\n\r\n")
        await connected(hub)
        writer.transport.abort()
        async with asyncio.timeout(5):
            while hub.clients:
                hub.publish("committed", [{"n": 1}])
                await asyncio.sleep(0.01)
    assert noted == ["client-left"]
