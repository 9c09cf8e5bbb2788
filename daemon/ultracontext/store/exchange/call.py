"""A request and its answer, without any transport."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ultracontext.wire import render


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request, its key already checked."""

    method: str
    path: str
    """Decoded, without query and prefix."""
    query: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    content_type: str = "application/json"
    minimal: bool = False
    """`Prefer: return=minimal`"""
    may_set_time: bool = False
    """`?now=` is taken: of whoever may import a history (the role `admin`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Status and JSON; a large body comes in pieces as they are taken."""

    status: int = 200
    body: bytes = b""
    rest: Iterator[bytes] | None = None
    """What follows `body`. It raises StoreError where the rest cannot be read."""
    messages: int = 0
    """Stored by this call."""

    def whole(self) -> bytes:
        return self.body + b"".join(self.rest or ())


def json_answer(value: Any, status: int = 200, *, messages: int = 0) -> Answer:
    return Answer(status=status, body=render(value), messages=messages)
