"""What the tools need of their surroundings; the command and the server each bring their own."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from ultracontext.redaction import Redactor
    from ultracontext.search import Asked, Hit
    from ultracontext.store.base import SpaceStore


class Record(Protocol):
    """Writes one line of the audit log; raises when it cannot, and then nothing is given."""

    def __call__(self, action: str, **facts: Any) -> None: ...


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, kw_only=True)
class Desk:
    """A store to read, and to write where `editing` is given."""

    reading: Callable[[], AbstractContextManager[SpaceStore | None]]
    """None: nothing was captured yet."""
    redactor: Callable[[], Redactor]
    record: Record
    editing: Callable[[], AbstractContextManager[SpaceStore]] | None = None
    search: Callable[[SpaceStore, Asked], list[Hit]] | None = None
    switch: Callable[[str, str], dict[str, Any]] | None = None
    """(context id, agent): continues a session there; only where a person allowed it."""
    now: Callable[[], datetime] = _now
