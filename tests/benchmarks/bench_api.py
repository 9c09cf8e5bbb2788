"""Requests a second, p50 and p99 of append and get at 64 connections, against a bare handler.

    .venv/bin/python tests/benchmarks/bench_api.py [--seconds 5] [--connections 64] [--postgres URL]

The server runs in a process of its own, the client in this one. `bare` is an aiohttp handler that
parses a body and answers one of the same size. `--memory MINUTES` appends and
reads for so long and prints the server's resident memory each half minute.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import aiohttp

MESSAGE = {"role": "user", "content": "x" * 600, "metadata": {"n": 1}}
IN_CONTEXT = 20

Work = Callable[[aiohttp.ClientSession, str], Awaitable[None]]


def serve(url: str, told: Connection) -> None:
    """In a child: our server, or the bare handler."""
    asyncio.run(_bare(told) if url == "bare" else _ours(url, told))


async def _ours(url: str, told: Connection) -> None:
    from ultracontext.api import Options, Service, serving, stop_signal
    from ultracontext.store import open_store
    from ultracontext.store.keys import issue, open_keys

    store = open_store(url, migrate=True)
    keys = open_keys(store, url)
    space = f"bench-{os.getpid()}"
    key = issue(keys, name="bench", space=space, new_space=True, now=datetime.now(UTC))
    async with serving(Service(store, keys, Options(port=0))) as port:
        told.send((port, key.key))
        await stop_signal()
    store.close()


async def _bare(told: Connection) -> None:
    from aiohttp import web

    stored = json.dumps({"data": [MESSAGE] * IN_CONTEXT, "version": 0}).encode()
    one = json.dumps({"data": [MESSAGE], "version": 0}).encode()

    async def handle(request: web.Request) -> web.Response:
        if request.method == "POST":
            json.loads(await request.read())
            return web.Response(status=201, body=one, content_type="application/json")
        return web.Response(body=stored, content_type="application/json")

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handle)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    told.send((runner.addresses[0][1], "no key"))
    await asyncio.Event().wait()


class Server:
    """The child, from start to stop."""

    def __init__(self, url: str) -> None:
        ours, theirs = multiprocessing.Pipe()
        self.process = multiprocessing.get_context("spawn").Process(
            target=serve, args=(url, theirs), daemon=True
        )
        self.process.start()
        if not ours.poll(60):
            raise SystemExit(f"the server of {url} did not start")
        port, key = ours.recv()
        self.url = f"http://127.0.0.1:{port}"
        self.headers = {"Authorization": f"Bearer {key}"}

    def resident(self) -> int:
        pages = Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    def stop(self) -> None:
        self.process.terminate()
        self.process.join(30)


async def load(
    server: Server, work: Work, names: list[str], connections: int, seconds: float
) -> list[float]:
    """Seconds of each request; every connection works on a context of its own."""
    times: list[float] = []
    end = time.perf_counter() + seconds
    connector = aiohttp.TCPConnector(limit=connections)
    async with aiohttp.ClientSession(
        server.url, headers=server.headers, connector=connector
    ) as session:

        async def client(name: str) -> None:
            while (begun := time.perf_counter()) < end:
                await work(session, name)
                times.append(time.perf_counter() - begun)

        async with asyncio.TaskGroup() as group:
            for number in range(connections):
                group.create_task(client(names[number % len(names)]))
    return times


async def append(session: aiohttp.ClientSession, name: str) -> None:
    async with session.post(f"/contexts/{name}", json=MESSAGE) as answer:
        await answer.read()
        assert answer.status == 201


async def read(session: aiohttp.ClientSession, name: str) -> None:
    async with session.get(f"/contexts/{name}") as answer:
        await answer.read()
        assert answer.status == 200


async def contexts(server: Server, count: int) -> list[str]:
    names: list[str] = []
    async with aiohttp.ClientSession(server.url, headers=server.headers) as session:
        for _ in range(count):
            async with session.post("/contexts", json={}) as answer:
                made: dict[str, Any] = await answer.json()
            name = made.get("id", "ctx_bare")
            async with session.post(f"/contexts/{name}", json=[MESSAGE] * IN_CONTEXT) as answer:
                await answer.read()
            names.append(name)
    return names


def show(kind: str, what: str, times: list[float], seconds: float) -> None:
    ordered = sorted(times)
    p99 = ordered[int(len(ordered) * 0.99)]
    print(
        f"{kind:<10} {what:<7} {len(times) / seconds:8.0f} requests/s"
        f"   p50 {statistics.median(ordered) * 1000:7.1f} ms   p99 {p99 * 1000:7.1f} ms"
    )
    sys.stdout.flush()


async def measure(kind: str, url: str, connections: int, seconds: float) -> None:
    server = Server(url)
    try:
        names = await contexts(server, connections)
        show(kind, "get", await load(server, read, names, connections, seconds), seconds)
        fresh = await contexts(server, connections)
        show(kind, "append", await load(server, append, fresh, connections, seconds), seconds)
        one = await load(server, append, fresh[:1], connections, seconds)
        show(kind, "one", one, seconds)
    finally:
        server.stop()


async def watch_memory(url: str, connections: int, minutes: float) -> None:
    server = Server(url)
    try:
        for step in range(max(1, round(minutes * 2))):
            names = await contexts(server, 16)
            random.shuffle(names)
            await load(server, append, names, connections, 14)
            await load(server, read, names, connections, 14)
            print(f"{(step + 1) / 2:5.1f} min  {server.resident() / 1e6:7.1f} MB")
            sys.stdout.flush()
    finally:
        server.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--postgres", metavar="URL")
    parser.add_argument("--memory", type=float, metavar="MINUTES")
    words = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sqlite = f"sqlite://{folder}/store.db"
        if words.memory:
            asyncio.run(watch_memory(sqlite, words.connections, words.memory))
            return
        kinds = {"bare": "bare", "memory": "memory://", "sqlite": sqlite}
        if words.postgres:
            kinds["postgres"] = words.postgres
        print("append: each connection its own context; one: all in the same context")
        for kind, url in kinds.items():
            asyncio.run(measure(kind, url, words.connections, words.seconds))


if __name__ == "__main__":
    main()
