"""Which kind of service this machine allows, and what every kind can do."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from ultracontext.paths import Paths
from ultracontext.service import record
from ultracontext.service.baked import program_of
from ultracontext.service.host import Run, runner, user_bus


@dataclass(slots=True, kw_only=True)
class Outcome:
    """What was done, for a person and as data."""

    changed: list[Path] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    starts_itself: bool = True
    """False: the caller starts the daemon in the background."""


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    installed: bool
    running: bool | None
    """As the service manager sees it; None where there is none."""
    current: bool
    """Whether the files are those that this version would write."""
    detail: str = ""
    """The manager's own words for its state (`active`, `failed`, `start-limit-hit` …)."""


class Service(Protocol):
    """One kind of login service. Every method may be called again and changes nothing then."""

    kind: str

    def files(self) -> dict[Path, bytes]:
        """What `install` writes."""

    def install(self, *, linger: bool | None = None) -> Outcome: ...
    def uninstall(self) -> Outcome: ...
    def restart(self) -> Outcome: ...
    def state(self) -> State: ...
    def soften(self) -> Outcome:
        """Takes away the hardening that needs mounts."""


def chosen_service(
    paths: Paths, env: Mapping[str, str], home: Path, *, run: Run | None = None
) -> Service:
    """What is installed; else launchd on a Mac, systemd where it runs for this user, and the
    desktop's autostart."""
    from ultracontext.service.autostart import Autostart
    from ultracontext.service.launchd import Launchd
    from ultracontext.service.systemd import Systemd

    program = program_of(paths, env, home)
    call = run or runner(env)
    record_file = paths.state_dir / "service.json"
    done = record.load(record_file)
    kind = done.kind if done is not None else None
    if sys.platform == "darwin":
        return Launchd(program, home, call, record_file)
    if kind == "systemd" or (kind is None and user_bus(call)):
        return Systemd(program, env, home, call, record_file)
    return Autostart(program, env, home, paths.state_dir / "autostart.sh", record_file)


def xdg_config(env: Mapping[str, str], home: Path) -> Path:
    value = env.get("XDG_CONFIG_HOME", "")
    return Path(value) if value.startswith("/") else home / ".config"
