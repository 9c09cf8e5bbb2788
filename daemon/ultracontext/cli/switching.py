"""What `switch` does, once its words are understood."""

from __future__ import annotations

import gc
import os
import sys
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from ultracontext.cli import output
from ultracontext.cli.desk import Desk, desk, terminal
from ultracontext.errors import NotFoundError, UltraContextError, WriteRefusedError

if TYPE_CHECKING:
    from ultracontext.formats import AgentSpec, Command
    from ultracontext.switch.fit import Place, Wish
    from ultracontext.switch.ledger import Row
    from ultracontext.switch.plan import Planned
    from ultracontext.switch.session import MaskedSession


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What the person asked for."""

    target: str
    source: str | None = None
    session: str | None = None
    cwd: str | None = None
    last: int | None = None
    full: bool = False
    budget: int | None = None
    fidelity: str = "faithful"
    handoff: bool = False
    unmasked: bool = False
    dry_run: bool = False
    force: bool = False
    launch: bool = False
    go_on: bool = True
    target_version: str | None = None
    yes: bool = False
    project: str | None = None
    since: str | None = None
    as_json: bool = False

    @property
    def wish(self) -> Wish:
        from ultracontext.switch.fit import Wish

        return Wish(
            full=self.full, last=self.last, budget=self.budget, fidelity=self.fidelity,
            pending=self.go_on,
        )  # fmt: skip


def switch_one(order: Order) -> int:
    gc.disable()  # one session, in a process that ends with it: a fifth of the time
    at = desk()
    spec = at.spec(order.target)
    if order.source is not None:
        at.spec(order.source)
    consent(at, order)
    session = chosen(at, order, spec)
    tell_chosen(session)
    if order.handoff or (spec.writer is None and not order.force):
        from ultracontext.cli.handing import hand_off

        return hand_off(at, order, session, spec)
    where = place_of(at, order, session)
    found = at.installed(spec, order.target_version)
    planned = at.prepare(session, spec, found, order.wish, where, force=order.force)
    return carry_out(at, order, planned)


def carry_out(at: Desk, order: Order, planned: Planned, operation: str = "switch") -> int:
    """Shows the plan, or writes it; prints or runs the command."""
    command = planned.plan.command
    if order.dry_run:
        show(planned, command, None, order, [*planned.notes, "nothing was written (--dry-run)"])
        return 0
    notes = planned.notes
    known = None if order.force or operation == "heal" else unchanged(at, planned)
    if known is not None:
        row, command = known, again(known, planned)
        notes = [*notes, "nothing was added since it was written: this is the same session"]
    else:
        earlier = grown(at, planned) if operation == "switch" else None
        row = write(at, planned, operation)
        if earlier is not None:
            more = row.messages - earlier.messages
            delta = f": {more:+} messages since" if more else ", with as many messages"
            notes = [*notes, f"written anew beside {earlier.session_id}{delta}"]
    show(planned, command, row, order, notes)
    if order.launch:
        from ultracontext.switch.launch import run

        sys.stdout.flush()
        run(command, at.place.env)
    return 0


def write(at: Desk, planned: Planned, operation: str, batch: str | None = None) -> Row:
    from ultracontext.runtime import audit
    from ultracontext.switch.commit import Doing, commit

    machine = at.machine if planned.session.masked else at.open_machine
    ledger = at.ledger
    if not planned.session.masked or planned.opened.forced:
        audit.record(
            at.place.paths, operation, agent=planned.spec.slug,
            source=planned.session.spec.slug, session=planned.session.session_id,
            target=planned.plan.session_id, unmasked=not planned.session.masked,
            forced=planned.opened.forced, pid=os.getpid(),
        )  # fmt: skip
    return commit(planned, ledger, machine, at.keep, Doing(operation=operation, batch=batch))


def unchanged(at: Desk, planned: Planned) -> Row | None:
    """A session that was written of exactly this, for this agent and folder, and is still there."""
    from ultracontext.switch.commit import source_digest

    digest = source_digest(planned)
    session = planned.session
    for row in at.ledger.of_source(session.spec.slug, session.session_id, planned.spec.slug):
        same = row.digest == digest and row.cwd == planned.plan.command.cwd
        if same and row.unmasked == (not session.masked) and os.path.lexists(row.path):
            return row
    return None


def grown(at: Desk, planned: Planned) -> Row | None:
    """The newest one that was written of this session before, and is still there."""
    session = planned.session
    rows = at.ledger.of_source(session.spec.slug, session.session_id, planned.spec.slug)
    return next((row for row in rows if os.path.lexists(row.path)), None)


def again(row: Row, planned: Planned) -> Command:
    """The command of an earlier write, with the prompt that waits."""
    from ultracontext.formats import Command

    fresh = planned.plan.command
    words = [row.session_id if w == planned.plan.session_id else w for w in fresh.argv]
    return Command(argv=tuple(words), cwd=fresh.cwd, environment=fresh.environment)


# ---- which session -------------------------------------------------------------------------------
def chosen(at: Desk, order: Order, spec: AgentSpec) -> MaskedSession:
    agents = [order.source] if order.source else list(at.agents)
    if order.session is not None:
        return at.find(order.session, agents, unmasked=order.unmasked)
    if order.source is None:
        agents = [slug for slug in agents if slug != spec.slug]
    return chosen_here(at, order, agents)


def chosen_here(at: Desk, order: Order, agents: list[str]) -> MaskedSession:
    """The newest of the folder; asks where two are at work."""
    from ultracontext.switch import choose, git

    folder = at.place.absolute(order.cwd or current_folder(at))
    machine = at.open_machine if order.unmasked else at.machine
    now = datetime.now(UTC)
    try:
        return choose.newest_in(machine, folder, git.root_of(folder), agents, now)
    except choose.AmbiguousError as error:
        if not terminal() or order.yes:
            raise
        return ask_which(error.sessions)


def current_folder(at: Desk) -> str:
    """As the shell names it, links kept; else the real one."""
    named = at.place.env.get("PWD", "")
    try:
        if named.startswith("/") and os.path.samefile(named, "."):  # noqa: PTH121
            return named
        return os.path.realpath(".")
    except OSError as error:
        raise NotFoundError(
            "the current folder is gone", hint="Go to another one", code="no-cwd"
        ) from error


def ask_which(sessions: list[MaskedSession]) -> MaskedSession:
    for number, session in enumerate(sessions, start=1):
        output.note(f"{number}  {told(session)}")
    while True:
        import typer

        answer = typer.prompt("Which one", err=True)
        if answer.isdecimal() and 1 <= int(answer) <= len(sessions):
            return sessions[int(answer) - 1]


def tell_chosen(session: MaskedSession) -> None:
    output.note(f"ultracontext: {told(session)}")


def told(session: MaskedSession) -> str:
    """`Codex "fix the build", 3 minutes ago, 42 messages (0199…)`."""
    facts = session.facts
    title = output.one_line(facts.title or "")[:80]
    count = sum(m.kind != "meta" for m in session.messages)
    age = aged(session.newest_turn)
    name = f'{session.spec.name} "{title}"' if title else session.spec.name
    return f"{name}, {age}, {count} message{'s' * (count != 1)} ({session.session_id})"


def aged(time: str | None) -> str:
    from ultracontext.switch.entries import EPOCH, moment

    when = moment(time)
    if when <= EPOCH:
        return "of unknown age"
    seconds = max((datetime.now(UTC) - when).total_seconds(), 0)
    for unit, length in (("day", 86400), ("hour", 3600), ("minute", 60)):
        if seconds >= length:
            count = int(seconds // length)
            return f"{count} {unit}{'s' * (count != 1)} ago"
    return "just now"


def place_of(at: Desk, order: Order, session: MaskedSession) -> Place:
    from ultracontext.switch.plan import working_folder

    given = at.place.absolute(order.cwd) if order.cwd else None
    return at.where(working_folder(session, given or remapped(at, session)))


def remapped(at: Desk, session: MaskedSession) -> str | None:
    """For a folder of another machine: the one here with the same git remote."""
    from ultracontext.switch.plan import elsewhere

    folder = session.facts.project_path
    if not folder or Path(folder).is_dir() or not session.facts.git_remote:
        return None
    remotes: dict[str, list[str]] = {}
    from ultracontext.switch import git
    from ultracontext.switch.plan import same_remote

    with at.place.reading() as space:
        rows = [] if space is None else space.contexts(limit=0)
    places = {row.facts.project_path for row in rows if row.facts.project_path}
    for place in sorted(places):
        root = git.root_of(place) if Path(place).is_dir() else None
        address = git.remote(root) if root else None
        if address:
            remotes.setdefault(same_remote(address), []).append(root or place)
    return elsewhere(session, remotes)


def consent(at: Desk, order: Order) -> None:
    """Asks before secrets are written in clear."""
    from ultracontext.switch.consent import require

    del at
    if not order.unmasked or order.dry_run:
        return
    asked = terminal() and not order.yes
    agreed = order.yes
    if asked:
        import typer

        agreed = typer.confirm(
            "Write the session with its secrets, unmasked, into the target's files?", err=True
        )
    require(asked=asked, agreed=agreed)


# ---- what is shown -------------------------------------------------------------------------------
def shape(
    planned: Planned, command: Command, row: Row | None, order: Order, notes: list[str]
) -> dict[str, Any]:
    """The shape of `switch --json`."""
    from ultracontext.switch.launch import shell_line
    from ultracontext.switch.plan import as_json

    session = planned.session
    return {
        "session_id": row.session_id if row else planned.plan.session_id,
        "agent": planned.spec.slug,
        "path": row.path if row else str(planned.root / planned.plan.source),
        "command": shell_line(command, os.environ.get("SHELL", "")),
        "argv": list(command.argv),
        "cwd": command.cwd,
        "verdict": planned.opened.verdict.name,
        "messages": planned.messages,
        "tool_calls": planned.tool_calls,
        "losses": as_json(planned.losses),
        "undo": row.id if row else None,
        "from": {
            "agent": session.spec.slug, "session_id": session.session_id,
            "context_id": session.context_id,
        },
        "turns": len(planned.fitted.conversation.turns),
        "tokens": planned.fitted.tokens,
        "target_version": planned.version,
        "dry_run": order.dry_run,
        "notes": notes,
    }  # fmt: skip


def show(
    planned: Planned, command: Command, row: Row | None, order: Order, notes: list[str]
) -> None:
    """The command to stdout; everything else to stderr."""
    body = shape(planned, command, row, order, notes)
    if order.as_json:
        output.write_json(body)
        return
    verdict = planned.opened.verdict
    grounds = verdict.name if not verdict.reason else f"{verdict.name}: {verdict.reason}"
    calls = f", {planned.tool_calls} tool calls" if planned.tool_calls else ""
    output.note(
        f"ultracontext: {planned.messages} messages{calls} for {planned.spec.name}"
        f" {planned.version} ({grounds})"
    )
    lost = ", ".join(f"{loss.count} {LOSS_WORDS[loss.kind]}" for loss in planned.losses)
    if lost:
        output.note(f"ultracontext: not as it was: {lost}")
    for note in notes:
        output.note(f"ultracontext: {output.one_line(note)}")
    if row is not None:
        output.note(f"ultracontext: `ultracontext switch undo {row.id}` takes it back")
    output.write(command_line(body["command"]))


def command_line(text: str) -> str:
    """A command as it can be pasted: control characters stay quoted by the shell's rules."""
    return text if text.isprintable() or "\n" in text else output.visible(text)


LOSS_WORDS = {
    "tool": "tools as text or under another name",
    "tool_output_cut": "outputs cut",
    "thinking": "thoughts left out",
    "image": "pictures as a note",
    "system": "system messages left out",
    "compacted": "compacted messages left out (--full carries them)",
    "orphan": "calls or results without their other half",
    "text_safety": "texts made safe",
    "mask": "masks in place of secrets",
    "other": "others",
}


# ---- all, list, undo -----------------------------------------------------------------------------
def switch_all(order: Order) -> int:
    """Every session that was not written yet, or has grown since."""
    from ultracontext.settings.times import parse_time
    from ultracontext.switch import choose
    from ultracontext.switch.entries import moment

    at = desk()
    spec = at.spec(order.target)
    consent(at, order)
    now = datetime.now(UTC)
    since = parse_time(order.since, now=now) if order.since else None
    folder = choose.spellings(at.place.absolute(order.project)) if order.project else None
    agents = [order.source] if order.source else [s for s in at.agents if s != spec.slug]
    machine = at.open_machine if order.unmasked else at.machine
    found = at.installed(spec, order.target_version)
    batch = f"sb_{uuid4().hex[:16]}"
    order = replace(order, go_on=False)  # no command is printed that could send a prompt
    results: list[dict[str, Any]] = []
    seen: set[tuple[str, str]] = set()
    for session in choose.every(machine, agents, now):
        key = (session.spec.slug, session.session_id)
        if key in seen or at.ledger.of_target(*key) is not None:
            continue
        seen.add(key)
        if folder is not None and not choose.belongs(session, folder):
            continue
        if since is not None and moment(session.newest_turn) < since:
            continue
        results.append(_one_of_all(at, order, session, spec, found, batch))
    return sum_up(results, batch, order)


def _one_of_all(
    at: Desk, order: Order, session: MaskedSession, spec: AgentSpec, found: Any, batch: str
) -> dict[str, Any]:
    head = {"from": {"agent": session.spec.slug, "session_id": session.session_id}}
    try:
        where = place_of(at, order, session)
        planned = at.prepare(session, spec, found, order.wish, where, force=order.force)
        known = unchanged(at, planned)
        if known is not None:
            return head | {"state": "unchanged", "session_id": known.session_id}
        row = None if order.dry_run else write(at, planned, "switch", batch)
    except UltraContextError as error:
        return head | {"state": "failed", "code": error.code, "reason": str(error)}
    body = shape(planned, planned.plan.command, row, order, planned.notes)
    return head | body | {"state": "planned" if row is None else "written"}


def sum_up(results: list[dict[str, Any]], batch: str, order: Order) -> int:
    states = [one["state"] for one in results]
    written = states.count("written")
    totals: dict[str, int] = {}
    for one in results:
        for loss in one.get("losses", []):
            totals[loss["kind"]] = totals.get(loss["kind"], 0) + loss["count"]
    losses = [{"kind": kind, "count": count} for kind, count in sorted(totals.items())]
    if order.as_json:
        output.write_json(
            {"sessions": results, "losses": losses, "undo": batch if written else None}
        )
    else:
        for one in results:
            came = one["from"]
            more = one.get("session_id") or one.get("reason", "")
            line = f"{one['state']:<9} {came['agent']} {came['session_id']}  {more}"
            output.write(output.one_line(line))
        counts = ", ".join(f"{states.count(s)} {s}" for s in dict.fromkeys(states))
        output.note(f"ultracontext: {counts or 'no session'}")
        lost = ", ".join(f"{loss['count']} {LOSS_WORDS[str(loss['kind'])]}" for loss in losses)
        if lost:
            output.note(f"ultracontext: not as it was: {lost}")
        if written:
            output.note(f"ultracontext: `ultracontext switch undo {batch}` takes all back")
    return 1 if "failed" in states else 0


def print_list(*, as_json: bool) -> None:
    rows = [row for row in desk().ledger.rows() if row.state != "failed"]
    if as_json:
        output.write_json([listed(row) for row in rows])
        return
    for row in rows:
        came = f"{row.source.agent} {row.source.session_id}"
        line = (
            f"{row.at.astimezone():%Y-%m-%d %H:%M}  {row.id}  {row.operation:<8} {row.state:<7}"
            f" {came} → {row.agent} {row.session_id}"
        )
        output.write(output.one_line(line))
    if not rows:
        output.note("ultracontext: nothing was written yet")


def listed(row: Row) -> dict[str, Any]:
    """The shape of `switch list --json`."""
    return {
        "id": row.id, "session_id": row.session_id, "agent": row.agent, "path": row.path,
        "written_at": row.at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "from": {
            "agent": row.source.agent, "session_id": row.source.session_id,
            "context_id": row.source.context_id,
        },
        "state": row.state, "operation": row.operation, "batch": row.batch,
        "verdict": row.verdict, "forced": row.forced, "unmasked": row.unmasked,
        "losses": row.losses,
    }  # fmt: skip


def undo(name: str, *, force: bool, as_json: bool) -> None:
    """Takes back one write, or a batch."""
    from ultracontext.switch.undo import undo_row

    at = desk()
    rows = [row for row in at.ledger.find(name) if row.state == "written"]
    if not rows:
        raise NotFoundError(
            f"{name} is undone already", hint="`ultracontext switch list` shows all",
            code="not-found",
        )  # fmt: skip
    refused: list[UltraContextError] = []
    done: list[dict[str, Any]] = []
    for row in rows:
        try:
            kept = undo_row(row, at.ledger, at.machine, at.agents, at.keep, force=force)
        except UltraContextError as error:
            refused.append(error)
            continue
        done.append(listed(row) | {"kept": kept})
    if as_json and done:
        output.write_json(done)
    elif not as_json:
        for one in done:
            kept = f"; what was added since is kept in {one['kept']}" if one["kept"] else ""
            output.write(f"undone {one['agent']} {one['session_id']}{kept}")
    if refused:
        if len(refused) == 1:
            raise refused[0]
        raise WriteRefusedError(
            f"{len(refused)} of {len(rows)} sessions were not undone: {refused[0].message}",
            hint=refused[0].hint, code=refused[0].code,
        )  # fmt: skip
