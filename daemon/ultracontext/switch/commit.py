"""Carrying a plan out: all of it, or nothing.

ledger row `writing` → files → steps → read back with the target's own reader → row `written`.
Whatever goes wrong, what was done is taken back and the row says `failed`.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

from ultracontext.errors import UltraContextError
from ultracontext.model.failpoint import failpoint
from ultracontext.switch import compare, steps
from ultracontext.switch.back import take_back
from ultracontext.switch.done import Done, SwitchError, resolved
from ultracontext.switch.ledger import Came, Ledger, Row
from ultracontext.switch.machine import Machine, SourceFile
from ultracontext.switch.plan import Planned, as_json

STRANDED_AFTER = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Doing:
    """How a write is recorded."""

    operation: str = "switch"
    batch: str | None = None


def commit(
    planned: Planned, ledger: Ledger, machine: Machine, keep: Path, doing: Doing | None = None
) -> Row:
    """Writes the session. Raises SwitchError or WriteRefusedError; then nothing is left behind.

    `keep`: a folder of ours for copies of files that a program changes."""
    row = _row(planned, doing or Doing())
    row.done = _announced(planned, keep / row.id)
    ledger.put(row)
    try:
        failpoint("switch_ledger")
        _carry_out(planned, row, ledger, keep / row.id)
        _read_back(planned, machine)
        failpoint("switch_read")
        row.state = "written"
        ledger.put(row)
        _drop_older_copies(row, ledger, keep)
        failpoint("switch_written")
    except BaseException as error:
        _roll_back(row, ledger, error)
        raise
    return row


def _carry_out(planned: Planned, row: Row, ledger: Ledger, keep: Path) -> None:
    try:
        for file in planned.plan.files:
            steps.write_file(planned.root, file, row.id)
        for step in planned.plan.steps:
            begun = steps.announce(planned.root, step, keep)
            row.done += begun
            ledger.put(row)
            steps.perform(planned.root, step)
            steps.note_ran(begun)
    except OSError as error:
        raise SwitchError(
            f"the session could not be written: {error.strerror or type(error).__name__}",
            hint="Nothing was left behind; make room or give leave, and try again",
        ) from error


def _announced(planned: Planned, keep: Path) -> list[Done]:
    """The files; steps are announced when their turn comes, as the files may change what is so."""
    del keep
    done: list[Done] = []
    for file in planned.plan.files:
        done += [one for one in steps.announce_file(planned.root, file) if one not in done]
    return done


def _read_back(planned: Planned, machine: Machine) -> None:
    """Raises SwitchError where the target would not get what was meant."""
    plan, spec = planned.plan, planned.spec
    path = resolved(planned.root, plan.source)
    file = SourceFile(spec=spec, root=planned.root, path=path, modified_at=datetime.now(UTC))
    found = [s for s in machine.read(file) if s.session_id == plan.session_id]
    if len(found) != 1:
        raise SwitchError(
            f"what was written is not found again as {plan.session_id}",
            hint="Nothing was left behind; please report it", code="read-back",
        )  # fmt: skip
    compare.check(found[0], plan.expected)
    if planned.session.masked and compare.unmasked(found[0]):
        raise SwitchError(
            "what was written would hold a secret", code="unmasked",
            hint="Nothing was left behind; please report it",
        )  # fmt: skip


def _drop_older_copies(row: Row, ledger: Ledger, keep: Path) -> None:
    """Copies of a program's database from before an earlier write can never be put back now."""
    if not any(one.kind == "backup" for one in row.done):
        return
    for other in ledger.rows():
        if other.id != row.id and other.root == row.root:
            shutil.rmtree(keep / other.id, ignore_errors=True)


def _row(planned: Planned, doing: Doing) -> Row:
    session, plan = planned.session, planned.plan
    return Row(
        id=f"sw_{uuid4().hex[:16]}", state="writing", at=datetime.now(UTC),
        agent=planned.spec.slug, session_id=plan.session_id,
        path=str(planned.root / plan.source), root=str(planned.root),
        source=Came(
            agent=session.spec.slug, session_id=session.session_id, context_id=session.context_id
        ),
        operation=doing.operation, batch=doing.batch, version=planned.version,
        verdict=planned.opened.verdict.name, forced=planned.opened.forced,
        unmasked=not session.masked, turns=len(planned.fitted.conversation.turns),
        messages=planned.messages, tool_calls=planned.tool_calls,
        digest=source_digest(planned), losses=as_json(planned.losses),
        command=_safe_command(planned), cwd=plan.command.cwd,
    )  # fmt: skip


def source_digest(planned: Planned) -> str:
    """Of all that was carried, the waiting prompt included."""
    conversation = planned.fitted.conversation
    head = compare.digest_of(conversation.entries())
    if conversation.pending is None:
        return head
    from hashlib import blake2b

    tail = conversation.pending.encode("utf-8", "surrogatepass")
    return blake2b(head.encode() + tail, digest_size=16).hexdigest()


def _safe_command(planned: Planned) -> list[str]:
    """Without the prompt: the ledger holds no text of a session."""
    pending = planned.fitted.conversation.pending
    return [word for word in planned.plan.command.argv if pending is None or word != pending]


def _roll_back(row: Row, ledger: Ledger, error: BaseException) -> None:
    left = take_back(row.done)
    row.state = "failed"
    row.reason = getattr(error, "code", "") or type(error).__name__
    if left:
        row.reason += f"; left: {'; '.join(left)}"
    try:
        ledger.put(row)
    except UltraContextError:
        if not isinstance(error, UltraContextError):
            raise


def clean_up(ledger: Ledger, now: datetime) -> list[Row]:
    """Takes back what a writer that died had begun. For `doctor` and the next switch."""
    found = ledger.stranded(now - STRANDED_AFTER)
    for row in found:
        left = take_back([*row.done, *_temporaries(row)])
        row.state, row.reason = "failed", "; ".join(["its writer died", *left])
        ledger.put(row)
    return found


def _temporaries(row: Row) -> list[Done]:
    folders = {str(Path(one.path).parent) for one in row.done if one.kind == "file"}
    found = [Path(folder) / f".{row.id}.tmp" for folder in sorted(folders)]
    return [Done(kind="file", path=str(path)) for path in found]
