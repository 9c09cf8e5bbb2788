"""Which session is meant, from files alone: the newest turn in a folder, an id, or a path."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path

from ultracontext.errors import NotFoundError, WriteRefusedError
from ultracontext.switch.entries import EPOCH, moment
from ultracontext.switch.machine import Machine, SourceFile
from ultracontext.switch.session import MaskedSession, by_session

LIVE = timedelta(minutes=10)
"""Two sessions with turns since then are both at work."""
WAIT_SECONDS = 2.0
SHORTEST_PREFIX = 4


class AmbiguousError(WriteRefusedError):
    """Two sessions could be meant."""

    code = "ambiguous"

    def __init__(self, sessions: Sequence[MaskedSession]) -> None:
        self.sessions = list(sessions)
        ids = " and ".join(f"{s.session_id} ({s.spec.name})" for s in sessions)
        super().__init__(
            f"{len(sessions)} sessions are at work in this folder: {ids}",
            hint="Name one with --session",
        )


def newest_in(
    machine: Machine, folder: str, git_root: str | None, agents: Collection[str], now: datetime
) -> MaskedSession:
    """The session with the newest turn in the folder, else in its git root. Never another
    folder's. Raises NotFoundError, AmbiguousError."""
    for place in dict.fromkeys(filter(None, (folder, git_root))):
        found = in_folder(machine, place, agents, now)
        if found:
            return _one(found, now)
    where = folder if git_root in (None, folder) else f"{folder} or {git_root}"
    raise NotFoundError(
        f"no session of {_words(agents)} in {where}",
        hint="Name one with --session, or go to its folder",
        code="no-session",
    )


def in_folder(
    machine: Machine, folder: str, agents: Collection[str], now: datetime
) -> list[MaskedSession]:
    """The session with the newest turn, and others that are at work now; newest first."""
    names = spellings(folder)
    found: list[MaskedSession] = []
    best = EPOCH
    for file in machine.files(agents):
        if found and file.modified_at < best and file.modified_at < now - LIVE:
            break
        if not machine.may_mention(file, names):
            continue
        for session in machine.read(file, wait_seconds=_wait(file, now)):
            if belongs(session, names):
                found.append(session)
                best = max(best, moment(session.newest_turn))
    whole = by_session(found)
    return _without_copies(sorted(whole, key=lambda s: moment(s.newest_turn), reverse=True))


def every(machine: Machine, agents: Collection[str], now: datetime) -> Iterator[MaskedSession]:
    """All sessions that somebody talked in, newest file first; what lies in several files of one
    name comes once."""
    files = machine.files(agents)
    named: dict[tuple[str, str], list[SourceFile]] = {}
    for file in files:
        if file.hint is not None:
            named.setdefault((file.spec.slug, file.hint), []).append(file)
    for file in files:
        parts = named.get((file.spec.slug, file.hint or ""), [file])
        if parts[0] is not file:
            continue
        read = [s for part in parts for s in machine.read(part, wait_seconds=_wait(part, now))]
        yield from (session for session in by_session(read) if talked(session))


def belongs(session: MaskedSession, names: Collection[str]) -> bool:
    folder = session.facts.project_path
    return folder is not None and folder.rstrip("/") in names and talked(session)


def talked(session: MaskedSession) -> bool:
    """A person's session in which something was said."""
    return session.facts.relation != "subagent" and any(m.kind == "user" for m in session.messages)


def spellings(folder: str) -> list[str]:
    """A folder as it was named, and by its real path."""
    plain = folder.rstrip("/") or "/"
    return list(dict.fromkeys((plain, os.path.realpath(plain))))


def _without_copies(sessions: list[MaskedSession]) -> list[MaskedSession]:
    """What a switch wrote is no other session while nobody went on with it."""
    newest = {s.session_id: moment(s.newest_turn) for s in sessions}
    kept = []
    for session in sessions:
        facts = session.facts
        origin = newest.get(facts.parent_session or "")
        copied = facts.relation == "switch" and origin is not None
        if not (copied and origin is not None and moment(session.newest_turn) <= origin):
            kept.append(session)
    return kept


def _one(found: list[MaskedSession], now: datetime) -> MaskedSession:
    working = [s for s in found if moment(s.newest_turn) >= now - LIVE]
    if len({(s.spec.slug, s.session_id) for s in working}) > 1:
        raise AmbiguousError(working)
    return found[0]


def by_name(machine: Machine, name: str, agents: Collection[str]) -> MaskedSession | None:
    """The session of a native id or a unique prefix of one, None where no file holds it."""
    files = machine.files(agents)
    hinted = [f for f in files if f.hint is not None and f.hint.startswith(name)]
    exact = [f for f in hinted if f.hint == name]
    if exact or (hinted and len(name) >= SHORTEST_PREFIX):
        found = _named(machine, exact or hinted, name)
        if found is not None:
            return found
    others = (f for f in files if f not in hinted and machine.may_mention(f, [name]))
    return _named(machine, others, name)


def _named(machine: Machine, files: Iterable[SourceFile], name: str) -> MaskedSession | None:
    met: list[MaskedSession] = []
    for file in files:
        for session in machine.read(file, wait_seconds=WAIT_SECONDS):
            prefix = session.session_id.startswith(name) and len(name) >= SHORTEST_PREFIX
            if prefix or session.session_id == name:
                met.append(session)
    found = by_session([s for s in met if s.session_id == name] or met)
    if len(found) > 1:
        raise AmbiguousError(found)
    return found[0] if found else None


def by_path(machine: Machine, path: Path, agents: Collection[str]) -> MaskedSession:
    """The session in a file that lies where an agent keeps its own. Raises NotFoundError."""
    real = os.path.realpath(path)
    for file in machine.files(agents):
        if os.path.realpath(file.path) == real:
            found = [s for s in machine.read(file, wait_seconds=WAIT_SECONDS) if s.messages]
            if len(found) > 1:
                raise AmbiguousError(found)
            if found:
                return found[0]
    raise NotFoundError(
        f"{path} is no session file where an agent keeps its own",
        hint="Give the path below the agent's folder, or an id", code="no-session",
    )  # fmt: skip


def _wait(file: SourceFile, now: datetime) -> float:
    """A file at rest holds no record that is being written."""
    return WAIT_SECONDS if now - file.modified_at < timedelta(seconds=30) else 0.0


def _words(agents: Collection[str]) -> str:
    return " or ".join(agents) if agents else "any agent"
