"""Section 1.5: reading a context, and windows of ours."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from api_server import Caller, refused

UNKNOWN = "ctx_" + "0" * 24
NO_CONTEXT, NO_VERSION = "Context not found", "Version not found"


def test_messages_come_with_id_index_and_metadata(uc: Caller) -> None:
    name = uc.context({"role": "user", "content": "a", "metadata": {"k": 1}}, {"x": [1]})
    body = uc.get(f"/contexts/{name}").json()
    assert set(body) == {"data", "version"}
    first, second = body["data"]
    assert {**first, "id": ""} == {
        "role": "user", "content": "a", "id": "", "index": 0, "metadata": {"k": 1},
    }  # fmt: skip
    assert {**second, "id": ""} == {"x": [1], "id": "", "index": 1, "metadata": {}}
    assert list(first)[-3:] == ["id", "index", "metadata"]


def test_generated_keys_win_over_those_of_the_writer(uc: Caller) -> None:
    name = uc.context({"id": "mine", "index": 99, "metadata": {"m": 1}, "content": "a"})
    message = uc.get(f"/contexts/{name}").json()["data"][0]
    assert message["id"].startswith("msg_")
    assert (message["index"], message["metadata"]) == (0, {"m": 1})


@pytest.mark.parametrize("name", [UNKNOWN, "x", "%00", "ctx_%2F", "ctx_" + "f" * 500, "%ff"])
def test_unknown_contexts(uc: Caller, name: str) -> None:
    refused(uc.get(f"/contexts/{name}", version="x", at="-1"), 404, NO_CONTEXT)


def test_ids_of_messages_are_no_contexts(uc: Caller) -> None:
    refused(uc.get(f"/contexts/{uc.ids(uc.context('a'))[0]}"), 404, NO_CONTEXT)


@pytest.mark.parametrize("before", ["", "nope", "1764511200000", "12", "2026-02-30", "now"])
def test_a_time_that_is_none_is_told_first(uc: Caller, before: str) -> None:
    for name in (UNKNOWN, uc.context("a")):
        refused(
            uc.get(f"/contexts/{name}", before=before, version="9", at="-1"),
            400, "Invalid timestamp format",
        )  # fmt: skip


@pytest.mark.parametrize("version", ["-1", "1", "99", "abc", "", "null", "9" * 40])
def test_versions_that_are_not_there(uc: Caller, version: str) -> None:
    name = uc.context("a")
    refused(uc.get(f"/contexts/{name}", version=version, at="-1"), 404, NO_VERSION)


def test_a_time_before_the_first_version(uc: Caller) -> None:
    found = uc.get(f"/contexts/{uc.context('a')}", before="2020-01-01T00:00:00Z")
    refused(found, 404, "No version found before timestamp")


@pytest.mark.parametrize("at", ["-1", "", "abc", "-2.5", "null"])
def test_indexes_that_are_none(uc: Caller, at: str) -> None:
    refused(uc.get(f"/contexts/{uc.context('a', 'b')}", at=at), 400, "Invalid index")


@pytest.mark.parametrize("at", ["2", "99", "9" * 30])
def test_an_index_beyond_the_end_is_404(uc: Caller, at: str) -> None:
    refused(uc.get(f"/contexts/{uc.context('a', 'b')}", at=at), 404, "Index out of range")


def test_no_index_is_in_an_empty_context(uc: Caller) -> None:
    refused(uc.get(f"/contexts/{uc.context()}", at="0"), 404, "Index out of range")


@pytest.mark.parametrize(("at", "kept"), [("0", "a"), ("1", "ab"), ("1abc", "ab"), (" 2 ", "abc")])
def test_at_is_inclusive(uc: Caller, at: str, kept: str) -> None:
    assert uc.contents(uc.context(*"abc"), at=at) == list(kept)


@pytest.mark.parametrize(("history", "there"), [("true", True), ("1", False), ("True", False)])
def test_only_true_adds_versions(uc: Caller, history: str, there: bool) -> None:
    found = uc.get(f"/contexts/{uc.context('a')}", history=history).json()
    assert ("versions" in found) is there


def test_versions_say_what_was_done(uc: Caller) -> None:
    name = uc.context("a", "b")
    ids = uc.ids(name)
    uc.patch(f"/contexts/{name}", {"updates": [{"index": 1, "content": "B"}], "metadata": {"w": 1}})
    uc.delete(f"/contexts/{name}", {"ids": [0]})
    versions = uc.get(f"/contexts/{name}", history="true").json()["versions"]
    assert [v["version"] for v in versions] == [0, 1, 2]
    assert [v["operation"] for v in versions] == ["create", "update", "delete"]
    assert [v["affected"] for v in versions] == [None, [ids[1]], [ids[0]]]
    assert [v.get("metadata") for v in versions] == [None, {"w": 1}, None]
    assert all(v["created_at"].endswith("Z") for v in versions)


def test_the_version_of_the_answer_is_the_chosen_one(uc: Caller) -> None:
    name = uc.context("a")
    uc.patch(f"/contexts/{name}", {"index": 0, "content": "A"})
    assert uc.get(f"/contexts/{name}").json()["version"] == 1
    assert uc.get(f"/contexts/{name}", version="0").json()["version"] == 0
    assert uc.contents(name, version="0") == ["a"]
    assert uc.contents(uc.context()) == []


def test_before_is_the_state_right_after_the_last_write_until_then(uc: Caller) -> None:
    name = uc.context("a")
    time.sleep(0.005)
    uc.patch(f"/contexts/{name}", {"index": 0, "content": "A"})
    made = uc.get(f"/contexts/{name}", history="true").json()["versions"]
    own = made[1]["created_at"]
    assert uc.contents(name, before=own) == ["A"]
    earlier = datetime.fromisoformat(own) - timedelta(milliseconds=1)
    assert uc.contents(name, before=earlier.isoformat().replace("+00:00", "Z")) == ["a"]


FUTURE = datetime(2035, 12, 30, 13, 58, 24, 94458, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        FUTURE.isoformat(), FUTURE.isoformat().replace("+00:00", "Z"), FUTURE.strftime("%Y-%m-%d"),
        FUTURE.strftime("%Y-%m-%dT%H:%M"), FUTURE.strftime("%Y-%m-%d %H:%M:%S.%f+00"),
        FUTURE.strftime("%Y-%m-%dT%H:%M:%S.%f+05:30"), FUTURE.strftime("%Y"),
        format_datetime(FUTURE), FUTURE.strftime("%b %d, %Y"),
        FUTURE.strftime("%B %d, %Y %H:%M:%S"),
        FUTURE.strftime("%a %b %d %Y %H:%M:%S GMT+0000 (Coordinated Universal Time)"),
        FUTURE.strftime("%d %b %Y"),
    ],
)  # fmt: skip
def test_times_as_javascript_takes_them(uc: Caller, text: str) -> None:
    assert uc.contents(uc.context("a"), before=text) == ["a"]


@pytest.mark.parametrize(
    ("params", "kept"),
    [
        ({"first": "3"}, "de"), ({"last": "2"}, "de"), ({"first": "1", "count": "2"}, "bc"),
        ({"last": "0"}, ""), ({"first": "9"}, ""), ({"last": "99"}, "abcde"), ({"count": "0"}, ""),
        ({"at": "3", "last": "2"}, "cd"), ({"first": "1", "last": "2"}, "de"),
    ],
)  # fmt: skip
def test_windows(uc: Caller, params: dict[str, str], kept: str) -> None:
    name = uc.context(*"abcde")
    found = uc.get(f"/contexts/{name}", **params).json()
    assert [m["content"] for m in found["data"]] == list(kept)
    assert found["total"] == (4 if "at" in params else 5)
    assert [m["index"] for m in found["data"]] == ["abcde".index(c) for c in kept]


@pytest.mark.parametrize("params", [{"first": "-1"}, {"last": "x"}, {"count": ""}])
def test_windows_that_are_none(uc: Caller, params: dict[str, str]) -> None:
    (key,) = params
    refused(
        uc.get(f"/contexts/{uc.context('a')}", **params), 400, f"{key} must be an integer from 0"
    )


def test_a_large_context_comes_whole(uc: Caller) -> None:
    name = uc.context()
    for start in range(0, 2000, 500):
        messages = [{"content": f"{n:06} " + "x" * 600} for n in range(start, start + 500)]
        assert uc.post(f"/contexts/{name}", messages).status_code == 201
    found = uc.get(f"/contexts/{name}", history="true")
    assert len(found.content) > 1_000_000
    body = found.json()
    assert [m["index"] for m in body["data"]] == list(range(2000))
    assert [m["content"][:6] for m in body["data"]] == [f"{n:06}" for n in range(2000)]
    assert body["version"] == 0
    assert len(body["versions"]) == 1
    assert uc.send("HEAD", f"/contexts/{name}").status_code == 200


def test_the_stored_form_has_all_that_is_stored(uc: Caller) -> None:
    name = uc.context({"content": "a", "metadata": {"event_id": "e1"}, "created_at": "mine"})
    found = uc.get(f"/contexts/{name}", form="stored").json()
    message: dict[str, Any] = found["data"][0]
    assert json.loads(message["content_json"]) == {"content": "a", "created_at": "mine"}
    assert message["metadata"] == {"event_id": "e1"}
    assert message["created_at"].endswith("Z")
    assert found["id"] == name


def test_info_log_versions_verify_and_forks(uc: Caller) -> None:
    name = uc.context("a", metadata={"k": 1})
    fork = uc.post("/contexts", {"from": name, "at": 0}).json()["id"]
    info = uc.get(f"/contexts/{name}/info").json()
    assert (info["id"], info["metadata"], info["version"], info["messages"]) == (
        name, {"k": 1}, 0, 1,
    )  # fmt: skip
    assert uc.get(f"/contexts/{fork}/info").json()["origin"]["source"] == name
    assert uc.get(f"/contexts/{name}/verify").json()["sound"] is True
    assert [f["id"] for f in uc.get(f"/contexts/{name}/forks").json()["data"]] == [fork]
    assert [v["operation"] for v in uc.get(f"/contexts/{name}/versions").json()["data"]] == [
        "create"
    ]
    assert [e["operation"] for e in uc.get(f"/contexts/{fork}/log").json()["data"]] == ["fork"]
    for part in ("info", "log", "verify", "forks", "versions", "diff"):
        refused(uc.get(f"/contexts/{UNKNOWN}/{part}"), 404, NO_CONTEXT)


def test_diff(uc: Caller) -> None:
    name = uc.context("a", "b", "c")
    uc.patch(f"/contexts/{name}", {"index": 0, "content": "A"})
    uc.delete(f"/contexts/{name}", {"ids": 1})
    newest = uc.get(f"/contexts/{name}/diff").json()
    assert (newest["a"], newest["b"]) == (1, 2)
    assert [m["content"] for m in newest["removed"]] == ["b"]
    whole = uc.get(f"/contexts/{name}/diff", a="0", b="2").json()
    pair = whole["changed"][0]
    assert (pair["before"]["content"], pair["after"]["content"]) == ("a", "A")
    assert whole["added"] == []
    refused(uc.get(f"/contexts/{name}/diff", a="0", b="9"), 404, NO_VERSION)
    refused(uc.get(f"/contexts/{name}/diff", a="x"), 404, NO_VERSION)
