"""Sections 1.2 to 1.4: create and fork, in the order of their checks."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest
from api_server import Caller, refused

ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
UNKNOWN = "ctx_" + "0" * 24


def test_create_gives_id_metadata_and_time(uc: Caller) -> None:
    found = uc.post("/contexts", {"metadata": {"a": [1, None, "x"]}})
    assert found.status_code == 201
    body = found.json()
    assert set(body) == {"id", "metadata", "created_at"}
    assert re.fullmatch(r"ctx_[0-9a-f]{24}", body["id"])
    assert body["metadata"] == {"a": [1, None, "x"]}
    assert ISO.fullmatch(body["created_at"])


@pytest.mark.parametrize("raw", [b"", b"  ", b"{", b"not json", b'{"a":}', b"\xff", b"{} {}"])
def test_missing_and_malformed_bodies_make_an_empty_context(uc: Caller, raw: bytes) -> None:
    for headers in ({}, {"Content-Type": "application/json"}):
        found = uc.post("/contexts", raw=raw, headers=headers)
        assert (found.status_code, found.json()["metadata"]) == (201, {})


@pytest.mark.parametrize("body", [None, [], "text", 5, True])
def test_a_body_that_is_no_object_is_refused(uc: Caller, body: Any) -> None:
    refused(uc.post("/contexts", body), 400, "Request body must be a JSON object")


@pytest.mark.parametrize("metadata", [["a", 1], "text", 7, True, {"x": {"y": [{}]}}, [], {}])
def test_metadata_is_stored_and_given_back_whatever_it_is(uc: Caller, metadata: Any) -> None:
    made = uc.post("/contexts", {"metadata": metadata, "unknown": 1})
    assert (made.status_code, made.json()["metadata"]) == (201, metadata)
    listed = uc.get("/contexts").json()["data"][0]
    assert (listed["id"], listed["metadata"]) == (made.json()["id"], metadata)


def test_no_metadata_is_an_empty_object(uc: Caller) -> None:
    assert uc.post("/contexts", {}).json()["metadata"] == {}
    assert uc.post("/contexts", {"metadata": None}).json()["metadata"] == {}


@pytest.mark.parametrize("before", [None, 5, "nope", "1764511200000", "", [], "2026-13-01"])
@pytest.mark.parametrize("source", [None, UNKNOWN])
def test_check_1_a_time_that_is_none_wins_over_all(
    uc: Caller, before: Any, source: str | None
) -> None:
    body = {"before": before, "version": 9, **({} if source is None else {"from": source})}
    refused(uc.post("/contexts", body), 400, "Invalid timestamp format")


@pytest.mark.parametrize(
    "body",
    [
        {"version": 0}, {"at": 0}, {"before": "2026-01-01T00:00:00Z"}, {"version": None},
        {"at": None}, {"from": "", "version": 0}, {"from": None, "at": 1}, {"from": 0, "at": 1},
    ],
)  # fmt: skip
def test_check_2_the_rest_needs_from(uc: Caller, body: Any) -> None:
    refused(uc.post("/contexts", body), 400, "version, at, and before require from")


@pytest.mark.parametrize(
    "source", [UNKNOWN, "x", "msg_" + "0" * 24, 5, ["x"], {"a": 1}, "\0", True]
)
def test_check_3_the_source_is_a_context_of_this_space(uc: Caller, source: Any) -> None:
    refused(uc.post("/contexts", {"from": source}), 404, "Source context not found")
    late = {"from": source, "version": "abc", "at": -1}
    refused(uc.post("/contexts", late), 404, "Source context not found")


def test_check_3_ids_of_messages_are_no_contexts(uc: Caller) -> None:
    name = uc.context("a")
    refused(uc.post("/contexts", {"from": uc.ids(name)[0]}), 404, "Source context not found")


@pytest.mark.parametrize("version", [None, "abc", -1, 1, 99, "", True, 10**30, [0]])
def test_check_4_the_version_is_there(uc: Caller, version: Any) -> None:
    name = uc.context("a")
    refused(uc.post("/contexts", {"from": name, "version": version}), 404, "Version not found")


@pytest.mark.parametrize("version", [0, "0", 0.0, "0x", " 0"])
def test_check_4_versions_are_read_as_integers(uc: Caller, version: Any) -> None:
    name = uc.context("a")
    made = uc.post("/contexts", {"from": name, "version": version})
    assert made.status_code == 201
    assert uc.contents(made.json()["id"]) == ["a"]


def test_check_4_before_the_first_version(uc: Caller) -> None:
    name = uc.context("a")
    body = {"from": name, "before": "2020-01-01T00:00:00Z"}
    refused(uc.post("/contexts", body), 404, "No version found before timestamp")


@pytest.mark.parametrize("at", [-1, 2, 99, "abc", None, "", "-1", True, 10**30, []])
def test_check_6_the_index_is_there(uc: Caller, at: Any) -> None:
    name = uc.context("a", "b")
    refused(uc.post("/contexts", {"from": name, "at": at}), 400, "Invalid index")


def test_check_6_no_index_is_in_an_empty_context(uc: Caller) -> None:
    refused(uc.post("/contexts", {"from": uc.context(), "at": 0}), 400, "Invalid index")


@pytest.mark.parametrize(("at", "kept"), [(0, "a"), (1, "ab"), ("2x", "abc"), (2.0, "abc")])
def test_messages_0_to_at_are_taken(uc: Caller, at: Any, kept: str) -> None:
    made = uc.post("/contexts", {"from": uc.context(*"abc"), "at": at})
    assert uc.contents(made.json()["id"]) == list(kept)


def test_a_fork_has_ids_and_metadata_of_its_own(uc: Caller) -> None:
    name = uc.context({"content": "a", "metadata": {"m": 1}}, metadata={"of": "source"})
    made = uc.post("/contexts", {"from": name}).json()
    assert made["metadata"] == {}
    assert set(made) == {"id", "metadata", "created_at"}
    theirs = uc.get(f"/contexts/{name}").json()["data"][0]
    ours = uc.get(f"/contexts/{made['id']}").json()
    assert ours["version"] == 0
    assert ours["data"][0] == {**theirs, "id": ours["data"][0]["id"]}
    assert ours["data"][0]["id"] != theirs["id"]


def test_a_fork_of_a_fork_and_of_a_wiped_source_stay(uc: Caller) -> None:
    first = uc.context("a", "b")
    second = uc.post("/contexts", {"from": first}).json()["id"]
    third = uc.post("/contexts", {"from": second, "at": 0}).json()["id"]
    assert uc.delete(f"/contexts/{first}", {"permanent": True}).status_code == 200
    assert uc.contents(second) == ["a", "b"]
    assert uc.contents(third) == ["a"]
    refused(uc.post("/contexts", {"from": first}), 404, "Source context not found")


def test_version_then_before_then_at(uc: Caller) -> None:
    name = uc.context("a", "b")
    time.sleep(0.005)
    uc.patch(f"/contexts/{name}", {"index": 0, "content": "A"})
    time.sleep(0.005)
    until = uc.get(f"/contexts/{name}", history="true").json()["versions"][1]["created_at"]
    uc.post(f"/contexts/{name}", {"content": "c"})
    time.sleep(0.005)
    uc.patch(f"/contexts/{name}", {"index": 1, "content": "B"})

    def forked(**body: Any) -> list[Any]:
        return uc.contents(uc.post("/contexts", {"from": name, **body}).json()["id"])

    assert forked() == ["A", "B", "c"]
    assert forked(version=0) == ["a", "b"]
    assert forked(version=1) == ["A", "b", "c"]
    assert forked(before=until) == ["A", "b"]
    assert forked(version=1, before=until) == ["A", "b"]
    assert forked(version=1, before=until, at=0) == ["A"]


def test_an_id_of_the_writer_makes_one_context(uc: Caller) -> None:
    mine = "ctx_" + "a1" * 12
    first = uc.post("/contexts", {"id": mine, "metadata": {"n": 1}})
    assert (first.status_code, first.json()["id"]) == (201, mine)
    again = uc.post("/contexts", {"id": mine, "metadata": {"n": 1}})
    assert again.status_code == 201
    assert again.json() == {**first.json(), "duplicate": True}
    other = uc.post("/contexts", {"id": mine, "from": uc.context("a")})
    assert other.status_code == 409
    assert len(uc.get("/contexts").json()["data"]) == 2


@pytest.mark.parametrize("name", ["x", "ctx_A" + "0" * 23, "msg_" + "0" * 24, 5, "ctx_", [], ""])
def test_an_id_of_another_form_is_refused(uc: Caller, name: Any) -> None:
    refused(uc.post("/contexts", {"id": name}), 400, "id must be ctx_ and 24 lowercase hex digits")


def test_the_id_of_a_wiped_context_is_not_made_again(uc: Caller) -> None:
    mine = "ctx_" + "b2" * 12
    uc.post("/contexts", {"id": mine})
    uc.delete(f"/contexts/{mine}", {"permanent": True})
    refused(uc.post("/contexts", {"id": mine}), 409, "Context was deleted")


def test_a_fork_repeated_by_operation_id_is_one(uc: Caller) -> None:
    name = uc.context("a")
    made = [
        uc.post("/contexts", {"from": name}, params={"operation_id": "op-1"}).json()
        for _ in range(2)
    ]
    assert made[0]["id"] == made[1]["id"]
    assert "duplicate" not in made[0]
    assert made[1]["duplicate"] is True
