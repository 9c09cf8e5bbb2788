"""From a session and a target to a plan that can be shown, and then carried out."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path, PurePath
from typing import Any
from uuid import uuid4

from ultracontext.errors import WriteRefusedError
from ultracontext.formats import AgentSpec, Entry, Loss, Probe, Target, WritePlan
from ultracontext.formats.gate import Opened
from ultracontext.formats.writing import losses
from ultracontext.model import RawRecord
from ultracontext.redaction import Redactor, dump_json
from ultracontext.switch.fit import Cleaner, Fitted, Place, Wish, fit
from ultracontext.switch.machine import Machine
from ultracontext.switch.session import MaskedSession

PROBE_SECONDS = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a plan depends on beside the session."""

    home: Path
    environment: Mapping[str, str]
    root: Path
    """Of the target."""
    version: str
    program: str | None
    now: datetime
    local: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """All that `--dry-run` shows."""

    session: MaskedSession
    spec: AgentSpec
    opened: Opened
    root: Path
    version: str
    fitted: Fitted
    plan: WritePlan
    losses: tuple[Loss, ...]

    @property
    def notes(self) -> list[str]:
        return [*self.fitted.notes, *self.plan.notes]

    @property
    def messages(self) -> int:
        return sum(not e.note for e in self.fitted.conversation.entries())

    @property
    def tool_calls(self) -> int:
        return sum(e.kind == "tool_call" for e in self.fitted.conversation.entries())


def prepare(
    session: MaskedSession,
    spec: AgentSpec,
    opened: Opened,
    wish: Wish,
    place: Place,
    around: Surroundings,
    machine: Machine,
    redactor: Redactor | None,
) -> Planned:
    """`redactor` masks what the conversation holds once more; None for an unmasked session."""
    writer = opened.writer
    clean = masking(redactor) if redactor is not None else lambda entry: entry
    fitted = fit(
        session, writer.limits, wish, place,
        same_agent=spec.slug == session.spec.slug, clean=clean,
    )  # fmt: skip
    name = str(uuid4())
    found = dict(machine.answers(around.root, writer.lookups, name))
    found |= {probe.name: answer(around.root, probe) for probe in writer.probes}
    target = Target(
        root=PurePath(around.root), home=PurePath(around.home), version=around.version,
        session_id=name, now=around.now, local=around.local, environment=around.environment,
        program=around.program, found=found,
    )  # fmt: skip
    plan = writer.plan(fitted.conversation, target)
    total = sum(len(file.data) for file in plan.files)
    limit = writer.limits.history_bytes
    if limit is not None and total > limit:
        fitted.notes.append(
            f"the session is {total} bytes, {spec.name} takes {limit}:"
            " --last N or --budget N carries less"
        )
    return Planned(
        session=session, spec=spec, opened=opened, root=around.root, version=around.version,
        fitted=fitted, plan=plan, losses=losses([*fitted.losses, *plan.losses]),
    )  # fmt: skip


def masking(redactor: Redactor) -> Cleaner:
    """Masks a call's input as the object that it becomes: in the source it may have been a text,
    where the name of a key says less."""

    def clean(entry: Entry) -> Entry:
        if entry.kind != "tool_call" or not entry.input:
            return entry
        data = dump_json({"input": dict(entry.input)})
        record = redactor.redact(
            RawRecord(agent="switch", source="switch", start=0, end=len(data), data=data),
            whole=True,
        )
        if not record.masks:
            return entry
        return replace(entry, input=record.native["input"])

    return clean


def answer(root: Path, probe: Probe) -> bool | None:
    """Whether something listens, or lives."""
    if probe.kind == "port":
        with suppress(OSError), socket.create_connection(("127.0.0.1", probe.port), PROBE_SECONDS):
            return True
        return False
    try:
        text = (root / probe.path).read_text("utf-8", "replace")[:200]
    except OSError:
        return None
    digits = next((word for word in _words(text) if word.isdecimal()), None)
    if digits is None:
        return None
    try:
        os.kill(int(digits), 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def _words(text: str) -> list[str]:
    return "".join(c if c.isdecimal() else " " for c in text).split()


def working_folder(session: MaskedSession, given: str | None) -> str:
    """Where the target will work: the one given, else the session's. Never guessed."""
    folder = given or session.facts.project_path
    if not folder:
        raise WriteRefusedError(
            "this session does not say in which folder it worked", code="no-cwd",
            hint="Name one with --cwd",
        )  # fmt: skip
    if not Path(folder).is_absolute():
        raise WriteRefusedError(
            f"{folder} is no absolute path", code="no-cwd", hint="Name a folder with --cwd"
        )
    if not Path(folder).is_dir():
        raise WriteRefusedError(
            f"the folder {folder} is not on this machine", code="no-cwd",
            hint="Name the folder of the project with --cwd",
        )  # fmt: skip
    return os.path.realpath(folder)


def elsewhere(session: MaskedSession, remotes: Mapping[str, Sequence[str]]) -> str | None:
    """The one folder on this machine with the same git remote, for a session of another one.

    `remotes`: remote → folders."""
    remote = session.facts.git_remote
    folders = (
        [f for f in remotes.get(same_remote(remote), ()) if Path(f).is_dir()] if remote else []
    )
    return folders[0] if len(set(folders)) == 1 else None


def same_remote(text: str | None) -> str:
    """`git@host:a/b.git` and `https://host/a/b` are one."""
    if not text:
        return ""
    plain = text.removesuffix("/").removesuffix(".git").partition("://")[2] or text
    return plain.rpartition("@")[2].replace(":", "/").removesuffix(".git").lower()


def as_json(value: Any) -> Any:
    """Losses as `--json` gives them."""
    return [{"kind": loss.kind, "count": loss.count} for loss in value]
