"""Where a captured session is now: listed by its agent, hidden from it, or gone.

Reads only: a `stat` of the session's sources, and the small parts of the agent's own files that its
`lookups` name. These have fixed names below the root, so that links are followed.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from ultracontext.capture.database import answers
from ultracontext.capture.places import NEED_LIMIT_BYTES, opened, read_at
from ultracontext.formats import AgentSpec, Listing, ListingFacts, Lookup
from ultracontext.model import SessionFacts

Place = Literal["listed", "hidden", "gone"]
_RANK: dict[Place, int] = {"listed": 0, "hidden": 1, "gone": 2}
OUTSIDE = "its file lies outside the folders that its agent uses here"
MASK = "[redacted"
"""In a path: the file cannot be looked for."""
_LATEST = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Whereabouts:
    """The answer for one session. `place` None: it cannot be told."""

    place: Place | None = None
    reason: str | None = None
    expires_at: datetime | None = None


UNKNOWN = Whereabouts()


class Places:
    """Answers for many sessions; what was read once is not read again."""

    def __init__(
        self, agents: Mapping[str, AgentSpec], roots: Mapping[str, Sequence[Path]]
    ) -> None:
        self._agents = agents
        self._roots = {slug: [os.fspath(root) for root in found] for slug, found in roots.items()}
        self._texts: dict[str, str | None] = {}

    def of(
        self, agent: str, session_id: str, facts: SessionFacts, sources: Sequence[str]
    ) -> Whereabouts:
        """The best of the session's sources counts."""
        spec = self._agents.get(agent)
        if spec is None or not sources:
            return UNKNOWN
        native = session_id.partition("~")[0]
        try:
            found = [self._of_source(spec, native, facts, p) for p in sources if MASK not in p]
        except Exception:  # noqa: BLE001  (a third party's code must not hide the list)
            return UNKNOWN
        if not found:
            return UNKNOWN
        return min(found, key=_order)

    def _of_source(
        self, spec: AgentSpec, session_id: str, facts: SessionFacts, path: str
    ) -> Whereabouts:
        try:
            there = os.stat(path)
        except (OSError, ValueError):
            return Whereabouts(place="gone")
        if not stat.S_ISREG(there.st_mode):
            return Whereabouts(place="gone")
        root = next((r for r in self._roots.get(spec.slug, ()) if _inside(path, r)), None)
        if root is None:
            return Whereabouts(place="hidden", reason=OUTSIDE)
        relative = PurePosixPath(path[len(root) :].lstrip("/"))
        source = spec.classify(relative)
        if source is None or spec.listing is None:
            return Whereabouts(place="listed")
        lookups = spec.lookups(source, relative) if spec.lookups is not None else ()
        asked = ListingFacts(
            session_id=session_id, facts=facts, source=source, path=relative,
            modified_at=datetime.fromtimestamp(there.st_mtime, UTC),
            found=self._answers(root, lookups, session_id),
        )  # fmt: skip
        return _whereabouts(spec.listing(asked))

    def _answers(self, root: str, lookups: Sequence[Lookup], session_id: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        queries: dict[str, dict[str, str]] = {}
        for lookup in lookups:
            path = os.path.join(root, lookup.path)
            if lookup.sql is None:
                found[lookup.name] = self._text(path)
            else:
                queries.setdefault(path, {})[lookup.name] = lookup.sql
        for path, asked in queries.items():
            found |= answers(path, asked, {"session_id": session_id})
        return found

    def _text(self, path: str) -> str | None:
        if path not in self._texts:
            self._texts[path] = _read(path)
        return self._texts[path]


def _whereabouts(listing: Listing) -> Whereabouts:
    if listing.gone:
        return Whereabouts(place="gone")
    place: Place = "listed" if listing.hidden is None else "hidden"
    return Whereabouts(place=place, reason=listing.hidden, expires_at=listing.expires_at)


def _order(found: Whereabouts) -> tuple[int, float]:
    """Listed before hidden before gone; then what stays longest."""
    return _RANK[found.place or "gone"], -(found.expires_at or _LATEST).timestamp()


def _inside(path: str, root: str) -> bool:
    return path.startswith(root.rstrip("/") + "/")


def _read(path: str) -> str | None:
    try:
        with opened(path, getattr(os, "O_NONBLOCK", 0)) as descriptor:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return None
            return read_at(descriptor, 0, NEED_LIMIT_BYTES).decode("utf-8", "replace")
    except OSError:
        return None
