"""Walls of a switch: one door to writers, one way to unmasked records, no secret written."""

from __future__ import annotations

import ast
import json
import random
import string
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from switch_lab import VERSIONS, Lab, claude_lines, result, spoken, tree, use, used_home

import ultracontext
from ultracontext.switch.session import MaskedSession

PACKAGE = Path(ultracontext.__file__).parent


def names(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{name.name}" for name in node.names)
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)


def modules() -> list[Path]:
    found = sorted(PACKAGE.rglob("*.py"))
    assert len(found) > 200
    return found


def test_only_the_switch_imports_the_second_mint() -> None:
    door = "ultracontext.redaction.unmasked"
    users = [p for p in modules() if any(name.startswith(door) for name in names(p))]
    assert [p.relative_to(PACKAGE).as_posix() for p in users] == ["switch/consent.py"]


def test_writers_are_made_behind_the_gate_only() -> None:
    """Nobody but the gate calls a spec's `writer`, or names a writer's class."""
    found = []
    for path in modules():
        place = path.relative_to(PACKAGE).as_posix()
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                if node.func.attr == "writer":
                    found.append(place)
            elif isinstance(node, ast.Name) and node.id == "_permit" and "gate" not in place:
                found.append(place)
        if any(name.endswith("Writer") and ".agents." in name for name in names(path)):
            parts = path.relative_to(PACKAGE).parts
            assert parts[0] == "agents", place
            assert parts[2] == "__init__.py", place
    assert found == []


def test_a_session_takes_nothing_but_masked_records() -> None:
    from ultracontext.agents import agent

    forged: Any = [({"type": "user"}, "msg_" + "0" * 24)]
    with pytest.raises(TypeError):
        MaskedSession.of(agent("claude"), "s", forged)


def secrets() -> dict[str, str]:
    """Made up at each run."""
    draw = random.Random(7)

    def some(alphabet: str, count: int) -> str:
        return "".join(draw.choice(alphabet) for _ in range(count))

    letters = string.ascii_letters + string.digits
    return {
        "github": "ghp_" + some(letters, 36),
        "openai": "sk-proj-" + some(letters, 48),
        "aws": "AKIA" + some(string.ascii_uppercase + "234567", 16),
        "slack": "xoxb-" + some(string.digits, 12) + "-" + some(letters, 24),
        "password": "Tr0ub4dor&" + some(letters, 8),
    }


@pytest.mark.parametrize("target", VERSIONS)
def test_no_planted_secret_is_in_any_written_byte(tmp_path: Path, target: str) -> None:
    """In every position of a session that a switch carries, and in what is said of it."""
    lab, planted = Lab(base=tmp_path), secrets()
    text = " and ".join(planted[name] for name in ("github", "openai", "aws", "slack"))
    given = {"command": f"export TOKEN={planted['github']}", "password": planted["password"]}
    given["deep"] = json.dumps({"env": {"API_KEY": planted["openai"]}})
    records = [
        *spoken(
            ("user", f"use {text}"),
            ("assistant", [use("Bash", given, "a"), use(planted["github"], {}, "b")]),
            ("user", [result("a", text), result("b", [{"type": "text", "text": text}])]),
            ("assistant", f"I saw {text}"),
            ("user", f"and then {text}?"),
        )
    ]
    records[0]["gitBranch"] = f"fix/{planted['github']}"
    title = {"type": "custom-title", "customTitle": text, "sessionId": records[0]["sessionId"]}
    (source,) = lab.sessions("claude", claude_lines([*records, title]))
    root = lab.root(target)
    if target == "codex":
        used_home(root)
    planned = lab.plan(source, target)
    assert planned.messages == 6
    row = lab.commit(planned)
    written = [*tree(root).values(), (tmp_path / "switch.db").read_bytes(), repr(row).encode()]
    shown = [repr(planned.plan.command).encode(), repr(planned.notes).encode()]
    for name, value in planted.items():
        assert not any(value.encode() in data for data in [*written, *shown]), name
