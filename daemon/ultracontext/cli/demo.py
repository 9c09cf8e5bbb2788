"""The demo's plan: which record is appended to which file, and the made-up key in it.

The recordings lie in the folders of their agents (`formats.Demo`).
"""

from __future__ import annotations

import json
import secrets
import string
import uuid
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path

from ultracontext.agents import known
from ultracontext.formats import Demo, DemoPlace

_DIGITS = string.digits + string.ascii_uppercase + string.ascii_lowercase


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """One recording and the file that its agent would write."""

    agent: str
    file: Path
    lines: tuple[str, ...]
    values: Mapping[str, str]

    def __iter__(self) -> Iterator[bytes]:
        """Lines as the agent writes them, with the time at which they are asked for."""
        for line in self.lines:
            yield _filled(line, {**self.values, "time": _now()}).encode()


def recordings(home: Path, key: str) -> list[Recording]:
    """The packaged recordings, laid out below `home` as their agents do."""
    project, local = str(home / "upload-service"), datetime.now().astimezone()
    found = []
    for slug, spec in known().items():
        if spec.demo is None:
            continue
        session = str(uuid.uuid4())
        place = DemoPlace(home=home, project=project, session=session, local=local)
        values = {"project": project, "key": key, "session": session}
        file, lines = Path(spec.demo.file(place)), _packaged(spec.demo)
        found.append(Recording(agent=slug, file=file, lines=lines, values=values))
    return found


def made_up_key() -> str:
    """A token in the form of a GitHub one, its checksum right, drawn now and valid nowhere."""
    body = "".join(secrets.choice(_DIGITS) for _ in range(30))
    number, check = zlib.crc32(body.encode()), ""
    for _ in range(6):
        number, digit = divmod(number, 62)
        check = _DIGITS[digit] + check
    return "gh" + "p_" + body + check


def _packaged(demo: Demo) -> tuple[str, ...]:
    text = files(demo.package).joinpath(demo.data).read_text("utf-8")
    return tuple(text.splitlines(keepends=True))


def _filled(line: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        line = line.replace("{{" + name + "}}", json.dumps(value)[1:-1])
    return line


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
