"""The demo's plan: which record is appended to which file, and the made-up key in it.

`demo_data/*.jsonl` holds one recording an agent, by hand, in the agent's own format. What must
differ between runs stands there as `{{name}}`.
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
    claude, codex = str(uuid.uuid4()), str(uuid.uuid4())
    project = str(home / "upload-service")
    local = datetime.now().astimezone()
    values = {"project": project, "key": key, "claude-session": claude, "codex-session": codex}
    slug = "".join(c if c.isalnum() and c.isascii() else "-" for c in project)
    day = home / ".codex/sessions" / local.strftime("%Y/%m/%d")
    places = {
        "claude": home / ".claude/projects" / slug / f"{claude}.jsonl",
        "codex": day / f"rollout-{local.strftime('%Y-%m-%dT%H-%M-%S')}-{codex}.jsonl",
    }
    return [
        Recording(agent=agent, file=file, lines=_packaged(agent), values=values)
        for agent, file in places.items()
    ]


def made_up_key() -> str:
    """A token in the form of a GitHub one, its checksum right, drawn now and valid nowhere."""
    body = "".join(secrets.choice(_DIGITS) for _ in range(30))
    number, check = zlib.crc32(body.encode()), ""
    for _ in range(6):
        number, digit = divmod(number, 62)
        check = _DIGITS[digit] + check
    return "gh" + "p_" + body + check


def _packaged(agent: str) -> tuple[str, ...]:
    text = files("ultracontext.cli").joinpath(f"demo_data/{agent}.jsonl").read_text("utf-8")
    return tuple(text.splitlines(keepends=True))


def _filled(line: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        line = line.replace("{{" + name + "}}", json.dumps(value)[1:-1])
    return line


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
