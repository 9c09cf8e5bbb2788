"""Section 1.1 of the wire contract: transport, keys, CORS; and routes that need no key."""

from __future__ import annotations

import http.client
import json
from typing import Any

import pytest
from api_server import ADMIN, ApiServer, Caller, refused

CORS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Methods": "GET, POST, PATCH, DELETE, OPTIONS",
    "Access-Control-Allow-Headers": "Authorization, Content-Type",
    "Access-Control-Max-Age": "86400",
    "Vary": "Origin",
}


def cors_of(response: Any) -> dict[str, str]:
    return {name: response.headers.get(name) for name in CORS}


def test_greeting_is_open(anyone: Caller) -> None:
    found = anyone.get("/")
    assert found.status_code == 200
    assert set(found.json()) == {"message", "reasoning"}
    assert found.json()["message"] == "UltraContext API"
    assert found.headers["Content-Type"].startswith("application/json")


@pytest.mark.parametrize(
    "header",
    [
        None, "", "Bearer", "Basic abc", "uc_live_x", "Bearer uc_live_unknown",
        "Bearer  KEY", "Token KEY", "Bearer ké",
    ],
)  # fmt: skip
def test_missing_malformed_and_unknown_keys_get_one_answer(
    anyone: Caller, uc: Caller, header: str | None
) -> None:
    if header is not None:
        header = header.replace("KEY", str(uc.key))
    headers = {} if header is None else {"Authorization": header.encode("latin-1")}
    found = anyone.client.get("/contexts", headers=headers)  # type: ignore[arg-type]
    refused(found, 401, "Unauthorized")
    assert found.headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize("form", ["Bearer {}", "bearer {}", "BEARER {}", "Bearer {} more words"])
def test_scheme_is_case_insensitive_and_two_words_are_read(uc: Caller, form: str) -> None:
    found = uc.send("GET", "/contexts", headers={"Authorization": form.format(uc.key)})
    assert found.status_code == 200


@pytest.mark.parametrize(
    "path", ["/contexts", "/contexts/", "/contexts/x", "/contexts/x/y/z", "/mcp", "/v1/keys"]
)
def test_guarded_paths_say_401_even_without_a_route(anyone: Caller, path: str) -> None:
    refused(anyone.get(path), 401, "Unauthorized")


@pytest.mark.parametrize("path", ["/nope", "/v1", "/v1/nope", "/contextsx", "/health"])
def test_unknown_routes_are_404(anyone: Caller, path: str) -> None:
    refused(anyone.get(path), 404, "Not found")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("PUT", "/contexts"), ("PUT", "/contexts/ctx_0"), ("GET", "/contexts/"),
        ("POST", "/contexts/"), ("PATCH", "/contexts"), ("DELETE", "/contexts"),
        ("GET", "/contexts/a/b"), ("POST", "/contexts/ctx_0/log"), ("TRACE", "/contexts"),
    ],
)  # fmt: skip
def test_other_methods_and_trailing_slashes_are_404(uc: Caller, method: str, path: str) -> None:
    refused(uc.send(method, path), 404, "Not found")


def test_head_works_as_get(uc: Caller) -> None:
    name = uc.context("a")
    for path in ("/contexts", f"/contexts/{name}", "/"):
        head, get = uc.send("HEAD", path), uc.send("GET", path)
        assert head.status_code == get.status_code == 200
        assert head.content == b""
        assert head.headers["Content-Length"] == get.headers["Content-Length"]
    assert uc.send("HEAD", "/contexts/ctx_none").status_code == 404


def test_every_answer_but_of_mcp_posts_carries_cors(anyone: Caller, uc: Caller) -> None:
    name = uc.context()
    answers = [
        anyone.get("/"), anyone.get("/nope"), anyone.get("/contexts"), uc.get("/contexts"),
        uc.post("/contexts", {}), uc.delete(f"/contexts/{name}", {"permanent": True}),
        anyone.get("/metrics"), anyone.get("/docs"), uc.get("/mcp"),
    ]  # fmt: skip
    for answer in answers:
        assert cors_of(answer) == CORS, answer.request.url
    for caller in (anyone, uc):
        assert cors_of(caller.post("/mcp", {})) == dict.fromkeys(CORS)


@pytest.mark.parametrize("path", ["/", "/contexts", "/contexts/x", "/v1/keys", "/mcp", "/nope"])
def test_options_is_204_before_any_key(anyone: Caller, path: str) -> None:
    found = anyone.send("OPTIONS", path)
    assert (found.status_code, found.content) == (204, b"")
    assert cors_of(found) == CORS


def test_health_metrics_docs_and_openapi_are_open(anyone: Caller, uc: Caller) -> None:
    name = uc.context("a", "b")
    assert anyone.get("/healthz").json()["status"] == "ok"
    assert anyone.get("/docs").headers["Content-Type"].startswith("text/html")
    document = anyone.get("/openapi.json").json()
    assert "/contexts/{id}" in document["paths"]
    text = anyone.get("/metrics").text
    assert 'ultracontext_http_requests_total{method="POST",route="/contexts/{id}"' in text
    assert "ultracontext_messages_appended_total" in text
    assert name not in text
    assert str(uc.key)[:20] not in text


def test_request_ids_come_back(uc: Caller) -> None:
    found = uc.send("GET", "/contexts", headers={"X-Request-Id": "mine-1"})
    assert found.headers["X-Request-Id"] == "mine-1"
    made = {uc.get("/contexts").headers["X-Request-Id"] for _ in range(3)}
    assert len(made) == 3


def raw(server: ApiServer, path: str, host: str | None, key: str) -> tuple[int, Any]:
    """With the `Host` as given; None leaves it out."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.putrequest("GET", path, skip_host=True, skip_accept_encoding=True)
    if host is not None:
        connection.putheader("Host", host)
    connection.putheader("Authorization", f"Bearer {key}")
    connection.endheaders()
    answer = connection.getresponse()
    body = json.loads(answer.read())
    connection.close()
    return answer.status, body


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200), ("localhost:8787", 200), ("LOCALHOST", 200), ("127.0.0.1", 200),
        ("127.0.0.1:1", 200), ("[::1]:8787", 200), ("192.168.1.7:80", 200), ("localhost.", 200),
        ("evil.example", 421), ("localhost.evil.example", 421), ("127.0.0.1.evil.example", 421),
        ("evil.example:8787", 421), ("a b", 421), ("", 421), ("@localhost", 421),
    ],
)  # fmt: skip
def test_host_is_checked(server: ApiServer, uc: Caller, host: str, status: int) -> None:
    found, body = raw(server, "/contexts", host, str(uc.key))
    assert found == status
    if status == 421:
        assert body == {"error": "This name of the server is not allowed"}


def test_body_above_the_limit_is_413(server: ApiServer, uc: Caller) -> None:
    name = uc.context()
    limit = server.service.options.body_bytes
    refused(
        uc.send("POST", f"/contexts/{name}", raw=b"[" + b" " * limit + b"]"),
        413, f"A body may have at most {limit} bytes",
    )  # fmt: skip
    assert uc.contents(name) == []


def test_admin_key_opens_no_contexts_and_a_key_no_admin_routes(
    server: ApiServer, uc: Caller
) -> None:
    admin = Caller(server.url, ADMIN)
    refused(admin.get("/contexts"), 401, "Unauthorized")
    refused(uc.get("/v1/keys"), 401, "Unauthorized")
    refused(uc.post("/v1/keys", {"name": "x"}), 401, "Unauthorized")
    admin.close()
