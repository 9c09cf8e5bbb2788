"""Shapes of results. All are plain dicts; these are their types."""

from __future__ import annotations

from typing import Any, Literal, TypedDict

Json = Any
"""Any JSON value."""


class Context(TypedDict):
    """A context in a list, or just created."""

    id: str
    metadata: Json
    created_at: str
    """ISO 8601, UTC, milliseconds."""


class Message(TypedDict, total=False):
    """A message of a version; whatever else was stored of it stands beside these keys."""

    id: str
    index: int
    """From 0."""
    role: str
    content: Json
    metadata: Json
    duplicate: bool
    """It was there already; nothing was stored."""


class Version(TypedDict, total=False):
    """One version of a context."""

    version: int
    created_at: str
    operation: Literal["create", "update", "delete"]
    affected: list[str] | None
    """Ids that the messages had in the version before."""
    metadata: dict[str, Json] | None


class CreateContextResponse(Context, total=False):
    """Of `create`."""

    duplicate: bool


class ListContextsResponse(TypedDict, total=False):
    """Of `get` without an id."""

    data: list[Context]
    next_cursor: str


class GetContextResponse(TypedDict, total=False):
    """Of `get` with an id."""

    data: list[Message]
    version: int
    versions: list[Version]
    """With `history=True`."""
    total: int
    """With `first` or `last`: messages there are."""
    gaps: list[dict[str, Json]]
    """With `salvage=True`."""


class AppendResponse(TypedDict):
    """Of `append`: the appended messages."""

    data: list[Message]
    version: int


class UpdateResponse(TypedDict, total=False):
    """Of an edit. `data`, all messages of the new version, is fetched when it is looked at."""

    data: list[Message]
    version: int
    affected: list[str]
    duplicate: bool


DeleteResponse = UpdateResponse


class PermanentDeleteResponse(TypedDict, total=False):
    """Of `delete(…, permanent=True)`."""

    deleted: bool
    id: str
    metadata: dict[str, Json] | None
    contexts: list[str]
    kept_forks: list[dict[str, Json]]


class DeleteManyResult(TypedDict, total=False):
    """One of `delete_many`."""

    id: str
    deleted: bool
    error: str | None


class DeleteManyResponse(TypedDict, total=False):
    """Of `delete_many`."""

    results: list[DeleteManyResult]
    deleted_count: int


class LogEntry(TypedDict, total=False):
    """One line of `log`."""

    operation: str
    at: str
    version: int
    version_id: str
    affected: int
    messages: int
    operation_id: str
    origin: str
    metadata: Json


class Difference(TypedDict, total=False):
    """Of `diff`."""

    a: int
    b: int
    added: list[Message]
    removed: list[Message]
    changed: list[dict[str, Message]]
    metadata: dict[str, Json]


class Verification(TypedDict, total=False):
    """Of `verify`."""

    id: str
    sound: bool
    versions: int
    rows: int
    first_break: dict[str, Json] | None
    message_id: str | None


class ContextInfo(Context, total=False):
    """Of `info`."""

    updated_at: str
    version: int
    messages: int
    origin: dict[str, Json] | None
    origin_wiped: bool
    agent: str | None
    session_id: str | None
