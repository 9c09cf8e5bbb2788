"""Which message is meant: by id, or by place in the current version (negative: from the end)."""

from __future__ import annotations

from typing import Any

from ultracontext.wire.faults import bad
from ultracontext.wire.numbers import whole

Selector = str | int


def selected(item: dict[str, Any]) -> Selector:
    """The one of `id` and `index` that an update has."""
    by_id, by_index = "id" in item, "index" in item
    if by_id and by_index:
        raise bad("Cannot specify both id and index")
    if by_id:
        if not isinstance(item["id"], str):
            raise bad("id must be a string")
        return item["id"]
    if not by_index:
        raise bad("Either id or index required")
    index = whole(item["index"])
    if index is None:
        raise bad("index must be an integer")
    return index


def selectors(ids: Any) -> list[Selector]:
    """The `ids` of a deletion: a text, an integer, or a list of both."""
    if ids is None:
        raise bad("ids is required")
    given = ids if isinstance(ids, list) else [ids]
    if not given:
        raise bad("ids must be a non-empty array")
    return [_selector(one) for one in given]


def _selector(value: Any) -> Selector:
    if isinstance(value, str):
        return value
    index = whole(value)
    if index is None:
        raise bad("Each id must be a string or integer index")
    return index
