"""`/openapi.json`: the document of the API, made from a table of its operations.

A test holds that it names exactly the routes that are served, and a fuzzer holds the server to it.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from ultracontext import __version__
from ultracontext.api.schemas import PARAMETERS, SCHEMAS
from ultracontext.wire import render

GREETING = {
    "message": "UltraContext API",
    "reasoning": "Contexts with history for agents. /docs describes it.",
}

KEYED = (401, 403, 429)
ADDED = "An addition of ours to the original API."


def _ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}"}


def _content(schema: dict[str, Any], kind: str = "application/json") -> dict[str, Any]:
    return {kind: {"schema": schema}}


ERRORS = {
    400: "The request is malformed", 401: "No key, or none that is known", 403: "Not for this role",
    404: "Not found", 405: "Method not allowed", 406: "Not acceptable",
    408: "The body came too slowly", 409: "It contradicts what is stored",
    413: "The body is too large", 421: "The name of the server is not allowed",
    422: "It could not be masked", 429: "Too many requests of this key",
    503: "The store is not available; try again",
}  # fmt: skip


def _operation(
    name: str,
    summary: str,
    success: dict[int, tuple[str, str]],
    errors: tuple[int, ...] = (),
    *,
    parameters: tuple[str, ...] = (),
    body: str | None = None,
    optional_body: bool = False,
    security: str | None = "key",
    description: str = "",
) -> dict[str, Any]:
    common = (421, 503) if security is None else (*KEYED, 408, 413, 421, 503)
    found: dict[str, Any] = {
        "operationId": name,
        "summary": summary,
        "responses": {
            str(status): {"description": text, "content": _content(_ref(schema))}
            for status, (text, schema) in success.items()
        },
    }
    for status in sorted({*errors, *common}):
        answer = {"description": ERRORS[status], "content": _content(_ref("Error"))}
        found["responses"].setdefault(str(status), answer)
    if description:
        found["description"] = description
    if parameters:
        found["parameters"] = [PARAMETERS[one] for one in parameters]
    if body is not None:
        found["requestBody"] = {"required": not optional_body, "content": _content(_ref(body))}
    found["security"] = [] if security is None else [{security: []}]
    return found


EDIT = ("id", "expected_version", "operation_id", "prefer")

CONTEXTS: dict[str, dict[str, Any]] = {
    "/contexts": {
        "post": _operation(
            "createContext", "Creates a context, empty or a fork",
            {201: ("The context", "Created")}, (400, 404, 409, 422),
            parameters=("operation_id",), body="Creation", optional_body=True,
            description="A body that is no JSON makes an empty context, as in the original.",
        ),
        "get": _operation(
            "listContexts", "Lists contexts, newest first", {200: ("A page", "ContextPage")},
            (400,),
            parameters=(
                "limit", "cursor", "source", "user_id", "host", "project_path", "session_id",
                "after", "before_created", "filters", "form",
            ),
            description="Any other key of the metadata filters as `metadata.KEY=VALUE`.",
        ),
    },
    "/contexts/delete-many": {
        "post": _operation(
            "deleteContexts", "Deletes up to 100 contexts for good",
            {200: ("All are deleted", "DeletedMany"), 207: ("Some are not", "DeletedMany")},
            (400,), body="DeleteMany",
        ),
    },
    "/contexts/{id}": {
        "get": _operation(
            "getContext", "Messages of a version",
            {200: ("The messages", "ContextMessages")}, (400, 404, 409),
            parameters=(
                "id", "version", "at", "before", "history", "first", "last", "count",
                "salvage", "form",
            ),
            description="`version`, then `before`, then `at` (inclusive) choose the messages.",
        ),
        "post": _operation(
            "appendMessages", "Appends a message or an array of them",
            {201: ("Those that were appended", "Appended")}, (400, 404, 409, 422),
            parameters=(*EDIT, "form"), body="Append",
            description="A message whose `metadata.event_id` is there already is not stored again.",
        ),
        "patch": _operation(
            "updateMessages", "Changes messages, by a new version",
            {200: ("All messages of the new version", "Edited")}, (400, 404, 409, 422),
            parameters=EDIT, body="Edit",
            description="An empty `updates` seals the version: a checkpoint. `$remove` and "
            "`$remove_metadata` name keys that go.",
        ),
        "delete": _operation(
            "deleteMessages", "Removes messages by a new version, or the context for good",
            {200: ("The new version, or what was deleted", "Removed")}, (400, 404, 409, 422),
            parameters=EDIT, body="Removal",
            description='A whole context needs `{"permanent": true}` in so many words.',
        ),
    },
    "/contexts/{id}/info": {
        "get": _operation(
            "getContextInfo", "What is known of a context", {200: ("The context", "ContextInfo")},
            (404,), parameters=("id",), description=ADDED,
        ),
    },
    "/contexts/{id}/versions": {
        "get": _operation(
            "getVersions", "Versions, oldest first", {200: ("The versions", "Versions")},
            (404,), parameters=("id",), description=ADDED,
        ),
    },
    "/contexts/{id}/log": {
        "get": _operation(
            "getLog", "Versions and wipes, oldest first", {200: ("The log", "Log")}, (404,),
            parameters=("id",), description=ADDED,
        ),
    },
    "/contexts/{id}/diff": {
        "get": _operation(
            "getDiff", "What differs between two versions", {200: ("The difference", "Difference")},
            (404, 409), parameters=("id", "a", "b", "form"), description=ADDED,
        ),
    },
    "/contexts/{id}/verify": {
        "get": _operation(
            "verifyContext", "Checks the chain of digests", {200: ("What was found", "Verified")},
            (404,), parameters=("id",), description=ADDED,
        ),
    },
    "/contexts/{id}/repair": {
        "post": _operation(
            "repairContext", "Closes gaps of the chain by a marked version",
            {200: ("What was found and done", "Verified")}, (404, 409), parameters=("id",),
            description=ADDED,
        ),
    },
    "/contexts/{id}/forks": {
        "get": _operation(
            "getForks", "Contexts that were made from it", {200: ("The forks", "Forks")}, (404,),
            parameters=("id",), description=ADDED,
        ),
    },
}  # fmt: skip

OTHERS: dict[str, dict[str, Any]] = {
    "/v1/tombstones": {
        "get": _operation(
            "listTombstones", "What stays of wiped contexts",
            {200: ("The tombstones", "Tombstones")}, description=ADDED,
        ),
    },
    "/v1/tombstones/{id}": {
        "get": _operation(
            "getTombstone", "What stays of one wiped context", {200: ("It", "Tombstone")}, (404,),
            parameters=("id",), description=ADDED,
        ),
        "put": _operation(
            "buryContext", "Puts a tombstone without a wipe", {201: ("It", "Tombstone")},
            (400, 409), parameters=("id",), body="Tombstone", description=ADDED,
        ),
        "delete": _operation(
            "liftTombstone", "Lets capture take the session again", {200: ("Done", "Lifted")},
            parameters=("id",), description=ADDED,
        ),
    },
    "/v1/keys": {
        "post": _operation(
            "createKey", "Makes a key; with the admin key in a new space",
            {200: ("The key, shown once", "NewKey")}, (400, 409), body="KeyRequest",
            security="admin",
        ),
        "get": _operation(
            "listKeys", "Lists keys without their secrets", {200: ("The keys", "KeyList")},
            security="admin", description=ADDED,
        ),
    },
    "/v1/keys/{prefix}": {
        "delete": _operation(
            "revokeKey", "Revokes a key", {200: ("The key", "Revoked")}, (404,),
            parameters=("prefix",), security="admin", description=ADDED,
        ),
    },
    "/mcp": {
        "post": _operation(
            "mcp", "Model Context Protocol, Streamable HTTP, one JSON answer",
            {200: ("An answer", "JsonRpc")}, (400, 406), body="JsonRpc",
        )
        | {"description": "Notifications are answered with 202 and no body."},
    },
    "/": {
        "get": _operation("greet", "A greeting", {200: ("Hello", "Greeting")}, security=None),
    },
    "/healthz": {
        "get": _operation(
            "health", "Whether the store answers", {200: ("Well", "Health")}, security=None
        ),
    },
}  # fmt: skip


@cache
def document() -> dict[str, Any]:
    """OpenAPI 3.0."""
    return {
        "openapi": "3.0.3",
        "info": {
            "title": "UltraContext API",
            "version": __version__,
            "description": "Contexts with git-like history. Speaks to the official SDKs.",
            "license": {"name": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "paths": _paths(),
        "components": {
            "schemas": SCHEMAS,
            "securitySchemes": {
                "key": {"type": "http", "scheme": "bearer", "description": "`uc_live_…`"},
                "admin": {"type": "http", "scheme": "bearer", "description": "The admin key"},
            },
        },
    }


def _paths() -> dict[str, Any]:
    paths = CONTEXTS | OTHERS
    mcp = paths["/mcp"]["post"]["responses"]
    mcp["202"] = {"description": "A notification was taken"}
    for status in ("400", "406"):
        mcp[status] = {"description": mcp[status]["description"], "content": mcp["200"]["content"]}
    unwell = {"description": "Not well", "content": _content(_ref("Health"))}
    paths["/healthz"]["get"]["responses"]["503"] = unwell
    metrics = _operation("metrics", "Counters for Prometheus", {}, security=None)
    metrics["responses"]["200"] = {
        "description": "Text form", "content": _content({"type": "string"}, "text/plain"),
    }  # fmt: skip
    return paths | {"/metrics": {"get": metrics}}


@cache
def text() -> bytes:
    return render(document())
