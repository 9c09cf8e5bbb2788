"""The user's systemd, played: what is called, what is written, what is undone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from ultracontext.errors import UltraContextError, WriteRefusedError
from ultracontext.paths import resolve_paths
from ultracontext.service.choice import Service, chosen_service
from ultracontext.service.host import Answer


class Machine:
    """Answers of `systemctl` and `loginctl` of systemd 252."""

    def __init__(self, *, bus: bool = True, mounts: bool = True, works: bool = True) -> None:
        self.calls: list[list[str]] = []
        self.bus, self.mounts, self.works = bus, mounts, works
        self.active = self.enabled = self.linger = False
        self.drop_in: Path | None = None

    def __call__(  # noqa: C901  # a table
        self, arguments: Sequence[str], limit_seconds: float
    ) -> Answer:
        del limit_seconds
        self.calls.append(list(arguments))
        match [word for word in arguments if word != "--user"]:
            case ["systemctl", "--version"]:
                return Answer(code=0, text="systemd 252 (252.39-1~deb12u2)")
            case ["systemctl", "show-environment"]:
                return Answer(code=0 if self.bus else 1)
            case ["systemctl", "enable", *_]:
                self.enabled = True
            case ["systemctl", "disable", *_]:
                self.enabled = self.active = False
            case ["systemctl", "restart", *_]:
                mounted = self.drop_in is not None and self.drop_in.exists()
                self.active = self.works and (self.mounts or not mounted)
                return Answer(code=0 if self.active else 1)
            case ["systemctl", "show", _, "--property=ActiveState", _]:
                return Answer(code=0, text="active" if self.active else "inactive")
            case ["systemctl", "status", *_]:
                return Answer(code=3, text="ultracontext.service failed")
            case ["loginctl", "enable-linger"]:
                self.linger = True
            case ["loginctl", "disable-linger"]:
                self.linger = False
            case ["loginctl", "show-user", *_]:
                return Answer(code=0, text=f"Linger={'yes' if self.linger else 'no'}")
            case _:
                pass
        return Answer(code=0)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / 'a b & 50% "é"'


def service(home: Path, machine: Machine, **env: str) -> Service:
    environment = {"PATH": "/usr/bin", "ULTRACONTEXT_HOME": str(home / "uc"), **env}
    paths = resolve_paths(environment, home)
    paths.ensure()
    machine.drop_in = home / ".config/systemd/user/ultracontext.service.d/hardening.conf"
    return chosen_service(paths, environment, home, run=machine)


def test_install_twice_changes_nothing_the_second_time(home: Path) -> None:
    machine = Machine()
    first = service(home, machine).install()
    assert machine.enabled
    assert machine.active
    assert [file.name for file in first.changed] == ["ultracontext.service", "hardening.conf"]
    assert any("--linger" in note for note in first.notes)
    machine.calls.clear()
    assert service(home, machine).install().changed == []
    assert not any("restart" in call for call in machine.calls)
    state = service(home, machine).state()
    assert (state.installed, state.running, state.current) == (True, True, True)


def test_uninstall_leaves_nothing_and_may_come_again(home: Path) -> None:
    machine = Machine()
    service(home, machine).install()
    assert len(service(home, machine).uninstall().changed) == 2
    assert not machine.active
    assert not [path for path in (home / ".config").rglob("*") if path.is_file()]
    assert not (home / "uc/state/service.json").exists()
    assert service(home, machine).uninstall().changed == []


def test_lingering_is_undone_only_by_who_began_it(home: Path) -> None:
    machine = Machine()
    service(home, machine).install(linger=True)
    assert machine.linger
    service(home, machine).uninstall()
    assert not machine.linger
    machine.linger = True  # somebody else's
    service(home, machine).install(linger=True)
    service(home, machine).uninstall()
    assert machine.linger


def test_a_new_version_writes_its_unit_anew(home: Path) -> None:
    machine = Machine()
    service(home, machine).install()
    other = service(home, machine, LANG="de_DE.UTF-8")
    assert not other.state().current
    assert [file.name for file in other.restart().changed] == ["ultracontext.service"]
    assert other.state().current


def test_without_mounts_it_runs_without_that_hardening(home: Path) -> None:
    machine = Machine(mounts=False)
    outcome = service(home, machine).install(linger=False)
    assert machine.active
    assert any("without that hardening" in note for note in outcome.notes)
    assert service(home, machine).state().current
    assert service(home, machine).install(linger=False).changed == []


def test_what_does_not_start_at_all_is_a_failure(home: Path) -> None:
    with pytest.raises(UltraContextError) as caught:
        service(home, Machine(works=False)).install()
    assert caught.value.code == "service-failed"


def test_a_unit_of_somebody_else_stays(home: Path) -> None:
    unit = home / ".config/systemd/user/ultracontext.service"
    unit.parent.mkdir(parents=True)
    unit.write_text("[Service]\nExecStart=/bin/true\n")
    with pytest.raises(WriteRefusedError):
        service(home, Machine()).install()
    service(home, Machine()).uninstall()
    assert unit.exists()


def test_without_a_bus_the_desktop_starts_it(home: Path) -> None:
    machine = Machine(bus=False)
    outcome = service(home, machine).install()
    assert not outcome.starts_itself
    assert "systemd does not run for this user" in outcome.notes[0]
    assert (home / ".config/autostart/ultracontext.desktop").exists()
    assert service(home, machine).state().current
    assert len(service(home, machine).uninstall().changed) == 2


def test_what_is_installed_is_taken_away_without_a_bus_too(home: Path) -> None:
    service(home, Machine()).install()
    assert len(service(home, Machine(bus=False)).uninstall().changed) == 2


def test_two_homes_of_two_users_keep_apart(tmp_path: Path) -> None:
    one, two = Machine(), Machine()
    service(tmp_path / "one", one).install()
    service(tmp_path / "two", two).install()
    service(tmp_path / "one", one).uninstall()
    assert service(tmp_path / "two", two).state().installed
