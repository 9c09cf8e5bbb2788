"""`switch --handoff`: a document for an agent that cannot be written natively, or for any."""

from __future__ import annotations

import os
import shlex
import sys
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from ultracontext.cli import output
from ultracontext.cli.desk import Desk

if TYPE_CHECKING:
    from ultracontext.cli.switching import Order
    from ultracontext.formats import AgentSpec
    from ultracontext.switch.handoff import Handoff
    from ultracontext.switch.ledger import Row
    from ultracontext.switch.session import MaskedSession

LONGEST_BYTES = 100_000
"""Of a document that goes on the command line; a longer one is named."""


def hand_off(at: Desk, order: Order, session: MaskedSession, spec: AgentSpec) -> int:
    """Writes the document below our own home and prints the command that begins with it."""
    from ultracontext.cli.switching import place_of
    from ultracontext.switch.fit import safe_text
    from ultracontext.switch.handoff import BYTES_PER_TOKEN, DEFAULT_BUDGET, handoff

    cwd = place_of(at, order, session).cwd
    whole = LONGEST_BYTES // BYTES_PER_TOKEN  # where there is no other way: as much as goes
    made = handoff(
        session.whole if order.full else session.live, session.facts,
        source=session.spec.name, session_id=session.session_id, masked=session.masked,
        budget=order.budget or (DEFAULT_BUDGET if order.handoff else whole),
    )  # fmt: skip
    data = (safe_text(made.text) or "").encode()
    row = None if order.dry_run else write(at, order, session, spec, data, cwd)
    path = Path(row.path) if row is not None else at.keep / "handoff.md"
    argv = begin(spec, made.text, path, len(data))
    show(order, session, spec, made, argv, path, row, cwd, inline=len(data) <= LONGEST_BYTES)
    if order.launch and row is not None and argv:
        from ultracontext.formats import Command
        from ultracontext.switch.launch import run

        sys.stdout.flush()
        run(Command(argv=argv, cwd=cwd), at.place.env)
    return 0


def begin(spec: AgentSpec, text: str, path: Path, size: int) -> tuple[str, ...]:
    """The command with the document as its first prompt, or with the place where it lies."""
    if spec.opening is None:
        return ()
    return spec.opening(text if size <= LONGEST_BYTES else f"Read {path} and go on from there.")


def write(
    at: Desk, order: Order, session: MaskedSession, spec: AgentSpec, data: bytes, cwd: str
) -> Row:
    from ultracontext.formats import FileWrite
    from ultracontext.runtime import audit
    from ultracontext.switch import steps
    from ultracontext.switch.ledger import Came, Row

    ledger, name = at.ledger, uuid4().hex[:16]
    at.keep.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = FileWrite(path=f"handoff-{name}.md", data=data)
    row = Row(
        id=f"sw_{name}", state="writing", at=datetime.now(UTC), agent=spec.slug, session_id="",
        path=str(at.keep / file.path), root=str(at.keep), operation="handoff", verdict="handoff",
        source=Came(
            agent=session.spec.slug, session_id=session.session_id, context_id=session.context_id
        ),
        unmasked=order.unmasked, cwd=cwd, done=steps.announce_file(at.keep, file),
    )  # fmt: skip
    ledger.put(row)
    if order.unmasked:
        audit.record(
            at.place.paths, "handoff", agent=spec.slug, source=session.spec.slug,
            session=session.session_id, unmasked=True, pid=os.getpid(),
        )  # fmt: skip
    steps.write_file(at.keep, file, row.id)
    row.state = "written"
    ledger.put(row)
    return row


def show(
    order: Order, session: MaskedSession, spec: AgentSpec, made: Handoff, argv: tuple[str, ...],
    path: Path, row: Row | None, cwd: str, *, inline: bool,
) -> None:  # fmt: skip
    line = shell_line(argv, path, cwd, os.environ.get("SHELL", ""), inline=inline)
    body: dict[str, Any] = {
        "session_id": None, "agent": spec.slug, "path": str(path), "command": line, "cwd": cwd,
        "verdict": "handoff", "messages": 0, "tool_calls": 0, "losses": [],
        "undo": row.id if row is not None else None, "tokens": made.tokens,
        "turns": made.turns, "whole_turns": made.whole_turns, "dry_run": order.dry_run,
        "from": {
            "agent": session.spec.slug, "session_id": session.session_id,
            "context_id": session.context_id,
        },
    }  # fmt: skip
    if order.as_json:
        output.write_json(body)
        return
    output.note(
        f"ultracontext: a handoff for {spec.name}, no session of its own: about {made.tokens}"
        f" tokens, the last {made.whole_turns} of {made.turns} turns whole"
    )
    if spec.compat is not None and spec.compat.handoff and not order.handoff:
        output.note(f"ultracontext: {spec.compat.handoff}")
    if row is None:
        output.note("ultracontext: nothing was written (--dry-run)")
    else:
        output.note(f"ultracontext: {path}; `ultracontext switch undo {row.id}` takes it back")
    output.write(line or str(path))


def shell_line(argv: tuple[str, ...], path: Path, cwd: str, shell: str, *, inline: bool) -> str:
    """`cd DIR && program "$(cat FILE)"`: the document is the first prompt."""
    if not argv:
        return ""
    words = [shlex.quote(word) for word in argv]
    if inline:
        read = f"cat {shlex.quote(str(path))}"
        fish = PurePath(shell).name == "fish"
        words[-1] = f"({read} | string collect)" if fish else f'"$({read})"'
    return f"cd {shlex.quote(cwd)} && {' '.join(words)}"
