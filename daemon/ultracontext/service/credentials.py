"""The API key of the remote: environment, systemd's credential, keyring, or a file of mode 0600.

A keyring may be missing, locked, or hang for want of a session bus, so each call has two seconds in
a thread that nobody waits for; then the file holds the key. Never in `config.toml`.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

from ultracontext.errors import UltraContextError
from ultracontext.paths import Paths

T = TypeVar("T")

KEYRING_SECONDS = 2.0
SERVICE = "ultracontext-daemon"
CREDENTIAL = "ultracontext-api-key"
"""Name under which `LoadCredential=` of systemd gives it."""
VARIABLE = "ULTRACONTEXT_API_KEY"


class KeyringFailedError(Exception):
    """Its text is one of ours and may be shown."""


class Credentials:
    """The keys of one home. `url` names the server; a key is kept for its host and port."""

    def __init__(self, paths: Paths, env: Mapping[str, str]) -> None:
        self._file = paths.state_dir / "keys.json"
        self._space = str(paths.home)
        self._env = env

    def load(self, url: str) -> str | None:
        """The key, None when there is none. Never raises for a keyring."""
        return self.find(url)[0]

    def find(self, url: str) -> tuple[str | None, str]:
        """(key, where it is)"""
        if self._env.get(VARIABLE):
            return self._env[VARIABLE], "environment"
        given = self._given()
        if given:
            return given, "credential"
        name = account(url, self._space)
        kept = self._read().get(name)
        if kept is not None:
            return kept, "file"
        with suppress(KeyringFailedError):
            found = self._keyring(lambda ring: ring.get_password(SERVICE, name))
            if isinstance(found, str) and found:
                return found, "keyring"
        return None, "nowhere"

    def save(self, url: str, key: str) -> str:
        """`keyring` or `file`: where it is now, and nowhere else."""
        name = account(url, self._space)
        try:
            self._keyring(lambda ring: ring.set_password(SERVICE, name, key))
            kept = self._keyring(lambda ring: ring.get_password(SERVICE, name)) == key
        except KeyringFailedError:
            kept = False
        if kept:
            self._drop(name)
            return "keyring"
        self._write({**self._read(), name: key})
        return "file"

    def forget(self, url: str) -> list[str]:
        """The places from which it was taken."""
        name = account(url, self._space)
        gone = ["file"] if self._drop(name) else []
        with suppress(KeyringFailedError):
            if self._keyring(lambda ring: ring.get_password(SERVICE, name)) is not None:
                self._keyring(lambda ring: ring.delete_password(SERVICE, name))
                gone.append("keyring")
        return gone

    @cached_property
    def keyring_problem(self) -> str | None:
        """Why the keyring cannot be used here; None when it answers."""
        try:
            self._keyring(lambda ring: ring.get_password(SERVICE, "-"))
        except KeyringFailedError as error:
            return str(error)
        return None

    def _keyring(self, work: Callable[[Ring], T]) -> T:
        if _headless(self._env):
            raise KeyringFailedError("there is no session bus")
        return limited(lambda: work(_ring()), KEYRING_SECONDS)

    def _given(self) -> str | None:
        folder = self._env.get("CREDENTIALS_DIRECTORY", "")
        if not folder.startswith("/"):
            return None
        try:
            return (Path(folder) / CREDENTIAL).read_text("utf-8").strip() or None
        except (OSError, UnicodeDecodeError):
            return None

    def _read(self) -> dict[str, str]:
        try:
            found = json.loads(self._file.read_bytes())
        except (OSError, ValueError):
            return {}
        if not isinstance(found, dict):
            return {}
        return {str(k): v for k, v in found.items() if isinstance(v, str)}

    def _write(self, keys: dict[str, str]) -> None:
        try:
            handle, name = tempfile.mkstemp(prefix=".keys-", dir=self._file.parent)  # mode 0600
            with os.fdopen(handle, "w", encoding="utf-8") as out:
                json.dump(keys, out)
            Path(name).replace(self._file)
        except OSError as error:
            raise UltraContextError(
                f"cannot write {self._file}: {error.strerror or type(error).__name__}",
                hint="Make its folder writable",
                code="home",
            ) from error

    def _drop(self, name: str) -> bool:
        keys = self._read()
        if keys.pop(name, None) is None:
            return False
        if keys:
            self._write(keys)
        else:
            self._file.unlink(missing_ok=True)
        return True


class Ring:
    """What we use of `keyring`."""

    def get_password(self, service: str, name: str) -> str | None:
        import keyring

        return keyring.get_password(service, name)

    def set_password(self, service: str, name: str, key: str) -> None:
        import keyring

        keyring.set_password(service, name, key)

    def delete_password(self, service: str, name: str) -> None:
        import keyring

        keyring.delete_password(service, name)


def _ring() -> Ring:
    return Ring()


def account(url: str, home: str) -> str:
    """One name a server and home, without user and password."""
    parts = urlsplit(url)
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.hostname or 'local'}{port} {home}"


def limited(work: Callable[[], T], limit_seconds: float) -> T:
    """Runs `work` in a thread for so long. Raises KeyringFailedError, whatever goes wrong in it."""
    done: list[T] = []
    failed: list[str] = []

    def body() -> None:
        try:
            done.append(work())
        except BaseException as error:  # noqa: BLE001  # backends raise what they like
            failed.append(type(error).__name__)

    thread = threading.Thread(target=body, name="keyring", daemon=True)
    thread.start()
    thread.join(limit_seconds)
    if done:
        return done[0]
    raise KeyringFailedError(
        f"it failed ({failed[0]})" if failed else f"it did not answer in {limit_seconds:.0f} s"
    )


def _headless(env: Mapping[str, str]) -> bool:
    """On Linux every keyring of the desktop is behind the session bus; a chosen backend is not."""
    if sys.platform == "darwin" or env.get("PYTHON_KEYRING_BACKEND"):
        return False
    bus = env.get("DBUS_SESSION_BUS_ADDRESS", "")
    runtime = env.get("XDG_RUNTIME_DIR", "")
    return not bus and not (runtime.startswith("/") and (Path(runtime) / "bus").exists())
