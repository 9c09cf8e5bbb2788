"""64 clients at once on one context: every acknowledged write is there, nothing is a 5xx."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import httpx
import pytest
from api_server import ApiServer, Caller

CLIENTS = 64


@pytest.mark.timeout(120)
async def test_all_kinds_of_writes_at_once(server: ApiServer, uc: Caller) -> None:
    name = uc.context("first")
    statuses: Counter[tuple[str, int]] = Counter()
    acknowledged: list[str] = []
    limits = httpx.Limits(max_connections=CLIENTS)
    headers = {"Authorization": f"Bearer {uc.key}"}
    async with httpx.AsyncClient(
        base_url=server.url, headers=headers, limits=limits, timeout=60, verify=False
    ) as http:

        async def client(number: int) -> None:
            for turn in range(4):
                text = f"{number}-{turn}"
                sent: list[tuple[str, str, Any]] = [
                    ("POST", f"/contexts/{name}", {"content": text}),
                    ("PATCH", f"/contexts/{name}", {"index": 0, "content": text}),
                    ("POST", "/contexts", {"from": name}),
                    ("GET", f"/contexts/{name}", None),
                ]
                method, path, body = sent[(number + turn) % 4]
                more = {} if body is None else {"json": body}
                got = await http.request(method, path, **more)
                statuses[method, got.status_code] += 1
                if path.endswith(name) and method == "POST" and got.status_code == 201:
                    acknowledged.append(text)

        async with asyncio.TaskGroup() as group:
            for number in range(CLIENTS):
                group.create_task(client(number))
    assert {status for _, status in statuses} == {200, 201}
    messages = uc.get(f"/contexts/{name}", history="true").json()
    contents = [m["content"] for m in messages["data"]]
    assert sorted(contents[1:]) == sorted(acknowledged)
    assert len(acknowledged) == CLIENTS
    assert messages["version"] == CLIENTS
    assert [v["version"] for v in messages["versions"]] == list(range(CLIENTS + 1))
    assert uc.get(f"/contexts/{name}/verify").json()["sound"] is True


@pytest.mark.timeout(60)
async def test_of_writers_that_expect_one_version_one_wins(server: ApiServer, uc: Caller) -> None:
    name = uc.context("a")
    headers = {"Authorization": f"Bearer {uc.key}"}
    async with httpx.AsyncClient(
        base_url=server.url, headers=headers, timeout=60, verify=False
    ) as http:
        found: list[int] = []

        async def client(number: int) -> None:
            body = {"index": 0, "content": str(number)}
            path = f"/contexts/{name}?expected_version=0"
            found.append((await http.patch(path, json=body)).status_code)

        async with asyncio.TaskGroup() as group:
            for number in range(16):
                group.create_task(client(number))
    assert Counter(found) == {200: 1, 409: 15}
    assert uc.version(name) == 1


@pytest.mark.timeout(60)
async def test_one_request_sent_by_many_at_once_is_done_once(server: ApiServer, uc: Caller) -> None:
    headers = {"Authorization": f"Bearer {uc.key}"}
    name = "ctx_" + "e5" * 12
    uc.post("/contexts", {"id": name})
    async with httpx.AsyncClient(
        base_url=server.url, headers=headers, timeout=60, verify=False
    ) as http:

        async def client() -> None:
            event = {"content": "x", "metadata": {"event_id": "one"}}
            paths: list[tuple[str, str, Any]] = [
                ("POST", "/contexts", {"id": name}),
                ("POST", f"/contexts/{name}", event),
                ("POST", f"/contexts/{name}?operation_id=two", [{"content": "y"}]),
                ("PATCH", f"/contexts/{name}?operation_id=three", {"updates": []}),
            ]
            for method, path, body in paths:
                got = await http.request(method, path, json=body)
                assert got.status_code in (200, 201), got.text

        async with asyncio.TaskGroup() as group:
            for _ in range(12):
                group.create_task(client())
    assert sorted(uc.contents(name)) == ["x", "y"]
    assert uc.version(name) == 1
