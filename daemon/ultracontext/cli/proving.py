"""`compat prove`: evidence of this machine."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ultracontext.cli import output
from ultracontext.cli.desk import Desk, Found, desk
from ultracontext.errors import UltraContextError, WriteRefusedError

if TYPE_CHECKING:
    from ultracontext.formats import AgentSpec, Run
    from ultracontext.runtime.machine import LocalMachine
    from ultracontext.switch.plan import Planned
    from ultracontext.switch.session import MaskedSession

TEST = "compat prove"
ALL_SECONDS = 55.0
LEAST_SECONDS = 20.0
"""With less left, no further session is begun: a program that is slow to start would be blamed."""


def prove(name: str | None, *, as_json: bool) -> int:
    """Runs each installed program on a session of each agent; remembers what came of it."""
    from ultracontext.switch.proof import remember

    at = desk()
    targets = [at.spec(name)] if name else [s for s in at.agents.values() if s.proof]
    ends = time.monotonic() + ALL_SECONDS
    runs: list[Run] = []
    for spec in targets:
        found = at.installed(spec)
        if spec.proof is None or spec.writer is None:
            raise WriteRefusedError(f"{spec.name} cannot be proven", code="handoff")
        if found is None or found.path is None:
            output.note(f"ultracontext: no {spec.name} is installed on the PATH")
            continue
        for run in _runs(at, spec, found, ends):
            runs.append(run)
            word = "arrives" if run.passed else f"does not arrive: {run.note}"
            output.note(f"ultracontext: {run.source} → {spec.slug} {run.version} {word}")
    if runs:
        at.place.paths.ensure()
        remember(at.place.paths.state_dir, runs)
    if as_json:
        import msgspec

        output.write_json([msgspec.to_builtins(run) for run in runs])
    return 0 if runs and all(run.passed for run in runs) else 1


def _runs(at: Desk, spec: AgentSpec, found: Found, ends: float) -> Iterator[Run]:
    from ultracontext.formats import Run

    with tempfile.TemporaryDirectory(prefix="uc-prove-", ignore_cleanup_errors=True) as made:
        base = Path(made).resolve()
        project = base / "project"
        project.mkdir()
        for session in samples(at, base / "samples", project):
            left = ends - time.monotonic()
            if left < LEAST_SECONDS and left < ALL_SECONDS - 1:
                output.note("ultracontext: no time is left; prove one agent at a time")
                return
            home = base / f"home-{session.spec.slug}"
            home.mkdir()
            try:
                note = _one(at, spec, found, session, home, project, left)
            except (UltraContextError, OSError) as error:
                note = getattr(error, "message", None) or type(error).__name__
            yield Run(
                source=session.spec.slug, source_version=session.facts.agent_version or "",
                target=spec.slug, version=found.version, date=f"{datetime.now(UTC):%Y-%m-%d}",
                test=TEST, passed=not note, note=note, local=True,
            )  # fmt: skip


def samples(at: Desk, base: Path, project: Path) -> Iterator[MaskedSession]:
    """A session of each agent: the demo's, and what we write of it for those without one."""
    from ultracontext.cli.demo import made_up_key, recordings

    first: MaskedSession | None = None
    for recording in recordings(base / "demo", made_up_key()):
        recording.file.parent.mkdir(parents=True, exist_ok=True)
        recording.file.write_bytes(b"".join(recording))
        spec = at.agents[recording.agent]
        found = _read(at, spec, Path(str(spec.roots({}, base / "demo")[0])))
        if found is not None:
            first = first or found
            yield found
    without = [s for s in at.agents.values() if s.demo is None and s.writer is not None]
    for spec in without if first is not None else ():
        made = _written(at, spec, first, base, project) if first is not None else None
        if made is not None:
            yield made


def _written(
    at: Desk, spec: AgentSpec, session: MaskedSession, base: Path, project: Path
) -> MaskedSession | None:
    """By our own writer for the oldest version it knows: plain files, no program."""
    from ultracontext.formats import RunProgram

    version = spec.compat.writes[0].first if spec.compat and spec.compat.writes else "0"
    home = base / f"made-{spec.slug}"
    root = Path(str(spec.roots({}, home)[0]))
    root.mkdir(parents=True)
    planned = _planned(at, spec, Found(version, None), session, home, root, project)
    if any(isinstance(step, RunProgram) for step in planned.plan.steps):
        return None
    _commit(at, planned, home, root)
    return _read(at, spec, root)


def _read(at: Desk, spec: AgentSpec, root: Path) -> MaskedSession | None:
    machine = _machine(at, spec, root)
    found = [s for f in machine.files([spec.slug]) for s in machine.read(f) if s.messages]
    return found[0] if found else None


def _machine(at: Desk, spec: AgentSpec, root: Path) -> LocalMachine:
    from ultracontext.runtime.machine import LocalMachine

    return LocalMachine(at.agents, {spec.slug: [root]}, at.redactor)


def _planned(
    at: Desk, spec: AgentSpec, found: Found, session: MaskedSession, home: Path, root: Path,
    project: Path,
) -> Planned:  # fmt: skip
    from ultracontext.formats.gate import open_writer
    from ultracontext.switch.fit import Place, Wish
    from ultracontext.switch.plan import Surroundings, prepare

    opened = open_writer(session.spec.slug, spec.slug, found.version, agents=at.agents, force=True)
    now = datetime.now(UTC)
    environment = {"HOME": str(home), "PATH": _path(found.path, at)}
    around = Surroundings(
        home=home, environment=environment, root=root, version=found.version, program=found.path,
        now=now, local=now.astimezone(),
    )  # fmt: skip
    machine = _machine(at, spec, root)
    wish = Wish(pending=False)
    place = Place(cwd=str(project))
    return prepare(session, spec, opened, wish, place, around, machine, at.redactor)


def _commit(at: Desk, planned: Planned, home: Path, root: Path) -> None:
    from ultracontext.formats import RunProgram
    from ultracontext.switch.commit import commit
    from ultracontext.switch.ledger import Ledger

    moved = {"HOME": str(home)}  # a command of the agent's own must not find the person's home
    steps = tuple(
        replace(step, environment={**step.environment, **moved})
        if isinstance(step, RunProgram)
        else step
        for step in planned.plan.steps
    )
    there = replace(planned, plan=replace(planned.plan, steps=steps))
    commit(there, Ledger(home / "ledger.db"), _machine(at, planned.spec, root), home / "keep")


def _one(
    at: Desk, spec: AgentSpec, found: Found, session: MaskedSession, home: Path, project: Path,
    seconds: float,
) -> str:  # fmt: skip
    """Why a session does not arrive; empty when it does."""
    from ultracontext.switch.prove import Asked, ask, missing

    proof, program = spec.proof, found.path
    if proof is None or program is None:
        return "it cannot be run"
    root = Path(str(spec.roots({}, home)[0]))
    with Asked() as asked:
        for name, text in proof.files(asked.url, str(project)).items():
            place = root / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
        planned = _planned(at, spec, found, session, home, root, project)
        _commit(at, planned, home, root)
        texts = ask(
            program, proof, planned.plan.session_id, home, project, asked,
            _path(program, at), min(seconds, 40.0),
        )  # fmt: skip
    if texts is None:
        return "the program asked its model nothing"
    lost = missing(texts, planned.plan.expected)
    return f"{lost} of {len(planned.plan.expected)} entries were not sent" if lost else ""


def _path(program: str | None, at: Desk) -> str:
    folder = str(Path(program).parent) + ":" if program else ""
    return folder + at.place.env.get("PATH", os.defpath)
