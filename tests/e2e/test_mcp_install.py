"""`mcp install` and `skills install` in agents' own folders."""

from __future__ import annotations

from pathlib import Path

import pytest
from blackbox import Home

pytestmark = pytest.mark.timeout(180)
FILES = {
    ".claude.json": '{\n  "a": {"mcpServers": 1},\n  "mcpServers": {\n    "x": {}\n  }\n}',
    ".codex/config.toml": 'model = "x"\n[tui]\na = 1',
    ".gemini/settings.json": "{}",
    ".openclaw/openclaw.json": '{"mcp": {}, "z": [1,2 ]}\n',
}


def contents(folder: Path) -> dict[str, bytes]:
    found = (p for p in folder.rglob("*") if p.is_file() and "uc" not in p.parts)
    return {str(p.relative_to(folder)): p.read_bytes() for p in found}


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path)
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    (tmp_path / ".claude").mkdir(exist_ok=True)
    return made


def test_what_is_put_in_is_taken_out_byte_for_byte(home: Home) -> None:
    before = contents(home.folder)
    done = {one["agent"]: one["outcome"] for one in home.json("mcp", "install")}
    agents = ("claude", "codex", "gemini", "openclaw")
    assert done == {**dict.fromkeys(agents, "added"), "cursor": "not there"}
    changed = contents(home.folder)
    assert {name for name in before if before[name] != changed[name]} == set(FILES)
    again = {one["outcome"] for one in home.json("mcp", "install", "--for", ",".join(agents))}
    assert again == {"unchanged"}
    assert contents(home.folder) == changed
    home.json("mcp", "install", "--remove")
    assert contents(home.folder) == before


def test_a_file_that_is_not_understood_stays(home: Home) -> None:
    path = home.folder / ".gemini" / "settings.json"
    path.write_text("{ // mine\n}")
    (one,) = home.json("mcp", "install", "--for", "gemini")
    assert one["outcome"].startswith("refused")
    assert path.read_text() == "{ // mine\n}"


def test_skills_leave_a_users_own_alone(home: Home) -> None:
    own = home.folder / ".claude" / "skills" / "recall" / "SKILL.md"
    own.parent.mkdir(parents=True)
    own.write_text("mine")
    before = contents(home.folder)
    done = {
        one["skill"]: one["outcome"] for one in home.json("skills", "install", "--for", "claude")
    }
    assert done["switch"] == "written"
    assert "not ours" in done["recall"]
    home.json("skills", "install", "--remove")
    assert contents(home.folder) == before
