"""Section 1.6: PATCH."""

from __future__ import annotations

from typing import Any

import pytest
from api_server import Caller, refused

UNKNOWN = "ctx_" + "0" * 24
ONE: dict[str, Any] = {"index": 0, "content": "A"}


@pytest.mark.parametrize(
    "body",
    [[ONE], {"updates": [ONE]}, ONE, {**ONE, "metadata": {"why": 1}}, {**ONE, "unknown": None}],
)
def test_the_three_forms(uc: Caller, body: Any) -> None:
    name = uc.context("a", "b")
    found = uc.patch(f"/contexts/{name}", body)
    assert found.status_code == 200
    assert set(found.json()) == {"data", "version"}
    assert found.json()["version"] == 1
    assert [m["content"] for m in found.json()["data"]] == ["A", "b"]
    assert uc.contents(name, version="0") == ["a", "b"]


def test_top_level_metadata_is_the_versions(uc: Caller) -> None:
    name = uc.context({"content": "a", "metadata": {"m": 1}})
    for body in ({**ONE, "metadata": {"why": 1}}, {"updates": [ONE], "metadata": {"why": 1}}):
        found = uc.patch(f"/contexts/{name}", body).json()
        assert found["data"][0]["metadata"] == {"m": 1}
    versions = uc.get(f"/contexts/{name}", history="true").json()["versions"]
    assert [v.get("metadata") for v in versions] == [None, {"why": 1}, {"why": 1}]


def test_fields_are_merged_and_null_is_stored(uc: Caller) -> None:
    name = uc.context({"role": "user", "content": "a", "extra": 1})
    body = {"index": 0, "content": None, "new": {"x": 1}}
    message = uc.patch(f"/contexts/{name}", body).json()["data"][0]
    assert message["role"] == "user"
    assert message["content"] is None
    assert (message["extra"], message["new"]) == (1, {"x": 1})


def test_only_the_changed_message_gets_a_new_id(uc: Caller) -> None:
    name = uc.context("a", "b")
    before = uc.ids(name)
    uc.patch(f"/contexts/{name}", ONE)
    after = uc.ids(name)
    assert after[0] != before[0]
    assert after[1] == before[1]


@pytest.mark.parametrize(("index", "changed"), [(0, 0), (2, 2), (-1, 2), (-3, 0), (1.0, 1)])
def test_indexes_count_from_both_ends(uc: Caller, index: Any, changed: int) -> None:
    name = uc.context(*"abc")
    uc.patch(f"/contexts/{name}", [{"index": index, "content": "X"}])
    assert uc.contents(name)[changed] == "X"


@pytest.mark.parametrize("raw", [b"", b"{", b"nope", b"null", b" null ", b"\xff", b"[NaN]"])
def test_what_is_no_json(uc: Caller, raw: bytes) -> None:
    refused(uc.patch(f"/contexts/{UNKNOWN}", raw=raw), 400, "Invalid JSON body")


UPDATE_MUST = "Each update must be an object"
FAULTS: list[tuple[Any, str]] = [
    ("text", "Request body must be a JSON object or array"),
    (5, "Request body must be a JSON object or array"),
    (True, "Request body must be a JSON object or array"),
    ({"updates": [ONE], "metadata": "x"}, "metadata must be an object"),
    ({"updates": [ONE], "metadata": None}, "metadata must be an object"),
    ({"updates": 5, "metadata": []}, "metadata must be an object"),
    ({**ONE, "metadata": 5}, "metadata must be an object"),
    ({"updates": 5}, "updates must be an array"),
    ({"updates": None}, "updates must be an array"),
    ({"updates": {"index": 0}}, "updates must be an array"),
    ([5], UPDATE_MUST), ([None], UPDATE_MUST), ({"updates": ["x"]}, UPDATE_MUST),
    ([ONE, 5], UPDATE_MUST),
    ({"id": "x", "index": 0}, "Cannot specify both id and index"),
    ([{"id": None, "index": None}], "Cannot specify both id and index"),
    ({}, "Either id or index required"), ({"content": "x"}, "Either id or index required"),
    ([{}], "Either id or index required"),
    ({"id": 5}, "id must be a string"), ({"id": None}, "id must be a string"),
    ({"index": "0"}, "index must be an integer"), ({"index": 0.5}, "index must be an integer"),
    ({"index": None}, "index must be an integer"), ({"index": True}, "index must be an integer"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "text"), FAULTS)
def test_faults_of_the_body_come_before_the_context(uc: Caller, body: Any, text: str) -> None:
    refused(uc.patch(f"/contexts/{UNKNOWN}", body), 400, text)
    name = uc.context("a")
    refused(uc.patch(f"/contexts/{name}", body), 400, text)
    assert uc.version(name) == 0


def test_unknown_context(uc: Caller) -> None:
    refused(uc.patch(f"/contexts/{UNKNOWN}", ONE), 404, "Context not found")
    refused(uc.patch(f"/contexts/{UNKNOWN}", []), 404, "Context not found")


@pytest.mark.parametrize("name", ["msg_" + "0" * 24, "nope", "", "msg_A", "\0", "é"])
def test_a_message_that_is_not_there(uc: Caller, name: str) -> None:
    context = uc.context("a")
    found = uc.patch(f"/contexts/{context}", {"id": name, "content": "x"})
    refused(found, 404, f"Message not found: {name}")


def test_ids_of_older_versions_are_not_meant(uc: Caller) -> None:
    name = uc.context("a")
    old = uc.ids(name)[0]
    uc.patch(f"/contexts/{name}", ONE)
    refused(uc.patch(f"/contexts/{name}", {"id": old}), 404, f"Message not found: {old}")


@pytest.mark.parametrize("index", [1, -2, 99, 10**15, -(10**40), 10**40])
def test_an_index_beyond_the_ends(uc: Caller, index: int) -> None:
    name = uc.context("a")
    found = uc.patch(f"/contexts/{name}", {"index": index, "content": "x"})
    refused(found, 400, f"Index out of range: {index}")
    assert uc.version(name) == 0


def test_no_updates_are_a_checkpoint(uc: Caller) -> None:
    name = uc.context("a")
    empty: list[Any] = [[], {"updates": []}]
    for body in empty:
        found = uc.patch(f"/contexts/{name}", body)
        assert found.status_code == 200
        assert [m["content"] for m in found.json()["data"]] == ["a"]
    versions = uc.get(f"/contexts/{name}", history="true").json()["versions"]
    assert [(v["version"], v["operation"], v["affected"]) for v in versions[1:]] == [
        (1, "update", []), (2, "update", []),
    ]  # fmt: skip
    uc.post(f"/contexts/{name}", {"content": "late"})
    assert uc.contents(name, version="1") == ["a"]
    assert uc.contents(name, version="2") == ["a", "late"]


def test_of_two_changes_of_one_message_the_last_wins_whole(uc: Caller) -> None:
    name = uc.context({"content": "a", "x": 0})
    one = uc.ids(name)[0]
    body = [{"index": 0, "x": 1}, {"id": one, "content": "b"}]
    message = uc.patch(f"/contexts/{name}", body).json()["data"][0]
    assert (message["content"], message["x"]) == ("b", 0)
    versions = uc.get(f"/contexts/{name}", history="true").json()["versions"]
    assert versions[1]["affected"] == [one, one]


def test_version_metadata_overwrites_nothing(uc: Caller) -> None:
    name = uc.context("a")
    one = uc.ids(name)[0]
    mine = {"operation": "none", "affected": "nobody", "version": 99}
    uc.patch(f"/contexts/{name}", {"updates": [ONE], "metadata": mine})
    version = uc.get(f"/contexts/{name}", history="true").json()["versions"][1]
    assert (version["operation"], version["affected"], version["version"]) == ("update", [one], 1)
    assert version["metadata"] == mine


def test_message_metadata_is_merged_by_updates(uc: Caller) -> None:
    name = uc.context({"content": "a", "metadata": {"keep": 1, "change": 1}})
    body = [{"index": 0, "metadata": {"change": 2, "null": None}}]
    message = uc.patch(f"/contexts/{name}", body).json()["data"][0]
    assert message["metadata"] == {"keep": 1, "change": 2, "null": None}
    before = uc.get(f"/contexts/{name}", version="0").json()["data"][0]
    assert before["metadata"] == {"keep": 1, "change": 1}


def test_keys_are_removed_only_where_that_is_said(uc: Caller) -> None:
    name = uc.context({"a": 1, "b": 2, "metadata": {"m": 1, "n": 2}})
    body = {"index": 0, "$remove": ["a", "none"], "$remove_metadata": ["m"]}
    message = uc.patch(f"/contexts/{name}", [body]).json()["data"][0]
    assert message == {"b": 2, "id": message["id"], "index": 0, "metadata": {"n": 2}}
    for key in ("$remove", "$remove_metadata"):
        refused(
            uc.patch(f"/contexts/{name}", {"index": 0, key: "a"}), 400,
            f"{key} must be an array of keys",
        )  # fmt: skip


def test_context_metadata_is_edited_with_history(uc: Caller) -> None:
    name = uc.context("a", metadata={"keep": 1, "go": 2})
    body = {"$context": {"metadata": {"new": None}, "remove": ["go"]}}
    assert uc.patch(f"/contexts/{name}", body).status_code == 200
    assert uc.get(f"/contexts/{name}/info").json()["metadata"] == {"keep": 1, "new": None}
    diff = uc.get(f"/contexts/{name}/diff").json()["metadata"]
    assert diff == {"before": {"keep": 1, "go": 2}, "after": {"keep": 1, "new": None}}
    wrongs: list[Any] = [{"$context": 5}, {"$context": {}, "updates": []}]
    for wrong in wrongs:
        found = uc.patch(f"/contexts/{name}", wrong)
        refused(found, 400, "$context must be an object and stand alone")
    text = uc.context(metadata="no object")
    assert uc.patch(f"/contexts/{text}", {"$context": {"metadata": {"a": 1}}}).status_code == 400


def test_minimal_answers(uc: Caller) -> None:
    name = uc.context("a", "b")
    one = uc.ids(name)[0]
    for header in ("return=minimal", "respond-async, return=minimal", "RETURN=Minimal"):
        found = uc.patch(f"/contexts/{name}", {"updates": []}, headers={"Prefer": header})
        assert set(found.json()) == {"version", "affected"}
    found = uc.patch(f"/contexts/{name}", ONE, headers={"Prefer": "return=minimal"})
    assert found.json() == {"version": 4, "affected": [one]}
    gone = uc.delete(f"/contexts/{name}", {"ids": [-1]}, headers={"Prefer": "return=minimal"})
    assert gone.json()["version"] == 5
    whole = uc.patch(f"/contexts/{name}", {"updates": []}, headers={"Prefer": "return=all"})
    assert "data" in whole.json()


def test_expected_version(uc: Caller) -> None:
    name = uc.context("a")
    uc.patch(f"/contexts/{name}", ONE)
    stale = {"expected_version": 0}
    calls: list[Any] = [
        lambda **more: uc.post(f"/contexts/{name}", {"content": "x"}, **more),
        lambda **more: uc.patch(f"/contexts/{name}", ONE, **more),
        lambda **more: uc.delete(f"/contexts/{name}", {"ids": 0}, **more),
    ]
    for call in calls:
        found = call(params=stale)
        assert found.status_code == 409
        assert found.json() == {"error": "Version conflict", "version": 1}
    assert (uc.version(name), uc.contents(name)) == (1, ["A"])
    for call in calls:
        version = uc.version(name)
        assert call(params={"expected_version": version}).status_code in (200, 201)
    refused(
        uc.patch(f"/contexts/{name}", ONE, params={"expected_version": "x"}), 400,
        "expected_version must be an integer from 0",
    )  # fmt: skip


def test_an_edit_repeated_by_operation_id_is_done_once(uc: Caller) -> None:
    name = uc.context("a", "b")
    params = {"operation_id": "edit-1"}
    first = uc.patch(f"/contexts/{name}", ONE, params=params).json()
    again = uc.patch(f"/contexts/{name}", ONE, params=params).json()
    assert again.pop("duplicate") is True
    assert again == first
    params = {"operation_id": "delete-1"}
    gone = [uc.delete(f"/contexts/{name}", {"ids": 0}, params=params).json() for _ in range(2)]
    assert uc.version(name) == 2
    assert gone[1] == {**gone[0], "duplicate": True}
    other = uc.patch(f"/contexts/{name}", {"index": 0, "content": "other"}, params=params)
    assert other.status_code == 409
    for wrong in ("", "x" * 201):
        found = uc.patch(f"/contexts/{name}", ONE, params={"operation_id": wrong})
        assert found.status_code == 400
