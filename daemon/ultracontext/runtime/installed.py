"""Which versions of the agents' programs are installed, read as text: no program is started."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from ultracontext.formats import AgentSpec

LONGEST_BYTES = 1 << 20
MODULES = "node_modules"
BESIDE = (
    ".npm-global/lib", ".local/lib", ".npm/lib", ".volta/tools/shared", ".bun/install/global",
    ".local/share/pnpm/global/5", "Library/pnpm/global/5",
)  # fmt: skip
"""Folders below the home that hold `node_modules` of programs."""
MANY = (".nvm/versions/node", ".local/share/fnm/node-versions", ".asdf/installs/nodejs")
"""Folders below the home with one folder a version of Node.js."""
SYSTEM = ("/usr/lib", "/usr/local/lib", "/opt/homebrew/lib", "/opt/node/lib")
_VERSION = re.compile(r"v?\d[\w.+-]{0,60}")


class Installed(msgspec.Struct, frozen=True, kw_only=True):
    """One program."""

    version: str
    path: str
    """Its folder, or its file."""


def installed(spec: AgentSpec, env: Mapping[str, str], home: Path) -> list[Installed]:
    """All that is found in the usual places, each version and place once."""
    found: dict[tuple[str, str], Installed] = {}
    for one in (*_packages(spec, env, home), *_versions(spec, home)):
        found.setdefault((one.version, one.path), one)
    return list(found.values())


def of_program(spec: AgentSpec, program: str) -> Installed | None:
    """The version of the package that a program on the PATH belongs to."""
    for folder in _real(Path(program)).parents[:8]:
        above = folder.parent.name
        name = f"{above}/{folder.name}" if above.startswith("@") else folder.name
        version = _version_in(folder / "package.json") if name in spec.packages else None
        if version is not None:
            return Installed(version=version, path=str(folder))
    return None


def _packages(spec: AgentSpec, env: Mapping[str, str], home: Path) -> Iterator[Installed]:
    roots = [*_module_roots(env, home), *(home / name for name in spec.installs)]
    for root in roots:
        for name in spec.packages:
            folder = root / MODULES / name
            version = _version_in(folder / "package.json")
            if version is not None:
                yield Installed(version=version, path=str(_real(folder)))


def _module_roots(env: Mapping[str, str], home: Path) -> list[Path]:
    """Folders that may hold a `node_modules`, those of the PATH first."""
    folders = [Path(part) for part in env.get("PATH", "").split(":") if part.startswith("/")]
    found = [folder.parent / "lib" for folder in folders]
    found += [folder.parent for folder in folders if folder.name == ".bin"]
    prefix = env.get("NPM_CONFIG_PREFIX") or env.get("npm_config_prefix") or ""
    found += [Path(prefix) / "lib"] if prefix.startswith("/") else []
    found += [home / name for name in BESIDE]
    for many in MANY:
        for node in _entries(home / many):
            found += [node / "lib", node / "installation" / "lib"]
    found += [Path(name) for name in SYSTEM]
    return list(dict.fromkeys(found))


def _versions(spec: AgentSpec, home: Path) -> Iterator[Installed]:
    """Installs that keep one file or folder a version, named by it."""
    for name in spec.installs:
        for entry in _entries(home / name):
            if _VERSION.fullmatch(entry.name):
                yield Installed(version=entry.name.removeprefix("v"), path=str(entry))


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())[:1000]
    except OSError:
        return []


def _version_in(package: Path) -> str | None:
    try:
        with package.open("rb") as file:
            version = json.loads(file.read(LONGEST_BYTES))["version"]
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None
    return version if isinstance(version, str) and _VERSION.fullmatch(version) else None


def _real(folder: Path) -> Path:
    try:
        return folder.resolve()
    except (OSError, RuntimeError):
        return folder
