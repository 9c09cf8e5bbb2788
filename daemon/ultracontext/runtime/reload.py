"""New settings for a running daemon: on SIGHUP, and when `config.toml` is another file or text.

Settings that do not hold change nothing: the old ones stay, and `status` says what is wrong.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from ultracontext import logs
from ultracontext.agents import known
from ultracontext.errors import UltraContextError
from ultracontext.logs import get_logger
from ultracontext.redaction.opening import open_redactor
from ultracontext.runtime.assembly import Setup, captured_agents, local_store
from ultracontext.runtime.health import problem
from ultracontext.settings import load_settings

log = get_logger(__name__)

Look = tuple[int, int, int] | None


class Reloading:
    """Lives as long as the process; knows how `config.toml` was when its settings were read."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._seen = look(setup.paths.config_file)
        self.problem: dict[str, str] | None = None

    def changed(self) -> bool:
        """Whether the file is another since the last look."""
        now = look(self._setup.paths.config_file)
        before, self._seen = self._seen, now
        return now != before

    def fresh(self) -> Setup | None:
        """A setup with other settings, checked as far as can be; None to go on as before."""
        setup = self._setup
        try:
            settings = load_settings(
                setup.paths.config_file, setup.env, flags=setup.flags, agents=known()
            )
            settings.check()
            other = replace(setup, settings=settings)
            if settings != setup.settings:
                captured_agents(settings)
                local_store(other)
                open_redactor(setup.paths, settings)
        except UltraContextError as error:
            self.problem = problem(
                "settings-broken",
                f"the settings changed and do not hold, so the earlier ones stay: {error.message}",
                error.hint,
            )
            log.warning("settings-refused", code=error.code)
            return None
        self.problem = None
        if settings == setup.settings:
            return None
        self._setup = other
        logs.set_level(settings.log.level)
        log.info("settings-taken")
        return other


def look(file: Path) -> Look:
    """What tells one state of a file from another; None when it is not there."""
    try:
        found = os.stat(file)  # noqa: PTH116  # the tuple is all that is wanted
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
