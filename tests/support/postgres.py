"""A throw-away PostgreSQL on a socket in a temporary folder, for the tests that need one.

It listens on no port. Started by root it runs as `nobody`, because PostgreSQL refuses root.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from urllib.parse import quote

SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "max_connections": "60",
    "shared_buffers": "64MB",
    "log_min_messages": "fatal",
}


class PostgresMissingError(Exception):
    """The programs of PostgreSQL are not on this machine."""


def programs() -> Path:
    """The folder of `initdb` and `postgres`: `ULTRACONTEXT_CI_POSTGRES`, the newest of Debian's
    places, or that of the PATH."""
    named = os.environ.get("ULTRACONTEXT_CI_POSTGRES")
    if named:
        return Path(named)
    places = sorted(
        Path("/usr/lib/postgresql").glob("*/bin"), key=lambda place: int(place.parent.name)
    )
    for place in reversed(places):
        if (place / "initdb").exists():
            return place
    found = shutil.which("initdb")
    if found is None:
        raise PostgresMissingError("there is no initdb on this machine")
    return Path(found).resolve().parent


def as_ordinary_user(command: list[str]) -> list[str]:
    return ["runuser", "-u", "nobody", "--", *command] if os.geteuid() == 0 else command


class Cluster:
    """One running server. Tests share one database, emptied after each, or make their own."""

    def __init__(self, folder: Path, user: str) -> None:
        self.folder = folder
        self.user = user

    def url(self, database: str = "postgres", **options: str) -> str:
        query = "".join(f"&{name}={quote(value)}" for name, value in options.items())
        return f"postgresql:///{database}?host={quote(str(self.folder))}&user={self.user}{query}"

    def fresh(self) -> str:
        """Name of a new, empty database."""
        import psycopg

        name = f"t{uuid.uuid4().hex}"
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE template0".encode())
        return name

    @cached_property
    def shared(self) -> str:
        """Name of the database that tests share."""
        return self.fresh()

    def empty(self) -> None:
        """Takes everything out of the shared database."""
        import psycopg

        with psycopg.connect(self.url(self.shared), autocommit=True) as connection:
            tables = connection.execute(
                "SELECT string_agg(quote_ident(tablename), ', ') FROM pg_tables"
                " WHERE schemaname = 'public' AND tablename <> 'versions'"
            ).fetchone()
            if tables and tables[0]:
                connection.execute(f"TRUNCATE {tables[0]}".encode())

    def drop(self, name: str) -> None:
        import psycopg

        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


@contextmanager
def running() -> Iterator[Cluster]:
    """Makes a cluster, starts it, and removes it. Raises PostgresMissingError."""
    place = programs()
    # A socket's path has 107 bytes: pytest's folders are too deep for it.
    folder = Path(tempfile.mkdtemp(prefix="uc-pg-"))
    user = "nobody" if os.geteuid() == 0 else pwd.getpwuid(os.getuid()).pw_name
    if os.geteuid() == 0:
        shutil.chown(folder, user)
    data, log = folder / "data", folder / "log"
    started = False
    try:
        _run([
            str(place / "initdb"), "--pgdata", str(data), "--username", user, "--auth", "trust",
            "--encoding", "UTF8", "--locale", "C", "--no-sync",
        ], folder)  # fmt: skip
        settings = SETTINGS | {"unix_socket_directories": str(folder)}
        options = " ".join(f"-c {name}='{value}'" for name, value in settings.items())
        _run([
            str(place / "pg_ctl"), "--pgdata", str(data), "--log", str(log), "--wait",
            "--options", options, "start",
        ], folder)  # fmt: skip
        started = True
        yield Cluster(folder, user)
    finally:
        if started:
            stop = [str(place / "pg_ctl"), "--pgdata", str(data), "--mode", "immediate", "stop"]
            with suppress(subprocess.SubprocessError):
                _run(stop, folder)
        shutil.rmtree(folder, ignore_errors=True)


def _run(command: list[str], folder: Path) -> None:
    done = subprocess.run(
        as_ordinary_user(command), cwd=folder, capture_output=True, text=True, timeout=60,
        stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    if done.returncode:
        raise subprocess.SubprocessError(f"{command[0]} failed: {done.stderr[-500:]}")
