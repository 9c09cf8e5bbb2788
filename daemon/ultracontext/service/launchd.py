"""An agent of launchd. Written after launchd.plist(5) and launchctl(1); not run on a Mac yet."""

from __future__ import annotations

import os
from pathlib import Path

from ultracontext.errors import UltraContextError
from ultracontext.service import record
from ultracontext.service.baked import Program
from ultracontext.service.choice import Outcome, State
from ultracontext.service.host import WORK_SECONDS, Answer, Run
from ultracontext.service.units import launchd_job

LABEL = "dev.ultracontext.daemon"


class Launchd:
    """`launchctl`, and one file in `~/Library/LaunchAgents`."""

    kind = "launchd"

    def __init__(self, program: Program, home: Path, run: Run, record_file: Path) -> None:
        self._program = program
        self._run = run
        self._record_file = record_file
        self._domain = f"gui/{os.getuid()}"
        self.job_file = home / "Library/LaunchAgents" / f"{LABEL}.plist"

    def files(self) -> dict[Path, bytes]:
        return {self.job_file: launchd_job(self._program)}

    def install(self, *, linger: bool | None = None) -> Outcome:
        del linger  # an agent lives from login to logout
        outcome = Outcome(changed=self._write())
        if outcome.changed or not self._loaded():
            self._load()
        return outcome

    def _write(self) -> list[Path]:
        files = self.files()
        record.save(self._record_file, record.Record(kind=self.kind, files=list(map(str, files))))
        return [file for file, data in files.items() if record.write(file, data)]

    def _load(self) -> None:
        if self._loaded():
            self._call("bootout", f"{self._domain}/{LABEL}")
        answer = self._call("bootstrap", self._domain, str(self.job_file))
        if not answer.ok:
            raise UltraContextError(
                f"launchd could not do it: {(answer.text or str(answer.code)).splitlines()[0]}",
                code="service-failed",
                hint=f"`launchctl print {self._domain}/{LABEL}` says more",
            )

    def uninstall(self) -> Outcome:
        if self._loaded():
            self._call("bootout", f"{self._domain}/{LABEL}")
        changed = [self.job_file] if record.remove(self.job_file) else []
        self._record_file.unlink(missing_ok=True)
        return Outcome(changed=changed)

    def restart(self) -> Outcome:
        outcome = Outcome(changed=self._write())
        if outcome.changed or not self._loaded():
            self._load()
        else:
            self._call("kickstart", "-k", f"{self._domain}/{LABEL}")
        return outcome

    def state(self) -> State:
        answer = self._call("print", f"{self._domain}/{LABEL}")
        installed = self.job_file.exists()
        return State(
            installed=installed,
            running="state = running" in answer.text,
            current=installed and self.job_file.read_bytes() == self.files()[self.job_file],
            detail="loaded" if answer.ok else "not loaded",
        )

    def soften(self) -> Outcome:
        return Outcome()

    def _loaded(self) -> bool:
        return self._call("print", f"{self._domain}/{LABEL}").ok

    def _call(self, *arguments: str) -> Answer:
        return self._run(["launchctl", *arguments], WORK_SECONDS)
