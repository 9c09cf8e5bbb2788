"""The archive of `doctor --bundle`: findings, versions, states and a log, and no word of a session.

Nothing is copied whole. Of the log only times, event names, codes and numbers; of the settings only
which ones are set, and their values where a value is one of a few known words or a number. Every
text that is left goes through the redactor, and the home folder is written `~`.
"""

from __future__ import annotations

import json
import platform
import sqlite3
import sys
import zipfile
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ultracontext import __version__
from ultracontext.cli.workspace import Workspace
from ultracontext.errors import UltraContextError, WriteRefusedError

if TYPE_CHECKING:
    from ultracontext.cli.checks import Finding

LOG_FIELDS = ("timestamp", "level", "event", "logger", "code", "error", "at", "version")
LOG_LINES = 2000
PACKAGES = ("aiohttp", "hyperscan", "ahocorasick-rs", "keyring", "textual", "typer", "watchdog")
PLAIN = frozenset(
    {"log.level", "redaction.engine", "redaction.enabled", "capture.watch", "capture.sweep",
     "capture.dedup_ttl", "capture.backfill", "retention.days", "retention.disk_mb"}
)  # fmt: skip
"""Settings whose values say nothing of a person."""


def write_bundle(place: Workspace, findings: Iterable[Finding], file: Path) -> None:
    """Raises WriteRefusedError for a file that is there, UltraContextError when it cannot write."""
    clean = _Cleaner(place)
    parts = {
        "findings.json": [clean(finding.as_json()) for finding in findings],
        "versions.json": _versions(),
        "settings.json": _settings(place),
        "status.json": clean(_status(place)),
        "log.jsonl": _log(place.paths.log_file),
    }
    try:
        with file.open("xb") as out, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, value in parts.items():
                archive.writestr(name, _text(value, lines=name.endswith("l")))
        file.chmod(0o600)
    except FileExistsError as error:
        raise WriteRefusedError(f"{file} is there already", hint="Name another file") from error
    except OSError as error:
        raise UltraContextError(
            f"cannot write {file}: {error.strerror or type(error).__name__}",
            hint="Name a file in a folder of yours",
            code="output",
        ) from error


def _text(value: Any, *, lines: bool) -> str:
    if lines:
        return "".join(json.dumps(line) + "\n" for line in value)
    return json.dumps(value, indent=1)


class _Cleaner:
    """Takes home and secrets out of every text; without rules no text is left at all."""

    def __init__(self, place: Workspace) -> None:
        self._home = str(place.home)
        try:
            from ultracontext.redaction.opening import masking_redactor

            redactor = masking_redactor(place.paths, place.settings)
        except (UltraContextError, OSError):
            self._mask: Callable[[str], str] = _nothing
        else:
            self._mask = redactor.text

    def __call__(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            return {str(key): self(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self(item) for item in value]
        if isinstance(value, str):
            return self._mask(value.replace(self._home, "~"))
        return value


def _nothing(_text: str) -> str:
    return "?"


def _versions() -> dict[str, Any]:
    found: dict[str, Any] = {
        "ultracontext": __version__,
        "python": sys.version.split()[0],
        "system": platform.system(),
        "release": platform.release(),
        "machine": platform.machine(),
        "sqlite": sqlite3.sqlite_version,
    }
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = None
    return found


def _settings(place: Workspace) -> dict[str, Any]:
    try:
        settings = place.settings
    except UltraContextError as error:
        return {"broken": error.code}
    values = dict(settings.items())
    return {
        key: values[key] if key in PLAIN else "(set)" for key in settings.origins if key in values
    }


def _status(place: Workspace) -> dict[str, Any]:
    """Numbers and codes of `status`; paths of projects are left out."""
    from ultracontext.cli.commands.status import collect

    try:
        found = collect(place)
    except UltraContextError as error:
        return {"code": error.code}
    capture = {
        key: value
        for key, value in found["capture"].items()
        if isinstance(value, (int, float)) or value is None or key == "watcher"
    }
    return {
        "daemon": found["daemon"],
        "capture": capture,
        "redaction": found["redaction"],
        "dedup": found["dedup"],
        "store_bytes": found["store"]["bytes"],
        "problems": [problem["code"] for problem in found["problems"]],
    }


def _log(file: Path) -> list[dict[str, Any]]:
    try:
        with file.open("rb") as lines:
            lines.seek(max(0, file.stat().st_size - (1 << 20)))
            texts = lines.read().splitlines()[-LOG_LINES:]
    except OSError:
        return []
    kept = []
    for text in texts:
        try:
            fields = json.loads(text)
        except ValueError:
            continue
        if isinstance(fields, dict):
            kept.append({k: v for k, v in fields.items() if k in LOG_FIELDS or _number(v)})
    return kept


def _number(value: Any) -> bool:
    return isinstance(value, (int, float))
