"""Units hold whatever a path or a variable holds, and systemd reads them without a complaint."""

from __future__ import annotations

import os
import plistlib
import shutil
import subprocess
from pathlib import Path

import pytest

from ultracontext.errors import UltraContextError
from ultracontext.paths import resolve_paths
from ultracontext.service.baked import Program, program_of
from ultracontext.service.escape import command_line, desktop_command, quoted
from ultracontext.service.unit_templates import HARDENING, LAUNCHD, SYSTEMD, template
from ultracontext.service.units import (
    autostart_entry,
    autostart_script,
    hardening_drop_in,
    launchd_job,
    systemd_unit,
)

HARD = ["plain", "two words", "a&b", "50% %h", "it's", 'a "b" c', "back\\slash", "$HOME", "é 你好"]


def program(folder: Path, arguments: tuple[str, ...] = ("run",)) -> Program:
    return Program(
        arguments=(str(folder / "python"), *arguments),
        environment={"PATH": f"{folder}:/usr/bin", "ULTRACONTEXT_HOME": str(folder)},
        writable=(folder,),
        output=folder / "out",
    )


def executable(folder: Path) -> None:
    folder.mkdir(parents=True)
    shutil.copy("/bin/sh", folder / "python")


@pytest.mark.parametrize("name", HARD)
@pytest.mark.skipif(
    shutil.which("systemd-analyze") is None and not os.environ.get("CI"),
    reason="no systemd-analyze on this machine",
)
def test_systemd_reads_the_unit_without_a_word(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    executable(folder)
    units = tmp_path / "units"
    (units / "ultracontext.service.d").mkdir(parents=True)
    unit = units / "ultracontext.service"
    unit.write_text(systemd_unit(program(folder), 252))
    drop_in = units / "ultracontext.service.d/hardening.conf"
    drop_in.write_text(hardening_drop_in(program(folder)))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--user", str(unit)],
        env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path), "HOME": str(tmp_path)},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.stdout + done.stderr == ""


@pytest.mark.skipif(
    shutil.which("systemd-analyze") is None and not os.environ.get("CI"),
    reason="no systemd-analyze on this machine",
)
def test_the_check_of_units_sees_a_fault(tmp_path: Path) -> None:
    unit = tmp_path / "ultracontext.service"
    unit.write_text(systemd_unit(program(tmp_path), 252).replace("Restart=", "Restrat="))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--user", str(unit)],
        env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path), "HOME": str(tmp_path)},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert "Restrat" in done.stderr


@pytest.mark.parametrize("name", HARD)
def test_launchd_gets_the_very_words(tmp_path: Path, name: str) -> None:
    made = program(tmp_path / name, ("-P", name))
    job = plistlib.loads(launchd_job(made))
    assert job["ProgramArguments"] == list(made.arguments)
    assert job["EnvironmentVariables"] == dict(made.environment)
    assert job["KeepAlive"] == {"SuccessfulExit": False}
    known = {
        "Label", "ProgramArguments", "EnvironmentVariables", "RunAtLoad", "KeepAlive",
        "ThrottleInterval", "ExitTimeOut", "ProcessType", "Umask", "WorkingDirectory",
        "StandardOutPath", "StandardErrorPath",
    }  # fmt: skip
    assert set(job) == known
    assert "@" not in launchd_job(program(Path("/p"))).decode().replace("@2x", "")


@pytest.mark.parametrize("name", HARD)
def test_autostart_script_gives_the_very_words(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    (folder / "python").write_text('#!/bin/sh\nprintf "%s\\n" "$ULTRACONTEXT_HOME" "$@"\n')
    (folder / "python").chmod(0o755)
    script = folder / "start.sh"
    script.write_text(autostart_script(program(folder, ("-P", "-m", "ultracontext.cli", "x"))))
    done = subprocess.run(
        ["/bin/sh", str(script)], capture_output=True, text=True, timeout=20, check=True
    )
    words = [str(folder), "-P", "-m", "ultracontext.cli", "daemon", "start"]
    assert done.stdout.splitlines() == words


def test_words_of_systemd() -> None:
    assert quoted('a "b" 50%\\') == '"a \\"b\\" 50%%\\\\"'
    assert command_line(["/a b/p", "$x"]) == '"/a b/p" "$$x"'
    assert command_line(["/it's/p", "x"]).startswith('/bin/sh -c "exec ')


def test_words_of_a_desktop_entry() -> None:
    assert desktop_command(["/a b/50%", 'q"']) == '"/a b/50%%" "q\\\\""'
    assert 'Exec="/bin/sh" "/s p"' in autostart_entry(Path("/s p"))


def test_back_off_is_asked_for_where_systemd_knows_it() -> None:
    made = program(Path("/p"))
    assert "RestartSteps=" not in systemd_unit(made, 252)
    assert "RestartSteps=" in systemd_unit(made, 255)
    for text in (systemd_unit(made, 252), hardening_drop_in(made)):
        assert "@" not in text


def test_a_text_of_the_person_is_not_taken_for_a_name_of_ours() -> None:
    made = program(Path("/a@PROGRAM@b@BACKOFF@"))
    text = systemd_unit(made, 252)
    assert 'Environment="ULTRACONTEXT_HOME=/a@PROGRAM@b@BACKOFF@"' in text


def test_templates_are_found() -> None:
    for name in (SYSTEMD, HARDENING, LAUNCHD):
        assert template(name)
    with pytest.raises(UltraContextError, match="missing"):
        template("systemd/other.in")


def test_what_is_baked(tmp_path: Path) -> None:
    env = {
        "ULTRACONTEXT_HOME": str(tmp_path / "uc"),
        "ULTRACONTEXT_LOG": "debug",
        "ULTRACONTEXT_API_KEY": "uc-not-a-real-key",
        "ULTRACONTEXT_ADMIN_KEY": "uc-not-a-real-key",
        "CODEX_HOME": "/w/codex",
        "OTHER": "x",
        "PATH": "relative:/opt/x/bin:/usr/bin",
    }
    made = program_of(resolve_paths(env, tmp_path), env, tmp_path)
    assert made.arguments[0].startswith("/")
    assert made.environment["PATH"] == "/opt/x/bin:/usr/bin:/usr/local/bin:/bin"
    assert made.environment["CODEX_HOME"] == "/w/codex"
    assert made.environment["ULTRACONTEXT_LOG"] == "debug"
    assert "OTHER" not in made.environment
    assert "uc-not-a-real-key" not in systemd_unit(made, 252)


def test_a_password_is_not_written_into_a_unit(tmp_path: Path) -> None:
    env = {"ULTRACONTEXT_REMOTE": "postgresql://me:hidden@db/x", "PATH": "/usr/bin"}
    with pytest.raises(UltraContextError, match="ULTRACONTEXT_REMOTE holds a password") as caught:
        program_of(resolve_paths(env, tmp_path), env, tmp_path)
    assert "hidden" not in str(caught.value)


def test_what_no_unit_can_say_is_refused(tmp_path: Path) -> None:
    env = {"ULTRACONTEXT_HOME": str(tmp_path / "a\nb"), "PATH": "/usr/bin"}
    with pytest.raises(UltraContextError, match="control character"):
        program_of(resolve_paths(env, tmp_path), env, tmp_path)
