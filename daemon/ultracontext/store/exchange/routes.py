"""Which requests there are, what each needs, and which handler answers it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Need = Literal["read", "write"]


@dataclass(frozen=True, slots=True)
class Route:
    """One method of one path; `handler` names a method of `Exchange`."""

    method: str
    path: str
    handler: str
    need: Need


ROUTES = (
    Route("POST", "/contexts", "create", "write"),
    Route("GET", "/contexts", "listing", "read"),
    Route("POST", "/contexts/delete-many", "delete_many", "write"),
    Route("POST", "/contexts/{id}", "append", "write"),
    Route("GET", "/contexts/{id}", "read", "read"),
    Route("PATCH", "/contexts/{id}", "update", "write"),
    Route("DELETE", "/contexts/{id}", "delete", "write"),
    Route("GET", "/contexts/{id}/info", "info", "read"),
    Route("GET", "/contexts/{id}/log", "log", "read"),
    Route("GET", "/contexts/{id}/diff", "diff", "read"),
    Route("GET", "/contexts/{id}/verify", "verify", "read"),
    Route("POST", "/contexts/{id}/repair", "repair", "write"),
    Route("GET", "/contexts/{id}/forks", "forks", "read"),
    Route("GET", "/contexts/{id}/versions", "versions", "read"),
    Route("GET", "/v1/tombstones", "tombstones", "read"),
    Route("GET", "/v1/tombstones/{id}", "tombstone", "read"),
    Route("PUT", "/v1/tombstones/{id}", "bury", "write"),
    Route("DELETE", "/v1/tombstones/{id}", "lift", "write"),
)
"""In order of preference: a fixed path before one with `{id}`."""


def find(method: str, path: str) -> tuple[Route, Mapping[str, str]] | None:
    """The route of a request, and the value of `{id}` in it."""
    parts = path.split("/")
    for route in ROUTES:
        if route.method != method:
            continue
        wanted = route.path.split("/")
        if len(wanted) != len(parts):
            continue
        if all(w in ("{id}", p) and (p or not w) for w, p in zip(wanted, parts, strict=True)):
            return route, ({"id": parts[2 + (parts[1] == "v1")]} if "{id}" in wanted else {})
    return None
