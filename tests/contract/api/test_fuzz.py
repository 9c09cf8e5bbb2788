"""Whatever is sent, the answer is JSON with a status that fits, and never a 5xx."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from api_server import ADMIN, ApiServer, Caller
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

texts = st.text(st.characters(codec=None, exclude_categories=()), max_size=12)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.integers(-(10**40), 10**40) | texts
    | st.sampled_from(["ctx_" + "0" * 24, "msg_" + "0" * 24, "2026-11-30T00:00:00Z", -1, 0, 1]),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(
        texts
        | st.sampled_from(
            ["from", "version", "at", "before", "metadata", "id", "index", "ids", "updates",
             "permanent", "name", "role", "forks", "$remove", "$context", "event_id", "content",
             "jsonrpc", "method", "params", "arguments", "limit"]
        ),
        inner,
        max_size=5,
    ),
    max_leaves=12,
)  # fmt: skip
raws = values.map(lambda v: json.dumps(v).encode()) | st.binary(max_size=40)
queries = st.dictionaries(
    st.sampled_from(
        ["version", "at", "before", "history", "first", "last", "count", "salvage", "form", "limit",
         "cursor", "after", "source", "metadata.x", "expected_version", "operation_id", "a", "b"]
    ),
    st.text(max_size=10) | st.integers(-5, 5).map(str)
    | st.sampled_from(["true", "stored", "2026", "9" * 25]),
    max_size=4,
)  # fmt: skip
PATHS = [
    "/contexts", "/contexts/ID", "/contexts/MSG", "/contexts/delete-many", "/contexts/ID/info",
    "/contexts/ID/log", "/contexts/ID/diff", "/contexts/ID/verify", "/contexts/ID/versions",
    "/contexts/ID/forks", "/contexts/ID/repair", "/v1/tombstones", "/v1/tombstones/ID", "/v1/keys",
    "/v1/keys/x", "/mcp", "/contexts/%00", "/contexts/%ed%a0%80", "/contexts/%ff", "/", "/x",
]  # fmt: skip


@pytest.fixture(scope="module")
def callers(server: ApiServer) -> Iterator[dict[str, Caller]]:
    found = {
        "write": server.caller("fuzz"), "masked": server.caller("fuzz", redact=True),
        "admin": Caller(server.url, ADMIN),
    }  # fmt: skip
    yield found
    for caller in found.values():
        caller.close()


@pytest.mark.timeout(180)
@settings(max_examples=250, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    who=st.sampled_from(["write", "write", "masked", "admin"]),
    method=st.sampled_from(["GET", "POST", "PATCH", "DELETE", "PUT"]),
    path=st.sampled_from(PATHS),
    query=queries,
    raw=raws,
    kind=st.sampled_from(["application/json", "text/plain", "application/json; charset=utf-8", ""]),
)
def test_random_requests(
    callers: dict[str, Caller], who: str, method: str, path: str, query: dict[str, str],
    raw: bytes, kind: str,
) -> None:  # fmt: skip
    uc = callers[who]
    writer = callers["write"]
    name = writer.context("a", "b")
    path = path.replace("ID", name).replace("MSG", writer.ids(name)[0] if "MSG" in path else "")
    headers = {"Content-Type": kind} if kind else {}
    found = uc.send(method, path, raw=raw, headers=headers, params=query)
    assert found.status_code < 500, (found.status_code, found.text)
    if found.status_code not in (202, 204):
        body: Any = json.loads(found.content)
        assert found.status_code < 400 or "error" in body


@pytest.mark.timeout(180)
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(content=st.dictionaries(texts, values, max_size=4), metadata=values)
def test_every_message_comes_back_as_it_was_sent(
    callers: dict[str, Caller], content: dict[str, Any], metadata: Any
) -> None:
    uc = callers["write"]
    content = {k: v for k, v in content.items() if k not in ("id", "index", "metadata")}
    sent = {**content, "metadata": metadata}
    name = uc.post("/contexts", {"metadata": metadata}).json()["id"]
    assert uc.post(f"/contexts/{name}", [sent]).status_code == 201
    found = json.loads(uc.get(f"/contexts/{name}").content)["data"][0]
    kept = {k: v for k, v in found.items() if k not in ("id", "index", "metadata")}
    assert json.dumps(kept) == json.dumps(content)
    assert json.dumps(found["metadata"]) == json.dumps({} if metadata is None else metadata)
