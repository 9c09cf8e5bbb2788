"""What `restore`, `heal` and `relocate` share: sessions written again for their own agent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from ultracontext.cli import output
from ultracontext.cli.desk import Desk, desk
from ultracontext.cli.switching import (
    Order,
    carry_out,
    place_of,
    shape,
    sum_up,
    tell_chosen,
    unchanged,
    write,
)
from ultracontext.errors import UltraContextError, WriteRefusedError

if TYPE_CHECKING:
    from ultracontext.switch.plan import Planned
    from ultracontext.switch.session import MaskedSession


def restore_one(name: str, order: Order, version: int | None) -> int:
    """One session, from its file while it is there, else from the store; an earlier version is in
    the store only. A prompt that waits for its answer stays in the session."""
    at = desk()
    session = at.find(name, at.agents) if version is None else at.stored(name, version)
    tell_chosen(session)
    mine = replace(order, target=session.spec.slug, go_on=False)
    return carry_out(at, mine, prepared(at, mine, session), "restore")


def restore_many(place: str, order: Order) -> int:
    """All stored sessions that are `gone` or `hidden`, as one batch."""
    at = desk()
    batch = f"sb_{uuid4().hex[:16]}"
    results: list[dict[str, Any]] = []
    for agent, session_id, context_id in list(_placed(at, place)):
        head = {"from": {"agent": agent, "session_id": session_id}}
        try:
            gone = place == "gone"
            session = at.stored(context_id) if gone else at.find(session_id, [agent])
            planned = prepared(at, replace(order, target=agent, go_on=False), session)
            results.append(head | _written(at, planned, order, "restore", batch))
        except UltraContextError as error:
            results.append(head | {"state": "failed", "code": error.code, "reason": str(error)})
    return sum_up(results, batch, order)


def _placed(at: Desk, place: str) -> Iterator[tuple[str, str, str]]:
    """Agents, native ids and context ids of the sessions that are there; what a switch wrote and
    somebody took back is not missing."""
    from ultracontext.capture.listing import with_place

    with at.place.reading() as space:
        rows = [] if space is None else space.contexts(limit=0)
        found = [] if space is None else list(with_place(space, rows, at.place.places()))
    for row, where in found:
        ours = at.ledger.of_target(row.agent, row.session_id)
        if where.place == place and ours is None and row.agent in at.agents:
            yield row.agent, row.session_id, row.context_id


def prepared(at: Desk, order: Order, session: MaskedSession, *, proofs: bool = True) -> Planned:
    """The plan of a session for its own agent: all that was said, where the window holds it."""
    spec = at.spec(order.target)
    if spec.writer is None:
        raise WriteRefusedError(
            f"there is no native way into {spec.name}", code="handoff", hint="Use switch --handoff"
        )
    found = at.installed(spec, order.target_version)
    where = place_of(at, order, session)
    wish = replace(order.wish, full=True, proofs=proofs)
    planned = at.prepare(session, spec, found, wish, where, force=order.force)
    window = planned.opened.writer.limits.window_tokens
    if window is not None and planned.fitted.tokens > window:
        wish = replace(wish, full=False)
        return at.prepare(session, spec, found, wish, where, force=order.force)
    return planned


def _written(
    at: Desk, planned: Planned, order: Order, operation: str, batch: str
) -> dict[str, Any]:
    known = unchanged(at, planned)
    if known is not None:
        return {"state": "unchanged", "session_id": known.session_id}
    row = None if order.dry_run else write(at, planned, operation, batch)
    body = shape(planned, planned.plan.command, row, order, planned.notes)
    return body | {"state": "planned" if row is None else "written"}


def heal(name: str | None, order: Order) -> int:
    """A clean copy of a session that fails on every turn: nothing that a service could refuse."""
    from ultracontext.cli.switching import chosen_here

    at = desk()
    session = at.find(name, at.agents) if name else chosen_here(at, order, list(at.agents))
    tell_chosen(session)
    mine = replace(order, target=session.spec.slug)
    return carry_out(at, mine, prepared(at, mine, session, proofs=False), "heal")


def relocate(old: str, new: str, order: Order, *, write_them: bool) -> int:
    """Sessions of a folder that moved, written for the new one."""
    from ultracontext.switch import choose

    at = desk()
    here, there = at.place.absolute(new), at.place.absolute(old)
    if not Path(here).is_dir():
        raise WriteRefusedError(
            f"the folder {here} is not there", code="no-cwd", hint="Name where the project is now"
        )
    batch = f"sb_{uuid4().hex[:16]}"
    results: list[dict[str, Any]] = []
    taken = choose.spellings(here)  # OLD may be a link to NEW by now
    names = [name for name in choose.spellings(there) if name not in taken]
    if not names:
        raise WriteRefusedError(
            f"{there} and {here} are the same folder", code="same-folder",
            hint="Name where the project was, then where it is now",
        )  # fmt: skip
    for session in _of_folder(at, names):
        head = {"from": {"agent": session.spec.slug, "session_id": session.session_id}}
        mine = replace(
            order, target=session.spec.slug, cwd=here, dry_run=not write_them, go_on=False
        )
        try:
            planned = prepared(at, mine, session)
            results.append(head | _written(at, planned, mine, "relocate", batch))
        except UltraContextError as error:
            results.append(head | {"state": "failed", "code": error.code, "reason": str(error)})
    if results and not write_them:
        output.note("ultracontext: nothing was written; --write does it")
    return sum_up(results, batch, order)


def _of_folder(at: Desk, names: list[str]) -> Iterator[MaskedSession]:
    """From files, then from the store what has no file any more."""
    from ultracontext.switch import choose

    seen: set[tuple[str, str]] = set()
    for file in at.machine.files(at.agents):
        if not at.machine.may_mention(file, names):
            continue
        for session in at.machine.read(file):
            key = (session.spec.slug, session.session_id)
            if key not in seen and choose.belongs(session, names):
                seen.add(key)
                yield session
    with at.place.reading() as space:
        rows = [] if space is None else space.contexts(limit=0)
    for row in rows:
        key = (row.agent, row.session_id)
        folder = (row.facts.project_path or "").rstrip("/")
        if folder in names and key not in seen and row.agent in at.agents:
            session = at.stored(row.context_id)
            if choose.talked(session):
                yield session
