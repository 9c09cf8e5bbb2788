"""Which secrets were masked where, and whether they still lie in the agents' own files.

What was found is known by its mask alone: a kind and a fingerprint. A file that still holds the
secret gives the same mask when it is masked again with the same local key.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec

from ultracontext.capture.files import marks_in_file
from ultracontext.capture.whereabouts import MASK
from ultracontext.model import ContextId
from ultracontext.redaction import Redactor
from ultracontext.store.base import ContextRow, MarkRow, SpaceStore

_CACHE = "files-with-secrets.json"
MOST_CACHED = 20_000


class File(msgspec.Struct, kw_only=True):
    """One of the agents' files that the secret came from."""

    path: str
    there: bool | None
    """Whether the secret stands in it now; None: not looked, or it cannot be told."""


class Secret(msgspec.Struct, kw_only=True):
    """One secret, by its mask."""

    kind: str
    fingerprint: str
    digests: list[str]
    """Whole keyed digests; more than one when two secrets share the fingerprint."""
    count: int
    """How often its mask stands in stored records."""
    sessions: list[dict[str, Any]]
    first_at: str
    last_at: str
    files: list[File]
    still_there: bool | None


def secrets_of(space: SpaceStore, rows: Callable[[ContextRow], ContextRow]) -> list[Secret]:
    """All secrets, the one seen last first; files are not looked into. `rows` masks a row."""
    from ultracontext.store.values import iso

    known = {row.context_id: row for row in space.contexts(limit=0, children=True)}
    digests = space.digests()
    found = []
    for (kind, mark), group in groupby(space.marks(), key=lambda m: (m.kind, m.fingerprint)):
        marks = list(group)
        sessions = [_session(m, rows(known[m.context_id])) for m in marks if m.context_id in known]
        found.append(
            Secret(
                kind=kind, fingerprint=mark, digests=digests.get(mark, []),
                count=sum(m.count for m in marks), sessions=sessions,
                first_at=iso(min(m.first_at for m in marks)),
                last_at=iso(max(m.last_at for m in marks)), files=[], still_there=None,
            )
        )  # fmt: skip
    return sorted(found, key=lambda secret: secret.last_at, reverse=True)


def _session(mark: MarkRow, row: ContextRow) -> dict[str, Any]:
    return {
        "id": row.context_id, "session_id": row.session_id, "agent": row.agent,
        "title": row.facts.title, "project_path": row.facts.project_path, "count": mark.count,
    }  # fmt: skip


class Files:
    """Masks in the agents' files as they are now. What was read once is kept by size and time."""

    def __init__(self, redactor: Redactor, cache_dir: Path) -> None:
        self._redactor = redactor
        self._path = cache_dir / _CACHE
        self._known: dict[str, list[Any]] = {}
        with suppress(OSError, ValueError, KeyError, TypeError):
            kept = json.loads(self._path.read_bytes())
            if kept["rule_set"] == redactor.rule_set:
                self._known = dict(kept["files"])

    def look(
        self, space: SpaceStore, secrets: Sequence[Secret], progress: Callable[[str], None]
    ) -> None:
        """Fills in `files` and `still_there` of each."""
        contexts = {ContextId(s["id"]) for secret in secrets for s in secret.sessions}
        paths = space.source_paths(sorted(contexts))
        for secret in secrets:
            own = dict.fromkeys(p for s in secret.sessions for p in paths.get(s["id"], ()))
            mark = f"{secret.kind}:{secret.fingerprint}"
            secret.files = [self._file(path, mark, progress) for path in own]
            secret.still_there = _any(file.there for file in secret.files)
        self._save()

    def _file(self, path: str, mark: str, progress: Callable[[str], None]) -> File:
        if MASK in path:
            return File(path=path, there=None)
        marks = self._marks(path, progress)
        if marks is None:
            return File(path=path, there=None)
        return File(path=path, there=mark in marks or (None if _is_database(path) else False))

    def _marks(self, path: str, progress: Callable[[str], None]) -> Sequence[str] | None:
        """None for a file that cannot be read; empty for one that is gone."""
        try:
            found = os.stat(path)  # noqa: PTH116  (a path as the store has it)
            stamp = [found.st_size, found.st_mtime_ns]
            kept = self._known.get(path)
            if kept is None or kept[:2] != stamp:
                progress(path)
                kept = self._known[path] = [*stamp, sorted(marks_in_file(path, self._redactor))]
        except (FileNotFoundError, NotADirectoryError):
            return ()
        except OSError:
            return None
        marks: list[str] = kept[2]
        return marks

    def _save(self) -> None:
        files = dict(list(self._known.items())[-MOST_CACHED:])
        text = json.dumps({"rule_set": self._redactor.rule_set, "files": files})
        temporary = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        with suppress(OSError, UnicodeEncodeError):
            temporary.write_text(text)
            temporary.chmod(0o600)
            temporary.replace(self._path)


def _is_database(path: str) -> bool:
    """Texts in it are cut over pages: what is not found may be there."""
    with suppress(OSError), open(path, "rb") as file:  # noqa: PTH123
        return file.read(16) == b"SQLite format 3\0"
    return False


def _any(answers: Iterable[bool | None]) -> bool | None:
    told = list(answers)
    if True in told:
        return True
    return None if None in told or not told else False


def as_json(secrets: Sequence[Secret]) -> list[Mapping[str, Any]]:
    return [msgspec.to_builtins(secret) for secret in secrets]
