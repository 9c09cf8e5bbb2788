"""What the query of a request asks for. Keys that are not known are ignored, as in the original."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any

import msgspec

from ultracontext.wire import faults
from ultracontext.wire.faults import bad
from ultracontext.wire.numbers import integer_prefix
from ultracontext.wire.payload import parse
from ultracontext.wire.times import parse_instant

FILTERS = ("source", "user_id", "host", "project_path", "session_id")
ANY_FILTER = "metadata."
DEFAULT_LIMIT, MOST_LIMIT = 20, 1000
NOT_THERE = -1
"""Stands for a version or index that is no number: no message and no version has it."""
BEYOND = 10**15
"""No context has so many; larger numbers are cut to it."""
MOST_OPERATION_ID = 200

Query = Mapping[str, str]


class Window(msgspec.Struct, kw_only=True, frozen=True):
    """Which messages of a context are wanted."""

    version: int | None = None
    before: datetime | None = None
    at: int | None = None
    history: bool = False
    first: int | None = None
    """Of ours: index to start at."""
    last: int | None = None
    """Of ours: so many from the end."""
    count: int | None = None
    """Of ours: at most so many."""
    salvage: bool = False
    stored: bool = False
    """Of ours: everything that is stored of a message, its content apart (`form=stored`)."""


class Listing(msgspec.Struct, kw_only=True, frozen=True):
    """Which contexts are wanted."""

    filters: dict[str, str] = {}
    after: datetime | None = None
    before: datetime | None = None
    limit: int = DEFAULT_LIMIT
    cursor: str | None = None


def window(query: Query) -> Window:
    """`GET /contexts/{id}`"""
    version, at, before = query.get("version"), query.get("at"), query.get("before")
    return Window(
        version=None if version is None else index_of(version),
        before=None if before is None else instant(before),
        at=None if at is None else index_of(at),
        history=query.get("history") == "true",
        first=_count(query, "first"),
        last=_count(query, "last"),
        count=_count(query, "count"),
        salvage=query.get("salvage") == "true",
        stored=is_stored(query),
    )


def is_stored(query: Query) -> bool:
    return query.get("form") == "stored"


def index_of(value: Any) -> int:
    """A version or an index as sent; `NOT_THERE` for what is no number."""
    number = integer_prefix(value)
    return NOT_THERE if number is None or number < 0 else min(number, BEYOND)


def instant(value: Any) -> datetime:
    when = parse_instant(value)
    if when is None:
        raise bad(faults.BAD_TIME)
    return when


def listing(query: Query) -> Listing:
    """`GET /contexts`"""
    return Listing(
        filters=_all_filters(query["filters"]) if "filters" in query else _filters(query),
        after=_bound(query, "after"),
        before=_bound(query, "before"),
        limit=_limit(query.get("limit")),
        cursor=query.get("cursor") or None,
    )


def _filters(query: Query) -> dict[str, str]:
    """An empty value filters nothing."""
    filters = {name: query[name] for name in FILTERS if query.get(name)}
    return filters | {
        name.removeprefix(ANY_FILTER): value
        for name, value in query.items()
        if name.startswith(ANY_FILTER) and len(name) > len(ANY_FILTER) and value
    }


def _all_filters(text: str) -> dict[str, str]:
    """`filters={"key": "value"}` of ours, as JSON: for keys and values of any kind."""
    with suppress(ValueError):
        found = parse(text.encode())
        if isinstance(found, dict) and all(isinstance(value, str) for value in found.values()):
            return found
    raise bad("filters must be a JSON object of strings")


def _bound(query: Query, name: str) -> datetime | None:
    value = query.get(name)
    if not value:
        return None
    when = parse_instant(value)
    if when is None:
        raise bad(f"Invalid {name} timestamp")
    return when


def _limit(value: str | None) -> int:
    if value is None:
        return DEFAULT_LIMIT
    if re.fullmatch(r"[0-9]{1,4}", value, re.ASCII) and 1 <= int(value) <= MOST_LIMIT:
        return int(value)
    raise bad(f"limit must be an integer from 1 to {MOST_LIMIT}")


def _count(query: Query, name: str) -> int | None:
    value = query.get(name)
    if value is None:
        return None
    if re.fullmatch(r"[0-9]{1,15}", value, re.ASCII):
        return int(value)
    raise bad(f"{name} must be an integer from 0")


def expected_version(query: Query) -> int | None:
    """`?expected_version=N` of a write."""
    return _count(query, "expected_version")


def operation_id(query: Query) -> str | None:
    """`?operation_id=` of a write: the same again gives what it made."""
    value = query.get("operation_id")
    if value is None:
        return None
    if not 0 < len(value) <= MOST_OPERATION_ID or not value.isprintable():
        raise bad(f"operation_id must have 1 to {MOST_OPERATION_ID} printable characters")
    return value
