"""What a unit starts and the environment that it is given, as of the installation."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath

from ultracontext.agents import known
from ultracontext.errors import UltraContextError
from ultracontext.paths import Paths

PLACES = (
    "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy",
)  # fmt: skip
SECRET = re.compile(r"KEY|TOKEN|PASSWORD|SECRET|FAILPOINTS")
"""Names of variables that are never written into a unit: `ultracontext login` keeps the key."""
PASSWORD = re.compile(r"://[^/@:]*:[^/@]+@")


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """One command line, its environment, and the folders that it writes to."""

    arguments: tuple[str, ...]
    """The first is an absolute path."""
    environment: Mapping[str, str]
    writable: tuple[Path, ...]
    output: Path
    """Where launchd puts what it prints."""


def program_of(paths: Paths, env: Mapping[str, str], home: Path) -> Program:
    """The daemon by this interpreter. Raises UltraContextError for what no unit can say."""
    program = Program(
        arguments=(
            os.path.abspath(sys.executable),  # noqa: PTH100  # links are kept: they survive upgrades
            "-P", "-m", "ultracontext.cli", "daemon", "run", "--no-progress",
        ),
        environment=_environment(paths, env, home),
        writable=tuple(dict.fromkeys((*paths.folders(), paths.socket_dir))),
        output=paths.output_file,
    )  # fmt: skip
    _check(program)
    return program


def _environment(paths: Paths, env: Mapping[str, str], home: Path) -> dict[str, str]:
    baked = {name: env[name] for name in PLACES if env.get(name)}
    baked |= {
        name: value
        for name, value in env.items()
        if name.startswith("ULTRACONTEXT_") and not SECRET.search(name) and value
    }
    if env.get("ULTRACONTEXT_HOME"):
        baked["ULTRACONTEXT_HOME"] = str(paths.home)
    baked |= _of_agents(env, home)
    baked["PATH"] = _path(env.get("PATH", ""))
    return dict(sorted(baked.items()))


def _path(text: str) -> str:
    """Absolute folders only: a unit starts elsewhere."""
    parts = [part for part in text.split(":") if part.startswith("/")]
    return ":".join(dict.fromkeys([*parts, "/usr/local/bin", "/usr/bin", "/bin"]))


def _of_agents(env: Mapping[str, str], home: Path) -> dict[str, str]:
    """Variables that tell agents where their sessions lie: those that their layouts read."""
    noted = _Noted(env)
    for spec in known().values():
        list(spec.roots(noted, PurePath(home)))
    return {name: env[name] for name in noted.read if env.get(name) and name != "HOME"}


class _Noted(Mapping[str, str]):
    """An environment that notes which names are asked for."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = env
        self.read: set[str] = set()

    def __getitem__(self, name: str) -> str:
        self.read.add(name)
        return self._env[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._env)

    def __len__(self) -> int:
        return len(self._env)


def _check(program: Program) -> None:
    for name, value in program.environment.items():
        if PASSWORD.search(value):
            raise UltraContextError(
                f"{name} holds a password, and a unit is no place for one",
                code="service-password",
                hint="Unset it, and write the URL into config.toml by `ultracontext config set`",
            )
    texts = (*program.arguments, *program.environment.values(), *map(str, program.writable))
    for text in texts:
        if any(ord(char) < 0x20 or 0xD800 <= ord(char) <= 0xDFFF for char in text):
            raise UltraContextError(
                "a path or variable that the service needs holds a control character or is not"
                " UTF-8, which no unit can say",
                code="service-path",
                hint="Install into another folder, or unset that variable",
            )
