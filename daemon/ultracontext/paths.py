"""Where everything of ours lies: one resolver for every path.

`ULTRACONTEXT_HOME` moves all of it under one folder:

    config.toml  store.db  index.db  state/  run/daemon.sock  logs/

Without it the places are those of `platformdirs` for the application `ultracontext` (a test
compares them; it is not imported, because it reads the process environment and costs start time).
Folders are 0700, files 0600.
"""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from ultracontext.errors import SettingsError, UltraContextError

SOCKET_PATH_BYTES = 100
"""The kernel takes 107 bytes on Linux and 103 on macOS; beyond this the short place is used."""

_APPLICATION = "ultracontext"


class PathsError(UltraContextError):
    """A folder of ours cannot be made or is not ours."""

    code = "home"


@dataclass(frozen=True, slots=True, kw_only=True)
class Paths:
    """All our places. Nothing is created before `ensure`."""

    home: Path
    """`ULTRACONTEXT_HOME`, else the data folder; named in messages."""
    config_file: Path
    store_file: Path
    index_file: Path
    state_dir: Path
    run_dir: Path
    logs_dir: Path
    socket: Path
    socket_dir: Path
    """Folder of the socket: `run_dir`, or the short place when that path is too long."""

    @property
    def lock_file(self) -> Path:
        return self.run_dir / "daemon.lock"

    def socket_of(self, written: str) -> Path:
        """The socket that a running daemon wrote down; it may have had another XDG_RUNTIME_DIR."""
        return Path(written) if written.startswith("/") else self.socket

    @property
    def log_file(self) -> Path:
        return self.logs_dir / "daemon.log"

    @property
    def output_file(self) -> Path:
        """What a daemon in the background prints: nothing, unless the interpreter itself fails."""
        return self.logs_dir / "daemon.out"

    @property
    def secret_file(self) -> Path:
        return self.state_dir / "secret"

    @property
    def audit_file(self) -> Path:
        return self.state_dir / "audit.jsonl"

    @property
    def cache_dir(self) -> Path:
        return self.state_dir / "cache"

    def folders(self) -> Iterator[Path]:
        """Folders that are ours alone, parents first."""
        seen: set[Path] = set()
        folders = (
            self.home, self.config_file.parent, self.store_file.parent, self.state_dir,
            self.cache_dir, self.run_dir, self.logs_dir,
        )  # fmt: skip
        for folder in folders:
            if folder not in seen:
                seen.add(folder)
                yield folder

    def ensure(self) -> None:
        """Makes the folders, and makes private again what is there. Raises PathsError."""
        folders = list(self.folders())
        for folder in folders:
            if folder.parent not in folders:
                _check_own(folder)
        for folder in folders:
            _make_private(folder)
            _close_files(folder)
        if self.socket_dir != self.run_dir:
            _check_socket_dir(self.socket_dir)


def resolve_paths(env: Mapping[str, str], home: Path) -> Paths:
    """All paths for this environment and home folder; raises SettingsError for an unfit home."""
    root = env.get("ULTRACONTEXT_HOME", "")
    if root:
        return _under(_own_home(root, home), env)
    config, data, state, logs = _platform_folders(env, home)
    run_dir = state / "run"
    socket, socket_dir = _socket_place(run_dir, env)
    return Paths(
        home=data,
        config_file=config / "config.toml",
        store_file=data / "store.db",
        index_file=data / "index.db",
        state_dir=state,
        run_dir=run_dir,
        logs_dir=logs,
        socket=socket,
        socket_dir=socket_dir,
    )


def _own_home(root: str, home: Path) -> Path:
    folder = Path(os.path.abspath(Path(root).expanduser()))  # noqa: PTH100  # resolve() follows links
    if folder in (home, *home.parents):
        raise SettingsError(
            f"ULTRACONTEXT_HOME is {folder}, which holds more than our files",
            hint=f"Give it a folder of its own, such as {home / '.ultracontext'}",
        )
    return folder


def _under(folder: Path, env: Mapping[str, str]) -> Paths:
    run_dir = folder / "run"
    socket, socket_dir = _socket_place(run_dir, env)
    return Paths(
        home=folder,
        config_file=folder / "config.toml",
        store_file=folder / "store.db",
        index_file=folder / "index.db",
        state_dir=folder / "state",
        run_dir=run_dir,
        logs_dir=folder / "logs",
        socket=socket,
        socket_dir=socket_dir,
    )


def _platform_folders(env: Mapping[str, str], home: Path) -> tuple[Path, Path, Path, Path]:
    """Config, data, state and log folders."""
    if sys.platform == "darwin":
        support = home / "Library/Application Support" / _APPLICATION
        return support, support, support / "state", home / "Library/Logs" / _APPLICATION

    def xdg(name: str, default: str) -> Path:
        value = env.get(name, "").strip()
        base = Path(value) if value.startswith("/") else home / default
        return base / _APPLICATION

    state = xdg("XDG_STATE_HOME", ".local/state")
    config = xdg("XDG_CONFIG_HOME", ".config")
    return config, xdg("XDG_DATA_HOME", ".local/share"), state, state / "log"


def _socket_place(run_dir: Path, env: Mapping[str, str]) -> tuple[Path, Path]:
    place = run_dir / "daemon.sock"
    if len(os.fsencode(place)) <= SOCKET_PATH_BYTES:
        return place, run_dir
    name = f"uc-{blake2b(os.fsencode(run_dir), digest_size=8).hexdigest()}.sock"
    runtime = env.get("XDG_RUNTIME_DIR", "")
    if runtime.startswith("/") and len(os.fsencode(runtime)) + len(name) + 1 <= SOCKET_PATH_BYTES:
        return Path(runtime) / name, Path(runtime)
    folder = Path(tempfile.gettempdir()) / f"ultracontext-{os.getuid()}"
    if len(os.fsencode(folder / name)) > SOCKET_PATH_BYTES:
        folder = Path(f"/tmp/ultracontext-{os.getuid()}")  # noqa: S108  # its owner is verified
    return folder / name, folder


def _check_own(folder: Path) -> None:
    """Refuses a folder that is somebody's for other things: ours are made private as a whole."""
    try:
        mode = stat.S_IMODE(folder.stat().st_mode)
        names = [entry.name for entry in folder.iterdir()] if mode & 0o077 else []
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise _cannot(folder, error) from error
    ours = any(name in OUR_NAMES or name.endswith(".log") for name in names)
    if mode & stat.S_ISVTX or (names and not ours):
        raise PathsError(
            f"{folder} is open to others and holds other things",
            hint="Choose a folder of its own by ULTRACONTEXT_HOME",
        )


def _make_private(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.stat()
        if found.st_uid != os.getuid():
            raise PathsError(
                f"{folder} belongs to another user",
                hint="Choose another folder by ULTRACONTEXT_HOME",
            )
        if stat.S_IMODE(found.st_mode) & 0o077:
            folder.chmod(0o700)
    except OSError as error:
        raise _cannot(folder, error) from error


OUR_NAMES = {"config.toml", "store.db", "index.db", "state", "run", "logs", "log", "secret"}
"""By these a folder of an earlier run is known."""


def _close_files(folder: Path) -> None:
    """Takes group and others off files that an earlier umask or a copy left open."""
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if not entry.is_file(follow_symlinks=False):
                    continue
                mode = entry.stat(follow_symlinks=False).st_mode
                if stat.S_IMODE(mode) & 0o077:
                    Path(entry.path).chmod(0o600)
    except FileNotFoundError:
        return  # a file went away meanwhile, such as a journal of the store
    except OSError as error:
        raise _cannot(folder, error) from error


def _check_socket_dir(folder: Path) -> None:
    """The short place must be ours and closed, which a folder for all does not promise."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError as error:
        raise _cannot(folder, error) from error
    private = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
    if not private or stat.S_IMODE(found.st_mode) & 0o077:
        raise PathsError(
            f"{folder} is not a private folder of this user, so the socket cannot lie there",
            hint="Remove it, or set ULTRACONTEXT_HOME to a shorter path",
        )


def _cannot(folder: Path, error: OSError) -> PathsError:
    reason = error.strerror or type(error).__name__
    return PathsError(
        f"cannot write to {folder}: {reason}",
        hint="Make it writable, or choose another folder by ULTRACONTEXT_HOME",
    )
