"""Keys of servers: a keyring that fails in every way, and the file that takes over."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from ultracontext.paths import resolve_paths
from ultracontext.service import credentials
from ultracontext.service.credentials import Credentials, Ring, account

URL = "https://team.example:8443/path"
KEY = "uc_" + "k" * 20
BUS = {"DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere"}


class Sound(Ring):
    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, name: str) -> str | None:
        return self.kept.get((service, name))

    def set_password(self, service: str, name: str, key: str) -> None:
        self.kept[service, name] = key

    def delete_password(self, service: str, name: str) -> None:
        del self.kept[service, name]


class Raising(Ring):
    def get_password(self, service: str, name: str) -> str | None:
        raise RuntimeError("locked: " + KEY)

    set_password = delete_password = get_password  # type: ignore[assignment]


class Hanging(Ring):
    def __init__(self) -> None:
        self.let_go = threading.Event()

    def get_password(self, service: str, name: str) -> str | None:
        self.let_go.wait(30)
        return None

    def set_password(self, service: str, name: str, key: str) -> None:
        self.let_go.wait(30)


class Forgetting(Sound):
    def set_password(self, service: str, name: str, key: str) -> None:
        pass


def held(home: Path, **env: str) -> Credentials:
    paths = resolve_paths({"ULTRACONTEXT_HOME": str(home / "uc")}, home)
    paths.ensure()
    return Credentials(paths, env)


def use(monkeypatch: pytest.MonkeyPatch, ring: Ring) -> None:
    monkeypatch.setattr(credentials, "_ring", lambda: ring)
    monkeypatch.setattr("ultracontext.service.credentials.sys.platform", "linux")


def key_file(home: Path) -> Path:
    return home / "uc/state/keys.json"


def test_keyring_keeps_it_and_no_file_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, Sound())
    keys = held(tmp_path, **BUS)
    assert keys.save(URL, KEY) == "keyring"
    assert keys.find(URL) == (KEY, "keyring")
    assert not key_file(tmp_path).exists()
    assert keys.forget(URL) == ["keyring"]
    assert keys.load(URL) is None


@pytest.mark.parametrize("ring", [Raising, Forgetting])
def test_a_keyring_that_fails_leaves_it_to_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ring: type[Ring]
) -> None:
    use(monkeypatch, ring())
    keys = held(tmp_path, **BUS)
    assert keys.save(URL, KEY) == "file"
    assert key_file(tmp_path).stat().st_mode & 0o777 == 0o600
    assert keys.find(URL) == (KEY, "file")
    assert keys.forget(URL) == ["file"]
    assert not key_file(tmp_path).exists()
    assert KEY not in str(keys.keyring_problem)


def test_a_keyring_that_hangs_has_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ring = Hanging()
    use(monkeypatch, ring)
    monkeypatch.setattr(credentials, "KEYRING_SECONDS", 0.2)
    begun = time.monotonic()
    keys = held(tmp_path, **BUS)
    assert keys.save(URL, KEY) == "file"
    assert keys.load(URL) == KEY
    assert time.monotonic() - begun < 5
    ring.let_go.set()


def test_the_limit_is_two_seconds() -> None:
    assert credentials.KEYRING_SECONDS == 2.0


def test_without_a_session_bus_no_keyring_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ring = Hanging()
    use(monkeypatch, ring)
    keys = held(tmp_path, DBUS_SESSION_BUS_ADDRESS="")
    begun = time.monotonic()
    assert keys.save(URL, KEY) == "file"
    assert time.monotonic() - begun < 1
    assert keys.keyring_problem == "there is no session bus"


def test_credential_of_systemd_and_environment_win(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, Sound())
    (tmp_path / "ultracontext-api-key").write_text("given\n")
    assert held(tmp_path, CREDENTIALS_DIRECTORY=str(tmp_path)).find(URL) == ("given", "credential")
    keys = held(tmp_path, CREDENTIALS_DIRECTORY=str(tmp_path), ULTRACONTEXT_API_KEY="env")
    assert keys.find(URL) == ("env", "environment")


def test_a_key_goes_to_its_own_server_only(tmp_path: Path) -> None:
    keys = held(tmp_path)
    keys.save(URL, KEY)
    assert keys.load("https://other.example") is None
    assert account("https://u:p@h:1/x", "/home") == "h:1 /home"
