"""What a hint, a help text, an error or the README tells a person to run exists."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from ultracontext.cli.main import app

ROOT = Path(__file__).parents[3]
ANNOUNCED = frozenset({"store"})
"""Commands that are being built: hints of one part may name those of another. It shrinks."""

_NAMED = re.compile(r"`(?:ultracontext|uc|\./packaging/run) ([a-z][^`]*)`")
_TYPED = re.compile(r"^(?:ultracontext|uc|\./packaging/run) ([a-z][^#\n]*)", re.MULTILINE)
_WORD = re.compile(r"[a-z][a-z-]*|--?[a-z][a-z-]*")


def texts(file: Path) -> Iterator[str]:
    """All strings of a module; what is put into them is left out."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.JoinedStr):
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def named() -> list[tuple[str, str]]:
    """(file, command line after the program's name)."""
    found = set()
    for root in (ROOT / "daemon", ROOT / "dashboard"):
        for file in root.rglob("*.py"):
            for text in texts(file):
                found |= {(str(file.relative_to(ROOT)), line) for line in _NAMED.findall(text)}
    readme = (ROOT / "README.md").read_text("utf-8")
    found |= {("README.md", line) for line in _NAMED.findall(readme) + _TYPED.findall(readme)}
    return sorted(found)


def fault(line: str) -> str | None:
    """What of a command line is not there."""
    command: Any = get_command(app)
    context = command.make_context("ultracontext", [], resilient_parsing=True)
    for word in line.split():
        if not _WORD.fullmatch(word):
            continue
        if word.startswith("-"):
            options = [
                name for p in command.get_params(context) for name in (*p.opts, *p.secondary_opts)
            ]
            if word not in options:
                return f"no option {word}"
        elif hasattr(command, "get_command"):
            inner = command.get_command(context, word)
            if inner is None:
                return None if word in ANNOUNCED else f"no command {word}"
            command, context = inner, type(context)(inner, parent=context, info_name=word)
    return None


@pytest.mark.parametrize(("file", "line"), named())
def test_what_a_text_names_is_there(file: str, line: str) -> None:
    assert fault(line) is None, f"{file}: `ultracontext {line}`"


def test_there_is_much_to_look_at() -> None:
    assert len(named()) > 30


@pytest.mark.parametrize(
    "line", ["nosuch", "daemon nosuch", "daemon run --nosuch", "config key nosuch", "sessions --x"]
)
def test_what_is_not_there_is_found(line: str) -> None:
    assert fault(line) is not None
