"""What was captured on this machine, read beside a running daemon: lists, and sessions that grow.

Blocking, and for one thread: the store is opened where it is first used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ultracontext.errors import NotFoundError, StoreError
from ultracontext.model import Message
from ultracontext.paths import Paths
from ultracontext.settings import Settings
from ultracontext.store.following import OpenSession

if TYPE_CHECKING:
    from ultracontext.capture.whereabouts import Places
    from ultracontext.redaction import Redactor
    from ultracontext.store import Store
    from ultracontext.store.base import ContextRow, SpaceStore


class LocalSessions:
    """The sessions of the local store."""

    def __init__(
        self, *, paths: Paths, settings: Settings, env: Mapping[str, str], home: Path
    ) -> None:
        self._paths = paths
        self._settings = settings
        self._env = env
        self._home = home
        self._store: Store | None = None

    def close(self) -> None:
        """The next call opens the store again."""
        if self._store is not None:
            self._store.close()
            self._store = None

    def rows(self, *, limit: int = 1000, since: datetime | None = None) -> list[dict[str, Any]]:
        """Rows as `ultracontext sessions --all --json` prints them, newest activity first; none
        where nothing was captured yet."""
        space = self._space()
        if space is None:
            return []
        return self._listed(space.contexts(limit=limit, since=since, children=True))

    def row(self, context_id: str) -> dict[str, Any] | None:
        """One row; None for a session that is not there."""
        space = self._space()
        if space is None:
            return None
        with suppress(NotFoundError):
            return self._listed([space.find(context_id)])[0]
        return None

    def open(self, context_id: str) -> OpenSession:
        """A session to follow. Raises NotFoundError."""
        space = self._space()
        if space is None:
            raise NotFoundError(
                "nothing was captured yet", hint="Run `ultracontext daemon run --once`"
            )
        return OpenSession(space, space.find(context_id), self.redactor)

    def as_of(self, context_id: str, version: int) -> list[Message]:
        """The messages as they were when that version ended. Raises NotFoundError."""
        from ultracontext.store.session import read_session

        space = self._space()
        if space is None:
            raise NotFoundError("nothing was captured yet")
        row = space.find(context_id)
        if not 0 <= version <= row.version:
            raise NotFoundError(
                f"no version {version} of {context_id}", hint=f"There are 0 to {row.version}"
            )
        return read_session(space, row, self.redactor, version=version).messages

    def places_looked_at(self) -> list[tuple[str, str, bool]]:
        """(agent, folder, whether it is there) of all known agents."""
        from ultracontext.agents import known
        from ultracontext.capture.roots import agent_roots

        roots = agent_roots(self._settings, self._env, self._home, known())
        return [
            (spec.name, str(root), root.is_dir())
            for slug, spec in known().items()
            for root in roots.get(slug, ())
        ]

    def tested_versions(self) -> dict[str, tuple[str, ...]]:
        """By agent: the versions of its program that were run with this version of ours."""
        from ultracontext.agents import known

        return {slug: tuple(spec.versions) for slug, spec in known().items()}

    def secrets(self) -> list[dict[str, Any]]:
        """Masks by secret: `{"kind", "fingerprint", "sessions", "count", "since", "until", "met",
        "contexts"}`, those in most sessions first; `met`: when each session met it last."""
        space = self._space()
        found: dict[tuple[str, str], dict[str, Any]] = {}
        for mark in space.marks() if space is not None else ():
            key = (mark.kind, mark.fingerprint)
            row = found.setdefault(
                key,
                {
                    "kind": mark.kind,
                    "fingerprint": mark.fingerprint,
                    "sessions": 0,
                    "count": 0,
                    "since": mark.first_at,
                    "until": mark.last_at,
                    "met": [],
                    "contexts": [],
                },
            )
            row["sessions"] += 1
            row["count"] += mark.count
            row["since"] = min(row["since"], mark.first_at)
            row["until"] = max(row["until"], mark.last_at)
            row["met"].append(mark.last_at)
            row["contexts"].append(mark.context_id)
        return sorted(found.values(), key=lambda row: (-row["sessions"], row["kind"]))

    @cached_property
    def redactor(self) -> Redactor:
        """Today's rules; whatever is read is masked by them once more."""
        from ultracontext.redaction.opening import open_redactor

        return open_redactor(self._paths, self._settings)

    @cached_property
    def places(self) -> Places:
        from ultracontext.agents import known
        from ultracontext.capture.roots import agent_roots
        from ultracontext.capture.whereabouts import Places

        return Places(known(), agent_roots(self._settings, self._env, self._home, known()))

    def _listed(self, rows: Sequence[ContextRow]) -> list[dict[str, Any]]:
        from ultracontext.capture.listing import session_rows
        from ultracontext.store.masking import masked_row

        space = self._space()
        if space is None:
            return []
        return session_rows(space, [masked_row(row, self.redactor) for row in rows], self.places)

    def _space(self) -> SpaceStore | None:
        from ultracontext.store import open_store
        from ultracontext.store.base import LOCAL_SPACE

        if self._store is None:
            url = self._settings.reading_store()
            try:
                self._store = open_store(url or self._paths.store_file, mode="ro")
            except StoreError as error:
                if error.code != "store-missing" or url:
                    raise
                return None
        return self._store.within(LOCAL_SPACE)


__all__ = ["LocalSessions", "OpenSession"]
