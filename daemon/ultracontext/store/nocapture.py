"""The capture side of a store that nothing is captured into.

What this machine captures commits together with how far it was read, so it goes to the local file
and nowhere else; other stores are fed from there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NoReturn

from ultracontext.chain import Remask
from ultracontext.errors import StoreError
from ultracontext.model import ContextId, EventId
from ultracontext.redaction import Redactor
from ultracontext.store.base import (
    CaptureBatch,
    Checkpoint,
    DedupStatus,
    FactsUpdate,
    KnownEvent,
    MarkRow,
)


def refuse() -> NoReturn:
    raise StoreError(
        "capture writes to the local store only",
        hint="Name the other one as `remote.url`",
        code="store-no-capture",
    )


class NoCapture:
    """Nothing was captured here, and nothing can be."""

    def new_source_id(self) -> int:
        refuse()

    def checkpoints(self) -> list[Checkpoint]:
        return []

    def known_events(self, ids: Sequence[EventId]) -> dict[EventId, KnownEvent]:
        return {}

    def knows_any(self, head: bytes) -> bool:
        return False

    def append(self, batch: CaptureBatch, *, now: datetime) -> None:
        refuse()

    def purge_dedup(self, *, older_than: datetime, now: datetime) -> int:
        return 0

    def dedup_status(self) -> DedupStatus:
        return DedupStatus(rows=0, hits=0, purged_at=None)

    def note(self, key: str, value: Any) -> None:
        refuse()

    def noted(self, key: str) -> Any:
        return None

    def totals(self) -> dict[str, int]:
        return {}

    def save_facts(self, updates: Sequence[FactsUpdate], *, nodes: Mapping[str, int]) -> None:
        refuse()

    def set_relation(self, context_id: ContextId, *, parent_session: str, relation: str) -> None:
        refuse()

    def source_paths(self, contexts: Sequence[ContextId]) -> dict[ContextId, list[str]]:
        return {name: [] for name in contexts}

    # masks: what comes here was masked before
    def behind(self, rule_set: int) -> int:
        return 0

    def remask_names(self, redactor: Redactor) -> None:
        """There are none."""

    def remask(self, redactor: Redactor) -> Iterator[int]:
        return iter(())

    def remasks(self, context_id: ContextId) -> list[Remask]:
        return []

    def marks(self) -> list[MarkRow]:
        return []

    def keep_digests(self, digests: Sequence[bytes]) -> None:
        refuse()

    def forget_digests(self) -> None:
        """There are none."""

    def digests(self) -> dict[str, list[str]]:
        return {}
