"""Every call of the SDK as a request. Pure; the clients only send them."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from ultracontext.wire.link import Request, context_path
from ultracontext.wire.times import iso_of

MOST_IN_PAGE = 1000
MINIMAL = {"Prefer": "return=minimal"}
SOME_GONE = frozenset({200, 207, 500})
"""Of delete-many; 500 is what the original says when none was deleted."""

Selector = str | int
When = str | datetime


def create(
    *,
    from_: str | None,
    version: int | None,
    at: int | None,
    before: When | None,
    metadata: Any,
    id: str | None,
) -> Request:
    """The id is made here, so that the request can be sent twice."""
    body: dict[str, Any] = {"id": id or f"ctx_{secrets.token_hex(12)}"}
    given = {"from": from_, "version": version, "at": at, "before": _when(before)}
    body |= {name: value for name, value in given.items() if value is not None}
    if metadata is not None:
        body["metadata"] = metadata
    return Request(method="POST", path="/contexts", body=body)


def listing(
    filters: Mapping[str, Any],
    *,
    metadata: Mapping[str, Any] | None,
    limit: int,
    cursor: str | None,
) -> Request:
    query = {name: str(_when(value)) for name, value in filters.items() if value is not None}
    query |= {f"metadata.{name}": _plain(value) for name, value in (metadata or {}).items()}
    query["limit"] = str(limit)
    if cursor is not None:
        query["cursor"] = cursor
    return Request(method="GET", path="/contexts", query=query)


def get(context_id: str, **wanted: Any) -> Request:
    """Flags are sent as `true` only."""
    query = {}
    for name, value in wanted.items():
        if value is None or value is False:
            continue
        query[name] = "true" if value is True else str(_when(value))
    return Request(method="GET", path=context_path(context_id), query=query)


def window(context_id: str, version: int | None, first: int, count: int) -> Request:
    """`count` messages from `first` on: `at` bounds them at the other end."""
    return get(context_id, version=version, first=first, count=count)


def append(
    context_id: str,
    data: Mapping[str, Any] | Sequence[Mapping[str, Any]],
    *,
    expected_version: int | None,
) -> Request:
    items = [data] if isinstance(data, Mapping) else list(data)
    query = _terms(expected_version)
    return Request(method="POST", path=context_path(context_id), query=query, body=items)


def update(
    context_id: str,
    updates: Sequence[Mapping[str, Any]] | None,
    *,
    id: str | None,
    index: int | None,
    metadata: Mapping[str, Any] | None,
    fields: Mapping[str, Any],
    expected_version: int | None,
    minimal: bool,
) -> Request:
    body: dict[str, Any]
    if updates is not None:
        body = {"updates": updates} | ({"metadata": metadata} if metadata else {})
    else:
        body = {**fields}
        body |= {k: v for k, v in (("id", id), ("index", index)) if v is not None}
        if metadata:
            body = {"updates": [body], "metadata": metadata}
    return _edit("PATCH", context_id, body, expected_version, minimal=minimal)


def checkpoint(
    context_id: str, *, metadata: Mapping[str, Any] | None, expected_version: int | None
) -> Request:
    body = {"updates": [], **({"metadata": metadata} if metadata else {})}
    return _edit("PATCH", context_id, body, expected_version, minimal=True)


def set_metadata(
    context_id: str, metadata: Mapping[str, Any], remove: Sequence[str], *,
    expected_version: int | None,
) -> Request:  # fmt: skip
    body = {"$context": {"metadata": metadata, "remove": list(remove)}}
    return _edit("PATCH", context_id, body, expected_version, minimal=True)


def delete(
    context_id: str,
    ids: Selector | Sequence[Selector] | None,
    *,
    permanent: bool,
    forks: bool | None,
    metadata: Mapping[str, Any] | None,
    expected_version: int | None,
    minimal: bool,
) -> Request:
    """Raises ValueError for both, and for neither, before anything is sent."""
    extra: dict[str, Any] = {"metadata": metadata} if metadata else {}
    if permanent:
        if ids is not None:
            raise ValueError("ids and permanent=True exclude each other")
        body = {"permanent": True, **extra} | ({} if forks is None else {"forks": forks})
        return Request(method="DELETE", path=context_path(context_id), body=body, repeatable=False)
    if ids is None:
        raise ValueError("name ids of messages, or permanent=True for the whole context")
    items = [ids] if isinstance(ids, (str, int)) else list(ids)
    return _edit("DELETE", context_id, {"ids": items, **extra}, expected_version, minimal=minimal)


def delete_many(ids: Sequence[str]) -> Request:
    return Request(
        method="POST", path="/contexts/delete-many", body={"ids": list(ids)}, repeatable=False,
        accepted=SOME_GONE,
    )  # fmt: skip


def part(context_id: str, name: str, **query: Any) -> Request:
    """`/contexts/ID/NAME`"""
    given = {key: str(value) for key, value in query.items() if value is not None}
    return Request(method="GET", path=context_path(context_id, name), query=given)


def _edit(
    method: str, context_id: str, body: Any, expected_version: int | None, *, minimal: bool
) -> Request:
    return Request(
        method=method, path=context_path(context_id), query=_terms(expected_version), body=body,
        headers=MINIMAL if minimal else {},
    )  # fmt: skip


def _terms(expected_version: int | None) -> dict[str, str]:
    """An id for the operation, so that the server does it once."""
    found = {"operation_id": secrets.token_hex(12)}
    if expected_version is not None:
        found["expected_version"] = str(expected_version)
    return found


def _when(value: Any) -> Any:
    return iso_of(value) if isinstance(value, datetime) else value


def _plain(value: Any) -> str:
    """Numbers and booleans as JSON writes them."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
