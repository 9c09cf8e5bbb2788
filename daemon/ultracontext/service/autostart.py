"""Without a service manager of the user (containers, some WSL, old desktops): a background process,
and an entry of the XDG autostart (Desktop Application Autostart Specification 0.5)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ultracontext.service import record
from ultracontext.service.baked import Program
from ultracontext.service.choice import Outcome, State, xdg_config
from ultracontext.service.units import autostart_entry, autostart_script

WHY = (
    "systemd does not run for this user here, so the daemon runs in the background; a desktop"
    " starts it at login, nothing starts it again after a failure"
)


class Autostart:
    """A desktop entry and the script that it starts."""

    kind = "autostart"

    def __init__(
        self,
        program: Program,
        env: Mapping[str, str],
        home: Path,
        script: Path,
        record_file: Path,
    ) -> None:
        self._program = program
        self._script = script
        self._record_file = record_file
        self.entry = xdg_config(env, home) / "autostart/ultracontext.desktop"

    def files(self) -> dict[Path, bytes]:
        return {
            self._script: autostart_script(self._program).encode(),
            self.entry: autostart_entry(self._script).encode(),
        }

    def install(self, *, linger: bool | None = None) -> Outcome:
        notes = [WHY]
        if linger:
            notes.append("There is nothing to linger without systemd")
        return Outcome(changed=self._write(), notes=notes, starts_itself=False)

    def _write(self) -> list[Path]:
        files = self.files()
        record.save(self._record_file, record.Record(kind=self.kind, files=list(map(str, files))))
        return [file for file, data in files.items() if record.write(file, data)]

    def uninstall(self) -> Outcome:
        changed = [file for file in (self.entry, self._script) if record.remove(file)]
        self._record_file.unlink(missing_ok=True)
        return Outcome(changed=changed, starts_itself=False)

    def restart(self) -> Outcome:
        return Outcome(changed=self._write(), starts_itself=False)

    def state(self) -> State:
        files = self.files()
        installed = self.entry.exists()
        current = installed and all(
            file.exists() and file.read_bytes() == data for file, data in files.items()
        )
        return State(installed=installed, running=None, current=current)

    def soften(self) -> Outcome:
        return Outcome()
