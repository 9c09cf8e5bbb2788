"""The text of every file that makes the daemon a service."""

from __future__ import annotations

import plistlib
import shlex
from pathlib import Path

from ultracontext.service.baked import Program
from ultracontext.service.escape import command_line, desktop_command, quoted
from ultracontext.service.unit_templates import HARDENING, LAUNCHD, SYSTEMD, template

STEPS_SINCE = 254
"""systemd that knows `RestartSteps`; an older one warns of it."""


def systemd_unit(program: Program, systemd_version: int) -> str:
    environment = [
        f"Environment={quoted(f'{name}={value}')}" for name, value in program.environment.items()
    ]
    backoff = ["RestartSec=10"]
    if systemd_version >= STEPS_SINCE:
        backoff = ["RestartSec=5", "RestartSteps=6", "RestartMaxDelaySec=300"]
    text = template(SYSTEMD).replace("@BACKOFF@", "\n".join(backoff))
    # The person's own text goes in last, so that nothing in it is taken for one of our names.
    head, _, tail = text.partition("@ENVIRONMENT@")
    head = head.replace("@PROGRAM@", command_line(program.arguments))
    return head + "\n".join(environment) + tail


def hardening_drop_in(program: Program) -> str:
    writable = " ".join(quoted(f"-{folder}") for folder in program.writable)
    return template(HARDENING).replace("@WRITABLE@", writable)


def launchd_job(program: Program) -> bytes:
    job = plistlib.loads(template(LAUNCHD).encode())
    job["ProgramArguments"] = list(program.arguments)
    job["EnvironmentVariables"] = dict(program.environment)
    job["StandardOutPath"] = job["StandardErrorPath"] = str(program.output)
    return plistlib.dumps(job)


def autostart_script(program: Program) -> str:
    """For a desktop without a systemd of the user: starts the daemon in the background."""
    exports = [f"export {name}={shlex.quote(value)}" for name, value in program.environment.items()]
    started = [*program.arguments[:4], "daemon", "start"]
    lines = ["#!/bin/sh", "# Made by `ultracontext service install`.", *exports]
    return "\n".join([*lines, f"exec {shlex.join(started)}", ""])


def autostart_entry(script: Path) -> str:
    return "\n".join(
        [
            "[Desktop Entry]",
            "# Made by `ultracontext service install`.",
            "Type=Application",
            "Name=UltraContext",
            "Comment=Keeps the sessions of coding agents",
            f"Exec={desktop_command(['/bin/sh', str(script)])}",
            "Terminal=false",
            "NoDisplay=true",
            "X-GNOME-Autostart-enabled=true",
            "",
        ]
    )
