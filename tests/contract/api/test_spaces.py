"""Wall 2 over HTTP: a key of one space meets nothing of another, whatever ids it knows."""

from __future__ import annotations

from typing import Any

import pytest
from api_server import Caller

from ultracontext.store.exchange import ROUTES

BODIES: dict[tuple[str, str], Any] = {
    ("POST", "/contexts/{id}"): {"content": "planted"},
    ("PATCH", "/contexts/{id}"): {"index": 0, "content": "changed"},
    ("DELETE", "/contexts/{id}"): {"permanent": True},
    ("PUT", "/v1/tombstones/{id}"): {"wiped_at": "2026-11-30T12:00:00Z", "reason": "wipe"},
}
WITH_ID = [(route.method, route.path) for route in ROUTES if "{id}" in route.path]
OWN = {("PUT", "/v1/tombstones/{id}"), ("DELETE", "/v1/tombstones/{id}")}
"""These do something in the caller's own space, whatever lies in another."""


def everything(uc: Caller, name: str) -> list[str]:
    paths = ["/contexts", "/v1/tombstones", f"/contexts/{name}?history=true&form=stored"]
    paths += [f"/contexts/{name}/{part}" for part in ("info", "log", "verify", "forks", "versions")]
    return [uc.send("GET", path).text for path in paths]


@pytest.mark.parametrize(("method", "path"), WITH_ID)
def test_every_route_with_a_real_id_of_another_space(make: Any, method: str, path: str) -> None:
    theirs, ours = make(), make()
    name = theirs.context("secret text", metadata={"source": "theirs"})
    message = theirs.ids(name)[0]
    fork = theirs.post("/contexts", {"from": name}).json()["id"]
    before = everything(theirs, name)
    for given in (name, fork, message):
        body = BODIES.get((method, path), {})
        more = {} if method == "GET" else {"body": body}
        found = ours.send(method, path.replace("{id}", given), **more)
        if (method, path) in OWN:
            assert found.status_code in (200, 201, 400)
        else:
            assert found.status_code == 404, found.text
        assert "secret text" not in found.text
    assert everything(theirs, name) == before


def test_forks_lists_batches_and_message_ids(make: Any) -> None:
    theirs, ours = make(), make()
    name = theirs.context("secret text", metadata={"source": "theirs"})
    message = theirs.ids(name)[0]
    before = everything(theirs, name)
    for more in ({}, {"version": 0}, {"at": 0}, {"before": "2035-01-01T00:00:00Z"}):
        found = ours.post("/contexts", {"from": name, **more})
        assert (found.status_code, found.json()["error"]) == (404, "Source context not found")
    assert ours.get("/contexts").json() == {"data": []}
    assert ours.get("/contexts", source="theirs").json() == {"data": []}
    assert ours.post("/contexts/delete-many", {"ids": [name]}).json()["deleted_count"] == 0
    mine = ours.context("mine")
    assert ours.patch(f"/contexts/{mine}", {"id": message, "content": "x"}).status_code == 404
    assert ours.delete(f"/contexts/{mine}", {"ids": message}).status_code == 404
    cursor = ours.get("/contexts", limit=1).json().get("next_cursor")
    assert cursor is None
    for _ in range(2):
        theirs.context()
    foreign = theirs.get("/contexts", limit=1).json()["next_cursor"]
    assert ours.get("/contexts", cursor=foreign).status_code in (200, 400)
    assert "theirs" not in ours.get("/contexts", cursor=foreign).text
    assert everything(theirs, name)[2:] == before[2:]


def test_one_id_in_two_spaces_is_two_contexts(make: Any) -> None:
    one, two = make(), make()
    name = "ctx_" + "d4" * 12
    for caller, text in ((one, "a"), (two, "b")):
        made = caller.post("/contexts", {"id": name})
        assert "duplicate" not in made.json()
        message = {"content": text, "metadata": {"event_id": "same"}}
        assert "duplicate" not in caller.post(f"/contexts/{name}", message).json()["data"][0]
    assert (one.contents(name), two.contents(name)) == (["a"], ["b"])
    one.delete(f"/contexts/{name}", {"permanent": True})
    assert two.contents(name) == ["b"]
    assert two.get("/v1/tombstones").json() == {"data": []}


def test_two_keys_of_one_space_see_the_same(make: Any) -> None:
    one, two = make("shared-space"), make("shared-space")
    name = one.context("a")
    assert two.contents(name) == ["a"]
