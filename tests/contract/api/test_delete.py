"""Section 1.7: DELETE removes messages, or, asked in so many words, the context."""

from __future__ import annotations

from typing import Any

import pytest
from api_server import Caller, refused

UNKNOWN = "ctx_" + "0" * 24
WORDS = 'Body must contain "ids" (delete messages) or {"permanent": true} (delete entire context)'
JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize(
    ("raw", "headers"),
    [
        (None, {}), (None, JSON), (b"", JSON), (b"  ", JSON), (b"{}", JSON), (b"{}", {}),
        (b'{"permanent":true}', {}), (b'{"permanent":true}', {"Content-Type": "text/plain"}),
        (b"anything", {"Content-Type": "text/plain"}), (b'{"permanent":"true"}', JSON),
        (b'{"permanent":1}', JSON), (b'{"permanent":false}', JSON), (b'{"metadata":{}}', JSON),
        (b'{"Permanent":true}', JSON), (b'{"id":"x"}', JSON), (b'{"permanent":null}', JSON),
    ],
)  # fmt: skip
def test_whatever_is_ambiguous_wipes_nothing(
    uc: Caller, raw: bytes | None, headers: dict[str, str]
) -> None:
    name = uc.context("a")
    refused(uc.delete(f"/contexts/{name}", raw=raw, headers=headers), 400, WORDS)
    refused(uc.delete(f"/contexts/{UNKNOWN}", raw=raw, headers=headers), 400, WORDS)
    assert uc.contents(name) == ["a"]


@pytest.mark.parametrize("raw", [b"{", b"nope", b"\xff", b"{} {}"])
def test_what_is_no_json(uc: Caller, raw: bytes) -> None:
    found = uc.delete(f"/contexts/{UNKNOWN}", raw=raw, headers=JSON)
    refused(found, 400, "Invalid JSON body")


@pytest.mark.parametrize("body", [[], None, "x", 5, [0], ["msg"]])
def test_what_is_no_object(uc: Caller, body: Any) -> None:
    found = uc.delete(f"/contexts/{UNKNOWN}", body)
    refused(found, 400, "Request body must be a JSON object")


@pytest.mark.parametrize("ids", [[], None, 0, "x"])
def test_both_at_once(uc: Caller, ids: Any) -> None:
    text = 'Cannot combine "permanent" and "ids" in the same request — pick one'
    refused(uc.delete(f"/contexts/{UNKNOWN}", {"permanent": True, "ids": ids}), 400, text)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({"ids": None}, "ids is required"), ({"ids": []}, "ids must be a non-empty array"),
        ({"ids": {}}, "Each id must be a string or integer index"),
        ({"ids": True}, "Each id must be a string or integer index"),
        ({"ids": 0.5}, "Each id must be a string or integer index"),
        ({"ids": [0, None]}, "Each id must be a string or integer index"),
        ({"ids": [[0]]}, "Each id must be a string or integer index"),
        ({"ids": [0], "metadata": 5}, "metadata must be an object"),
        ({"ids": [0], "metadata": []}, "metadata must be an object"),
    ],
)  # fmt: skip
def test_faults_of_the_body_come_before_the_context(uc: Caller, body: Any, text: str) -> None:
    refused(uc.delete(f"/contexts/{UNKNOWN}", body), 400, text)


@pytest.mark.parametrize(
    ("ids", "left"),
    [
        (0, "bcd"), (-1, "abc"), ([0, 1], "cd"), ([0, -1], "bc"), ([1, 1, -3], "acd"),
        ([0, 1, 2, 3], ""), ([3, 0], "bc"), ("ID1", "acd"), (["ID0", 2], "bd"), ([1.0], "acd"),
    ],
)  # fmt: skip
def test_messages_go_by_id_and_index(uc: Caller, ids: Any, left: str) -> None:
    name = uc.context(*"abcd")
    known = uc.ids(name)

    def named(one: Any) -> Any:
        return known[int(one[2:])] if isinstance(one, str) else one

    given = [named(one) for one in ids] if isinstance(ids, list) else named(ids)
    found = uc.delete(f"/contexts/{name}", {"ids": given})
    assert found.status_code == 200
    assert set(found.json()) == {"data", "version"}
    assert [m["content"] for m in found.json()["data"]] == list(left)
    assert [m["index"] for m in found.json()["data"]] == list(range(len(left)))
    assert found.json()["version"] == 1
    assert uc.contents(name, version="0") == list("abcd")


def test_metadata_is_the_versions_and_affected_keeps_the_order(uc: Caller) -> None:
    name = uc.context(*"abc")
    ids = uc.ids(name)
    uc.delete(f"/contexts/{name}", {"ids": [2, ids[0], 0], "metadata": {"why": "x"}})
    version = uc.get(f"/contexts/{name}", history="true").json()["versions"][1]
    assert version["operation"] == "delete"
    assert version["affected"] == [ids[2], ids[0], ids[0]]
    assert version["metadata"] == {"why": "x"}


@pytest.mark.parametrize("one", ["msg_" + "0" * 24, "x", ""])
def test_a_message_that_is_not_there(uc: Caller, one: str) -> None:
    name = uc.context("a")
    refused(uc.delete(f"/contexts/{name}", {"ids": [0, one]}), 404, f"Message not found: {one}")
    assert uc.version(name) == 0


@pytest.mark.parametrize("index", [1, -2, 99, 10**40])
def test_an_index_beyond_the_ends(uc: Caller, index: int) -> None:
    name = uc.context("a")
    refused(uc.delete(f"/contexts/{name}", {"ids": [index]}), 400, f"Index out of range: {index}")


def test_unknown_context(uc: Caller) -> None:
    refused(uc.delete(f"/contexts/{UNKNOWN}", {"ids": [0]}), 404, "Context not found")
    refused(uc.delete(f"/contexts/{UNKNOWN}", {"permanent": True}), 404, "Context not found")


def test_a_wipe(uc: Caller) -> None:
    name = uc.context("a")
    found = uc.delete(f"/contexts/{name}", {"permanent": True, "metadata": {"by": "me"}})
    assert (found.status_code, found.json()) == (
        200, {"deleted": True, "id": name, "metadata": {"by": "me"}},
    )  # fmt: skip
    refused(uc.delete(f"/contexts/{name}", {"permanent": True}), 404, "Context not found")
    refused(uc.get(f"/contexts/{name}"), 404, "Context not found")
    refused(uc.post(f"/contexts/{name}", {"a": 1}), 404, "Context not found")
    assert uc.get("/contexts").json()["data"] == []
    assert [e["operation"] for e in uc.get(f"/contexts/{name}/log").json()["data"]] == ["wipe"]
    assert uc.get(f"/v1/tombstones/{name}").json()["id"] == name
    assert [t["id"] for t in uc.get("/v1/tombstones").json()["data"]] == [name]


@pytest.mark.parametrize("metadata", ["text", 5, None, []])
def test_metadata_of_a_wipe_that_is_no_object_is_left_out(uc: Caller, metadata: Any) -> None:
    name = uc.context("a")
    found = uc.delete(f"/contexts/{name}", {"permanent": True, "metadata": metadata})
    assert found.json() == {"deleted": True, "id": name}


def test_a_wipe_takes_forks_only_where_that_is_said(uc: Caller) -> None:
    name = uc.context("a")
    fork = uc.post("/contexts", {"from": name}).json()["id"]
    found = uc.delete(f"/contexts/{name}", {"permanent": True, "forks": False}).json()
    assert [kept["id"] for kept in found["kept_forks"]] == [fork]
    assert found["contexts"] == [name]
    assert uc.contents(fork) == ["a"]
    info = uc.get(f"/contexts/{fork}/info").json()
    assert (info["origin"]["source"], info["origin_wiped"]) == (name, True)
    second = uc.post("/contexts", {"from": fork}).json()["id"]
    gone = uc.delete(f"/contexts/{fork}", {"permanent": True, "forks": True}).json()
    assert gone["contexts"] == [fork, second]
    refused(uc.get(f"/contexts/{second}"), 404, "Context not found")
    refused(
        uc.delete(f"/contexts/{UNKNOWN}", {"permanent": True, "forks": "yes"}), 400,
        "forks must be true or false",
    )  # fmt: skip


def test_delete_many(uc: Caller) -> None:
    a, b = uc.context("a"), uc.context("b")
    found = uc.post("/contexts/delete-many", {"ids": [a, UNKNOWN, b, a]})
    assert found.status_code == 207
    missing = {"deleted": False, "error": "Not found"}
    assert found.json() == {
        "results": [
            {"id": a, "deleted": True}, {"id": UNKNOWN, **missing},
            {"id": b, "deleted": True}, {"id": a, **missing},
        ],
        "deleted_count": 2,
    }  # fmt: skip
    none = uc.post("/contexts/delete-many", {"ids": [a]})
    assert (none.status_code, none.json()["deleted_count"]) == (207, 0)
    all_ = uc.post("/contexts/delete-many", {"ids": [uc.context() for _ in range(3)]})
    assert (all_.status_code, all_.json()["deleted_count"]) == (200, 3)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ([], "Request body must be a JSON object"), (None, "Request body must be a JSON object"),
        ("x", "Request body must be a JSON object"),
        ({}, "ids must be a non-empty array of context IDs"),
        ({"ids": "x"}, "ids must be a non-empty array of context IDs"),
        ({"ids": []}, "ids must be a non-empty array of context IDs"),
        ({"ids": ["x"] * 101}, "ids must contain at most 100 items"),
        ({"ids": [5] * 101}, "ids must contain at most 100 items"),
        ({"ids": ["x", 5]}, "Each id must be a string"),
        ({"ids": [None]}, "Each id must be a string"),
    ],
)  # fmt: skip
def test_faults_of_delete_many(uc: Caller, body: Any, text: str) -> None:
    refused(uc.post("/contexts/delete-many", body), 400, text)


@pytest.mark.parametrize("raw", [b"", b"{", b"\xff"])
def test_delete_many_of_no_json(uc: Caller, raw: bytes) -> None:
    found = uc.post("/contexts/delete-many", raw=raw)
    refused(found, 400, "Request body must be a JSON object")


def test_a_tombstone_is_put_and_lifted(uc: Caller) -> None:
    name = "ctx_" + "c3" * 12
    stone = {"wiped_at": "2026-11-30T12:00:00.000Z", "reason": "forget", "agent": "x"}
    assert uc.send("PUT", f"/v1/tombstones/{name}", stone).status_code == 201
    assert uc.get(f"/v1/tombstones/{name}").json()["reason"] == "forget"
    assert uc.delete(f"/v1/tombstones/{name}").json() == {"lifted": True}
    assert uc.send("PUT", f"/v1/tombstones/{name}", {"reason": 5}).status_code == 400
    assert uc.send("PUT", "/v1/tombstones/x", stone).status_code == 400
    refused(uc.get("/v1/tombstones/ctx_none"), 404, "Tombstone not found")
