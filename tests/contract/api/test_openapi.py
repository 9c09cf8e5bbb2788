"""The document says what is served, and the server does what the document says."""

from __future__ import annotations

import re
from typing import Any

import pytest
from api_server import ADMIN, ApiServer

from ultracontext.api.openapi import document
from ultracontext.store.exchange import ROUTES

OTHERS = {
    ("GET", "/"), ("GET", "/healthz"), ("GET", "/metrics"), ("POST", "/mcp"), ("POST", "/v1/keys"),
    ("GET", "/v1/keys"), ("DELETE", "/v1/keys/{prefix}"),
}  # fmt: skip


def test_it_names_exactly_the_routes() -> None:
    told = {
        (method.upper(), path)
        for path, methods in document()["paths"].items()
        for method in methods
    }
    assert told == {(route.method, route.path) for route in ROUTES} | OTHERS


def test_every_reference_and_id_is_sound() -> None:
    text = str(document())
    names = set(document()["components"]["schemas"])
    assert set(re.findall(r"#/components/schemas/(\w+)", text)) <= names
    ids = re.findall(r"'operationId': '(\w+)'", text)
    assert len(ids) == len(set(ids)) == len(ROUTES) + len(OTHERS)


@pytest.mark.timeout(300)
def test_schemathesis_finds_no_fault(server: ApiServer) -> None:
    """Random requests from the document; answers have a status and a shape that it names."""
    import schemathesis
    from hypothesis import HealthCheck, Phase, given, settings
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi.checks import (
        response_schema_conformance,
        status_code_conformance,
    )

    schema = schemathesis.openapi.from_dict(document())
    schema.config.base_url = server.url
    schema.config.update(base_url=server.url)
    key = server.key("schemathesis")
    checks = [not_a_server_error, status_code_conformance, response_schema_conformance]

    def run(operation: Any) -> None:
        token = ADMIN if "/keys" in operation.path else key

        @settings(
            max_examples=15, deadline=None, suppress_health_check=list(HealthCheck),
            phases=[Phase.explicit, Phase.generate], database=None,
        )  # fmt: skip
        @given(case=operation.as_strategy())
        def one(case: Any) -> None:
            headers = {"Authorization": f"Bearer {token}"}
            answer = case.call(base_url=server.url, headers=headers)
            case.validate_response(answer, checks=checks)

        one()

    count = 0
    for found in schema.get_all_operations():
        run(found.ok())
        count += 1
    assert count == len(ROUTES) + len(OTHERS)
