"""A unit of the user's systemd."""

from __future__ import annotations

import os
import pwd
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from ultracontext.errors import UltraContextError
from ultracontext.service import record
from ultracontext.service.baked import Program
from ultracontext.service.choice import Outcome, State, xdg_config
from ultracontext.service.host import ANSWER_SECONDS, WORK_SECONDS, Answer, Run, systemd_version
from ultracontext.service.units import hardening_drop_in, systemd_unit

UNIT = "ultracontext.service"
STAYS_SECONDS = 15.0
"""A start that fails does so sooner."""
LINGER = (
    "The service ends when you log out and begins when you log in;"
    " `ultracontext service install --linger` lets it run from boot"
)


class Systemd:
    """`systemctl --user`, and its files below `~/.config/systemd/user`."""

    kind = "systemd"

    def __init__(
        self, program: Program, env: Mapping[str, str], home: Path, run: Run, record_file: Path
    ) -> None:
        self._program = program
        self._run = run
        self._record_file = record_file
        self._folder = xdg_config(env, home) / "systemd/user"

    @property
    def unit_file(self) -> Path:
        return self._folder / UNIT

    @property
    def drop_in(self) -> Path:
        return self._folder / f"{UNIT}.d/hardening.conf"

    def files(self) -> dict[Path, bytes]:
        unit = systemd_unit(self._program, systemd_version(self._run))
        files = {self.unit_file: unit.encode()}
        done = record.load(self._record_file)
        if done is None or not done.plain:
            files[self.drop_in] = hardening_drop_in(self._program).encode()
        return files

    def install(self, *, linger: bool | None = None) -> Outcome:
        outcome = self._write()
        self._must("enable", UNIT)
        if outcome.changed or self._word("ActiveState") != "active":
            self._start(outcome)
        self._linger(outcome, linger)
        return outcome

    def _write(self) -> Outcome:
        """The files; what is already there and right stays untouched."""
        files = self.files()
        done = record.load(self._record_file) or record.Record(kind=self.kind)
        done.files = [str(file) for file in files]
        record.save(self._record_file, done)
        outcome = Outcome(
            changed=[file for file, data in files.items() if record.write(file, data)]
        )
        self._must("daemon-reload")
        return outcome

    def _start(self, outcome: Outcome) -> None:
        """Once more without the mounts where they are what is in the way."""
        self._call("reset-failed", UNIT)
        if self._starts() or not self.drop_in.exists():
            return
        softened = self.soften()
        if not self._starts():
            raise _failed(self._call("status", "--no-pager", "--lines=0", UNIT))
        outcome.notes += softened.notes

    def _starts(self) -> bool:
        """Whether it comes up: `restart` of a notifying unit waits for its word."""
        if not self._call("restart", UNIT).ok:
            return False
        until = time.monotonic() + STAYS_SECONDS
        while time.monotonic() < until:
            word = self._word("ActiveState")
            if word in ("active", "failed"):
                return word == "active"
            time.sleep(0.2)
        return False

    def soften(self) -> Outcome:
        done = record.load(self._record_file) or record.Record(kind=self.kind)
        done.plain = True
        record.save(self._record_file, done)
        if not record.remove(self.drop_in):
            return Outcome()
        with suppress(OSError):
            self.drop_in.parent.rmdir()
        self._call("daemon-reload")
        self._call("reset-failed", UNIT)
        note = "The service cannot start with its mounts here, so it runs without that hardening"
        return Outcome(changed=[self.drop_in], notes=[note])

    def _linger(self, outcome: Outcome, wanted: bool | None) -> None:
        if self._lingers() or wanted is False:
            return
        if wanted is None:
            outcome.notes.append(LINGER)
            return
        answer = self._run(["loginctl", "enable-linger"], WORK_SECONDS)
        if not answer.ok:
            outcome.notes.append("Lingering could not be switched on; loginctl refused")
            return
        done = record.load(self._record_file) or record.Record(kind=self.kind)
        done.linger = True
        record.save(self._record_file, done)

    def _lingers(self) -> bool:
        name = pwd.getpwuid(os.getuid()).pw_name
        shown = self._run(["loginctl", "show-user", name, "--property=Linger"], ANSWER_SECONDS)
        return shown.text == "Linger=yes"

    def uninstall(self) -> Outcome:
        done = record.load(self._record_file) or record.Record(kind=self.kind)
        outcome = Outcome()
        if record.is_ours(_bytes(self.unit_file)):
            self._call("disable", "--now", UNIT)
        outcome.changed = [f for f in (self.drop_in, self.unit_file) if record.remove(f)]
        with suppress(OSError):
            self.drop_in.parent.rmdir()
        wanted = self._folder / "default.target.wants" / UNIT
        if wanted.is_symlink():  # no systemd answered that could have done it
            wanted.unlink(missing_ok=True)
        if done.linger and self._run(["loginctl", "disable-linger"], WORK_SECONDS).ok:
            outcome.notes.append("Lingering is off again")
        self._call("daemon-reload")
        self._record_file.unlink(missing_ok=True)
        return outcome

    def restart(self) -> Outcome:
        outcome = self._write()
        self._start(outcome)
        return outcome

    def state(self) -> State:
        files = self.files()
        installed = self.unit_file.exists()
        word = self._word("ActiveState")
        return State(
            installed=installed,
            running=word in ("active", "reloading", "activating"),
            current=installed and all(_bytes(file) == data for file, data in files.items()),
            detail=word if word != "failed" else f"failed ({self._word('Result')})",
        )

    def _word(self, name: str) -> str:
        return self._call("show", UNIT, f"--property={name}", "--value").text

    def _call(self, *arguments: str) -> Answer:
        return self._run(["systemctl", "--user", *arguments], WORK_SECONDS)

    def _must(self, *arguments: str) -> None:
        answer = self._call(*arguments)
        if not answer.ok:
            raise _failed(answer)


def _failed(answer: Answer) -> UltraContextError:
    first = answer.text.splitlines()[0] if answer.text else f"it ended with {answer.code}"
    return UltraContextError(
        f"systemd could not do it: {first}",
        code="service-failed",
        hint="See `ultracontext service logs` and `journalctl --user -u ultracontext`",
    )


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""
