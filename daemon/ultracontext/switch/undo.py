"""Taking back a written session, unless somebody went on with it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from ultracontext.errors import CaptureError, WriteRefusedError
from ultracontext.formats import AgentSpec
from ultracontext.switch.back import take_back
from ultracontext.switch.done import SwitchError
from ultracontext.switch.ledger import Ledger, Row
from ultracontext.switch.machine import Machine, SourceFile
from ultracontext.switch.session import MaskedSession


def undo_row(
    row: Row,
    ledger: Ledger,
    machine: Machine,
    agents: Mapping[str, AgentSpec],
    keep: Path,
    *,
    force: bool = False,
) -> str | None:
    """Removes what a write made. Raises WriteRefusedError for a session that has grown, unless
    `force`: then its masked records are kept first, and the place is given."""
    kept = None
    if grown(row, machine, agents):
        if not force:
            raise WriteRefusedError(
                f"{row.session_id} has grown since it was written", code="grown",
                hint="Add --force: a masked copy is kept",
            )  # fmt: skip
        kept = _keep(row, machine, agents, keep)
    left = take_back(row.done, keep_grown=not force, later=True)
    if left:
        raise SwitchError(
            f"not all could be undone: {left[0]}", code="undo", hint="Close the agent, try again"
        )
    row.state = "undone"
    row.done = []
    ledger.put(row)
    return kept


def grown(row: Row, machine: Machine, agents: Mapping[str, AgentSpec]) -> bool:
    """Whether the target went on with it: its file is another, or it holds more."""
    files = [one for one in row.done if one.kind == "file"]
    for one in files:
        try:
            if sha256(Path(one.path).read_bytes()).hexdigest() != one.digest:
                return True
        except FileNotFoundError:
            continue
    if any(one.path == row.path for one in files):
        return False
    found = _session(row, machine, agents)
    said = ("user", "assistant", "tool_call", "tool_result")
    return found is not None and sum(m.kind in said for m in found.whole) > row.messages


def _session(row: Row, machine: Machine, agents: Mapping[str, AgentSpec]) -> MaskedSession | None:
    spec = agents.get(row.agent)
    if spec is None or not Path(row.path).exists():
        return None
    file = SourceFile(
        spec=spec, root=Path(row.root), path=Path(row.path), modified_at=datetime.now(UTC)
    )
    try:
        found = machine.read(file)
    except CaptureError:
        return None
    return next((s for s in found if s.session_id == row.session_id), None)


def _keep(row: Row, machine: Machine, agents: Mapping[str, AgentSpec], keep: Path) -> str | None:
    """The masked records of a grown session, one a line."""
    session = _session(row, machine, agents)
    if session is None:
        return None
    keep.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = keep / f"{row.id}.jsonl"
    path.write_bytes(b"".join(record.body + b"\n" for record, _ in session.records if record.body))
    path.chmod(0o600)
    return str(path)
