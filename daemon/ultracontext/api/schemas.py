"""Shapes and parameters of the OpenAPI document."""

from __future__ import annotations

from typing import Any

from ultracontext.store.keys import ROLES

TEXT: dict[str, Any] = {"type": "string"}
WHOLE: dict[str, Any] = {"type": "integer"}
COUNT: dict[str, Any] = {"type": "integer", "minimum": 0}
TRUTH: dict[str, Any] = {"type": "boolean"}
TIME: dict[str, Any] = {"type": "string", "format": "date-time"}
ANY: dict[str, Any] = {}
OBJECT: dict[str, Any] = {"type": "object", "additionalProperties": True}
CONTEXT_ID: dict[str, Any] = {"type": "string", "pattern": "^ctx_[0-9a-f]{24}$"}
MESSAGE_ID: dict[str, Any] = {"type": "string", "pattern": "^msg_[0-9a-f]{24}$"}


def nullable(schema: dict[str, Any]) -> dict[str, Any]:
    return {**schema, "nullable": True}


def ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}"}


def several(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": schema}


def shape(required: str = "", /, **properties: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        found["required"] = required.split()
    return found


def data(schema: dict[str, Any]) -> dict[str, Any]:
    return shape("data", data=several(schema))


CONTEXT = {"id": TEXT, "metadata": ANY, "created_at": TIME}
INFO = CONTEXT | {
    "updated_at": TIME, "version": COUNT, "messages": COUNT, "origin": nullable(OBJECT),
    "origin_wiped": TRUTH, "agent": nullable(TEXT), "session_id": nullable(TEXT),
}  # fmt: skip
VERSION = {
    "version": COUNT, "created_at": TIME, "metadata": OBJECT,
    "operation": {"type": "string", "enum": ["create", "update", "delete"]},
    "affected": {"type": "array", "items": MESSAGE_ID, "nullable": True},
}  # fmt: skip
TOMBSTONE = {
    "wiped_at": TIME, "reason": TEXT, "agent": nullable(TEXT), "session_id": nullable(TEXT),
    "origin": nullable(TEXT), "metadata": ANY, "versions": COUNT, "messages": COUNT,
    "lifted_at": nullable(TIME),
}  # fmt: skip
KEY = {
    "prefix": TEXT, "name": TEXT, "space": TEXT, "project_id": TEXT,
    "role": {"type": "string", "enum": list(ROLES)}, "redact_on_ingest": TRUTH,
    "created_at": TIME, "last_used_at": nullable(TIME), "revoked_at": nullable(TIME),
}  # fmt: skip
GAP = shape("first last reason", first=COUNT, last=COUNT, reason=TEXT, version=nullable(COUNT))

SCHEMAS: dict[str, dict[str, Any]] = {
    "Error": shape("error", error=TEXT),
    "Greeting": shape("message reasoning", message=TEXT, reasoning=TEXT),
    "Health": shape("status version", status=TEXT, version=TEXT),
    "Creation": shape(
        id=CONTEXT_ID, metadata=ANY, version=COUNT, at=COUNT, before=TIME, **{"from": TEXT}
    ),
    "Created": shape("id metadata created_at", **CONTEXT, duplicate=TRUTH),
    "ContextPage": shape(
        "data",
        data=several(shape("id metadata created_at updated_at", **INFO)),
        next_cursor=TEXT,
    ),
    "DeleteMany": shape("ids", ids={**several(TEXT), "minItems": 1, "maxItems": 100}),
    "DeletedMany": shape(
        "results deleted_count",
        results=several(shape("id deleted", id=TEXT, deleted=TRUTH, error=TEXT)),
        deleted_count=COUNT,
    ),
    "Message": shape(
        "id index metadata", id=MESSAGE_ID, index=WHOLE, metadata=ANY, duplicate=TRUTH
    ),
    "ContextMessages": shape(
        "data version",
        data=several(ref("Message")),
        version=COUNT,
        versions=several(shape("version created_at operation affected", **VERSION)),
        total=COUNT,
        gaps=several(GAP),
    ),
    "Append": {"oneOf": [OBJECT, {"type": "array", "items": OBJECT, "minItems": 1}]},
    "Appended": shape("data version", data=several(ref("Message")), version=COUNT),
    "Update": shape(
        id=TEXT, index=WHOLE, metadata=OBJECT, **{
            "$remove": several(TEXT), "$remove_metadata": several(TEXT),
        },
    ),
    "Edit": {
        "oneOf": [
            several(ref("Update")),
            shape("updates", updates=several(ref("Update")), metadata=OBJECT),
            shape("index", index=WHOLE, metadata=OBJECT),
            shape("id", id=MESSAGE_ID, metadata=OBJECT),
            shape("$context", **{"$context": shape(metadata=OBJECT, remove=several(TEXT))}),
        ]
    },
    "Edited": shape(
        "version",
        data=several(ref("Message")),
        version=COUNT,
        affected=several(MESSAGE_ID),
        duplicate=TRUTH,
    ),
    "Removal": {
        "oneOf": [
            shape(
                "ids",
                ids={"oneOf": [TEXT, WHOLE, several({"oneOf": [TEXT, WHOLE]})]},
                metadata=OBJECT,
            ),
            shape(
                "permanent",
                permanent={"type": "boolean", "enum": [True]},
                forks=TRUTH,
                metadata=OBJECT,
            ),
        ]
    },
    "Removed": shape(
        data=several(ref("Message")),
        version=COUNT,
        affected=several(MESSAGE_ID),
        deleted=TRUTH,
        id=TEXT,
        metadata=OBJECT,
        contexts=several(TEXT),
        kept_forks=several(OBJECT),
    ),
    "ContextInfo": shape("id metadata created_at updated_at version messages", **INFO),
    "Versions": data(shape("version created_at operation affected", **VERSION)),
    "Log": data(shape("operation at", operation=TEXT, at=TIME, version=COUNT)),
    "Difference": shape(
        "a b added removed changed",
        a=COUNT,
        b=COUNT,
        added=several(ref("Message")),
        removed=several(ref("Message")),
        changed=several(shape("before after", before=ref("Message"), after=ref("Message"))),
        metadata=OBJECT,
    ),
    "Verified": shape(
        "id sound versions rows",
        id=TEXT,
        sound=TRUTH,
        versions=COUNT,
        rows=COUNT,
        first_break=nullable(OBJECT),
        message_id=nullable(TEXT),
        repaired=several(GAP),
    ),
    "Forks": data(shape("id", **INFO)),
    "Tombstone": shape("wiped_at reason", **TOMBSTONE),
    "Tombstones": data(shape("id wiped_at reason", id=TEXT, **TOMBSTONE)),
    "Lifted": shape("lifted", lifted=TRUTH),
    "KeyRequest": shape(
        "name",
        name={"type": "string", "minLength": 1, "maxLength": 200},
        role={"type": "string", "enum": list(ROLES)},
        redact_on_ingest=TRUTH,
    ),
    "NewKey": shape(
        "key prefix project_id space role created_at",
        key=TEXT, prefix=TEXT, project_id=TEXT, space=TEXT, role=TEXT, created_at=TIME,
    ),
    "KeyList": data(shape("prefix name space role created_at", **KEY)),
    "Revoked": shape("revoked prefix", revoked=TRUTH, **KEY),
    "JsonRpc": {"oneOf": [OBJECT, several(OBJECT)]},
}  # fmt: skip


def _parameter(
    name: str, schema: dict[str, Any], text: str, *, place: str = "query"
) -> dict[str, Any]:
    found = {"name": name, "in": place, "description": text, "schema": schema}
    return found | ({"required": True} if place == "path" else {})


LIMIT: dict[str, Any] = {"type": "integer", "minimum": 1, "maximum": 1000, "default": 20}

PARAMETERS = {
    "id": _parameter("id", TEXT, "Id of the context", place="path"),
    "prefix": _parameter("prefix", TEXT, "First characters of the key", place="path"),
    "limit": _parameter("limit", LIMIT, "At most so many"),
    "cursor": _parameter("cursor", TEXT, "`next_cursor` of the page before"),
    "filters": _parameter("filters", TEXT, "Filters as one JSON object of strings"),
    "source": _parameter("source", TEXT, "`metadata.source` is this"),
    "user_id": _parameter("user_id", TEXT, "`metadata.user_id` is this"),
    "host": _parameter("host", TEXT, "`metadata.host` is this"),
    "project_path": _parameter("project_path", TEXT, "`metadata.project_path` is this"),
    "session_id": _parameter("session_id", TEXT, "`metadata.session_id` is this"),
    "after": _parameter("after", TIME, "Created after"),
    "before_created": _parameter("before", TIME, "Created before"),
    "version": _parameter("version", COUNT, "This version; else the newest"),
    "at": _parameter("at", COUNT, "Messages 0 to this index, inclusive"),
    "before": _parameter("before", TIME, "As it was right after the last write until then"),
    "history": _parameter("history", {"type": "string", "enum": ["true"]}, "Adds `versions`"),
    "first": _parameter("first", COUNT, "Only from this index on"),
    "last": _parameter("last", COUNT, "Only so many from the end"),
    "count": _parameter("count", COUNT, "At most so many"),
    "salvage": _parameter(
        "salvage", {"type": "string", "enum": ["true"]}, "Sound parts of a broken context"
    ),
    "form": _parameter(
        "form", {"type": "string", "enum": ["stored"]}, "Everything that is stored, content apart"
    ),
    "a": _parameter("a", COUNT, "Version to compare; else the one before `b`"),
    "b": _parameter("b", COUNT, "Version to compare with; else the newest"),
    "expected_version": _parameter("expected_version", COUNT, "409 when it is another"),
    "operation_id": _parameter(
        "operation_id", {"type": "string", "minLength": 1, "maxLength": 200},
        "The same again answers with what it made",
    ),
    "prefer": _parameter(
        "Prefer", {"type": "string", "enum": ["return=minimal"]},
        "Answers an edit with `version` and `affected`", place="header",
    ),
}  # fmt: skip
