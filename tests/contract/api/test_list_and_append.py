"""Section 1.8: lists and appends."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from api_server import Caller, refused

UNKNOWN = "ctx_" + "0" * 24


def listed(uc: Caller, **params: Any) -> list[str]:
    found = uc.get("/contexts", **params)
    assert found.status_code == 200, found.text
    return [row["id"] for row in found.json()["data"]]


def test_newest_first_whatever_happened_later(uc: Caller) -> None:
    names = []
    for _ in range(3):
        names.append(uc.context())
        time.sleep(0.003)
    uc.post(f"/contexts/{names[0]}", {"content": "late"})
    assert listed(uc) == names[::-1]
    row = uc.get("/contexts").json()["data"][0]
    assert set(row) == {"id", "metadata", "created_at", "updated_at"}


def test_filters_are_exact_and_all_hold(uc: Caller) -> None:
    a = uc.context(metadata={"source": "s", "user_id": "u", "host": "h"})
    b = uc.context(metadata={"source": "s", "project_path": "/p", "session_id": "1"})
    assert set(listed(uc, source="s")) == {a, b}
    assert listed(uc, source="s", user_id="u") == [a]
    assert listed(uc, host="h") == [a]
    assert listed(uc, project_path="/p") == [b]
    assert listed(uc, session_id="1") == [b]
    assert listed(uc, source="S") == []
    assert listed(uc, source="s", host="other") == []
    assert set(listed(uc, source="", unknown="x")) == {a, b}


def test_any_key_of_the_metadata_filters(uc: Caller) -> None:
    a = uc.context(metadata={"branched_from": "x", "n": 5, "yes": True, "a.b": "c"})
    uc.context(metadata={"branched_from": "y", "n": 6})
    uc.context(metadata=["no object"])
    assert listed(uc, **{"metadata.branched_from": "x"}) == [a]
    assert listed(uc, **{"metadata.n": "5"}) == [a]
    assert listed(uc, **{"metadata.yes": "true"}) == [a]
    assert listed(uc, **{"metadata.a.b": "c"}) == [a]
    assert listed(uc, **{"metadata.none": "x"}) == []


def test_after_and_before_are_strict(uc: Caller) -> None:
    name = uc.context()
    made = uc.get("/contexts").json()["data"][0]["created_at"]
    assert listed(uc, after=made) == listed(uc, before=made) == []
    assert listed(uc, after="2020-01-01") == listed(uc, before="2035-01-01") == [name]
    assert listed(uc, after="", before="") == [name]


@pytest.mark.parametrize("key", ["after", "before"])
@pytest.mark.parametrize("value", ["nope", "1764511200000", "2026-13-01"])
def test_bounds_that_are_none(uc: Caller, key: str, value: str) -> None:
    refused(uc.get("/contexts", **{key: value}), 400, f"Invalid {key} timestamp")


@pytest.mark.parametrize("text", ["2026", "Mon Nov 30 2026 13:58:24 GMT+0000", "2026-11"])
def test_bounds_as_javascript_takes_them(uc: Caller, text: str) -> None:
    assert uc.get("/contexts", after=text).status_code == 200


@pytest.mark.parametrize("limit", ["0", "-1", "1001", "x", "", "1.5", "1e2", "9" * 30, "+5", "٣"])
def test_limits_that_are_none(uc: Caller, limit: str) -> None:
    refused(uc.get("/contexts", limit=limit), 400, "limit must be an integer from 1 to 1000")


def test_default_limit_and_pages(uc: Caller) -> None:
    names = {uc.context() for _ in range(45)}
    assert len(listed(uc)) == 20
    assert set(listed(uc, limit=1000)) == names
    seen: list[str] = []
    cursor, pages = None, 0
    while pages == 0 or cursor is not None:
        page = uc.get("/contexts", limit=10, **({"cursor": cursor} if cursor else {})).json()
        seen += [row["id"] for row in page["data"]]
        cursor, pages = page.get("next_cursor"), pages + 1
    assert pages == 5
    assert (len(seen), set(seen)) == (45, names)


@pytest.mark.parametrize("cursor", ["x", "é", "AAAA", "../..", "eyJ9", "\x00"])
def test_a_cursor_of_nobody(uc: Caller, cursor: str) -> None:
    refused(uc.get("/contexts", cursor=cursor), 400, "Invalid cursor")


def test_a_new_context_between_pages_repeats_and_skips_none(uc: Caller) -> None:
    names = [uc.context() for _ in range(4)]
    first = uc.get("/contexts", limit=2).json()
    uc.context()
    second = uc.get("/contexts", limit=10, cursor=first["next_cursor"]).json()
    seen = [row["id"] for row in first["data"] + second["data"]]
    assert sorted(seen) == sorted(names)


# append


@pytest.mark.parametrize("body", [{"a": 1}, [{"a": 1}], {}, [{}], [{}, {}]])
def test_one_message_or_several(uc: Caller, body: Any) -> None:
    name = uc.context("first")
    found = uc.post(f"/contexts/{name}", body)
    assert found.status_code == 201
    assert set(found.json()) == {"data", "version"}
    count = len(body) if isinstance(body, list) else 1
    assert [m["index"] for m in found.json()["data"]] == list(range(1, 1 + count))
    assert found.json()["version"] == 0
    assert len(uc.ids(name)) == 1 + count


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ([], "Request body must be a message or a non-empty array of messages"),
        (None, "Each message must be an object"), ("text", "Each message must be an object"),
        (5, "Each message must be an object"), ([None], "Each message must be an object"),
        (["a"], "Each message must be an object"),
        ([{"a": 1}, []], "Each message must be an object"),
    ],
)  # fmt: skip
def test_what_is_no_message(uc: Caller, body: Any, text: str) -> None:
    name = uc.context()
    refused(uc.post(f"/contexts/{name}", body), 400, text)
    refused(uc.post(f"/contexts/{UNKNOWN}", body), 400, text)
    assert uc.contents(name) == []


@pytest.mark.parametrize(
    "raw", [b"", b"{", b"nope", b'{"a":NaN}', b'{"a":1e999}', b"\xff", b'"\x01"']
)
def test_what_is_no_json(uc: Caller, raw: bytes) -> None:
    refused(uc.post(f"/contexts/{uc.context()}", raw=raw), 400, "Invalid JSON body")


def test_the_content_type_is_not_looked_at(uc: Caller) -> None:
    name = uc.context()
    for headers in ({}, {"Content-Type": "text/plain"}, {"Content-Type": "x"}):
        assert uc.post(f"/contexts/{name}", raw=b'{"a":1}', headers=headers).status_code == 201


def test_unknown_context(uc: Caller) -> None:
    refused(uc.post(f"/contexts/{UNKNOWN}", {"a": 1}), 404, "Context not found")
    refused(uc.post("/contexts/x", {"a": 1}), 404, "Context not found")


@pytest.mark.parametrize("metadata", [None, {}, {"a": 1}, ["x"], "text", 5])
def test_metadata_is_split_out(uc: Caller, metadata: Any) -> None:
    name = uc.context()
    found = uc.post(f"/contexts/{name}", {"content": "a", "metadata": metadata}).json()["data"][0]
    assert found["metadata"] == ({} if metadata is None else metadata)
    assert uc.get(f"/contexts/{name}").json()["data"] == [found]


def test_an_append_makes_no_version_and_goes_to_the_newest(uc: Caller) -> None:
    name = uc.context("a")
    uc.patch(f"/contexts/{name}", {"index": 0, "content": "A"})
    assert uc.post(f"/contexts/{name}", {"content": "b"}).json()["version"] == 1
    assert uc.contents(name) == ["A", "b"]
    assert uc.contents(name, version="0") == ["a"]


def test_an_event_id_is_stored_once(uc: Caller) -> None:
    name = uc.context()
    message = {"content": "a", "metadata": {"event_id": "e-1"}}
    first = uc.post(f"/contexts/{name}", message)
    again = uc.post(f"/contexts/{name}", [{**message, "content": "other"}, {"content": "b"}])
    assert again.status_code == 201
    stored, fresh = again.json()["data"]
    assert stored == {**first.json()["data"][0], "duplicate": True}
    assert "duplicate" not in fresh
    assert uc.contents(name) == ["a", "b"]
    twice = [{"content": n, "metadata": {"event_id": "e-2"}} for n in range(2)]
    assert [m.get("duplicate") for m in uc.post(f"/contexts/{name}", twice).json()["data"]] == [
        None, True,
    ]  # fmt: skip
    other = uc.context(message)
    assert uc.contents(other) == ["a"]
    odd = [{"content": 1, "metadata": {"event_id": 5}}, {"content": 2, "metadata": {"event_id": 5}}]
    assert uc.post(f"/contexts/{other}", odd).status_code == 201
    assert uc.contents(other) == ["a", 1, 2]


def test_an_append_repeated_by_operation_id_is_done_once(uc: Caller) -> None:
    name = uc.context()
    params = {"operation_id": "append-1"}
    first = uc.post(f"/contexts/{name}", [{"content": "a"}, {"content": "b"}], params=params)
    again = uc.post(f"/contexts/{name}", [{"content": "a"}, {"content": "b"}], params=params)
    assert again.status_code == 201
    assert [m["id"] for m in again.json()["data"]] == [m["id"] for m in first.json()["data"]]
    assert all(m["duplicate"] for m in again.json()["data"])
    assert uc.contents(name) == ["a", "b"]


FAITHFUL: list[Any] = [
    "a\0b", "\ud83d", "\udc00\ud800", "\U0001f600", "", " ", "\u2028", "\x7f\x80", "é" * 10,
    2**53 + 1, 2**63, 2**64, -(2**80), 10**300, 0, -0.0, 1.5, 1e-300, 1e300, 0.1, True, False, None,
    [], {}, [[]], {"": {"": ""}}, {"b": 1, "a": 2, "aa": 0, "Z": 3}, {"\0": "\0"}, {"\ud800": 1},
    {"__proto__": 1, "constructor": None}, [None, [None]], {"a": [1, {"b": [2, {"c": []}]}]},
    "x" * 300_000, "\\u0000", '"quoted"\\', "\r\n\t",
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(FAITHFUL)))
def test_values_come_back_as_they_were_sent(uc: Caller, number: int) -> None:
    value = FAITHFUL[number]
    name = uc.post("/contexts", {"metadata": {"v": value}}).json()["id"]
    message = {"z": value, "content": value, "a": [value], "metadata": {"m": value}}
    appended = uc.post(f"/contexts/{name}", message)
    assert appended.status_code == 201, appended.text
    for answer in (appended, uc.get(f"/contexts/{name}")):
        found = json.loads(answer.content)["data"][0]
        assert same(found["content"], value)
        assert same(found["metadata"], {"m": value})
        assert [k for k in found if k not in ("id", "index", "metadata")] == ["z", "content", "a"]
    changed = uc.patch(f"/contexts/{name}", {"index": 0, "other": value})
    assert changed.status_code == 200, changed.text
    assert same(json.loads(changed.content)["data"][0], {
        "z": value, "content": value, "a": [value], "other": value,
        "id": json.loads(changed.content)["data"][0]["id"], "index": 0, "metadata": {"m": value},
    })  # fmt: skip
    assert same(json.loads(uc.get("/contexts").content)["data"][0]["metadata"], {"v": value})


def same(found: Any, sent: Any) -> bool:
    """Equal, in the same order, with integers as integers."""
    return json.dumps(found) == json.dumps(sent)


def test_nesting(uc: Caller) -> None:
    name = uc.context()
    deep: Any = "x"
    for _ in range(150):
        deep = [deep]
    assert uc.post(f"/contexts/{name}", {"content": deep}).status_code == 201
    assert uc.contents(name) == [deep]
    for depth in (400, 5000, 200_000):
        raw = b'{"a":' + b"[" * depth + b"]" * depth + b"}"
        refused(uc.post(f"/contexts/{name}", raw=raw), 400, "Invalid JSON body")


def test_a_20_mb_message(uc: Caller) -> None:
    name = uc.context()
    text = "line of text\n" * 1_600_000
    assert uc.post(f"/contexts/{name}", {"content": text}).status_code == 201
    assert uc.contents(name) == [text]
