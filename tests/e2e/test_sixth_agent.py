"""An agent is added by one folder, or by a package of a third party; a broken one harms nothing."""

from __future__ import annotations

import json
import shutil
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import parrot
import pytest
from blackbox import ClaudeSession, Home, kill
from recordings import lay_out

import ultracontext

pytestmark = pytest.mark.timeout(120)

SAID = ["Say hello to the crew.", "Hello, crew!", "Louder.", "HELLO, CREW! 🦜"]
PACKAGE = Path(ultracontext.__file__).parent
CODE = Path(parrot.__file__)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path / "home")
    lay_out("parrot", "plain-chat", made.folder / ".parrot")
    return made


def installed(site: Path, name: str, target: str, code: str | None = None) -> None:
    """A distribution with one entry point, as an installer leaves it behind."""
    info = site / f"uc_{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: uc-{name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[ultracontext.agents]\n{name} = {target}\n")
    if code is not None:
        (site / f"{name}.py").write_text(textwrap.dedent(code))


def check_parrot(home: Home) -> None:
    """Captured, listed and shown."""
    assert home.once()["events"] == 4
    [listed] = home.json("sessions", "--agent", "parrot")
    assert (listed["session_id"], listed["messages"]) == ("p-1", 4)
    assert (listed["title"], listed["project_path"]) == (SAID[0], "/w/ship")
    shown = home.json("show", "p-1")
    assert [message["text"] for message in shown["messages"]] == SAID
    assert home.once()["events"] == 0


def test_one_folder_is_enough(home: Home, tmp_path: Path) -> None:
    source = tmp_path / "source" / "ultracontext"
    shutil.copytree(PACKAGE, source, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(CODE.parent, source / "agents" / "parrot")
    home.env["PYTHONPATH"] = str(source.parent)
    check_parrot(home)


def test_an_entry_point_is_enough(home: Home, tmp_path: Path) -> None:
    site = tmp_path / "site"
    installed(site, "parrot", "parrot:SPEC", CODE.read_text())
    home.env["PYTHONPATH"] = str(site)
    check_parrot(home)
    assert problems(home) == []


@pytest.mark.parametrize("package", [False, True], ids=["module", "package"])
def test_a_mended_reader_of_a_third_party_mends_what_is_stored(
    home: Home, tmp_path: Path, package: bool
) -> None:
    site = tmp_path / "site"
    installed(site, "parrot", "crew.bird:SPEC" if package else "parrot:SPEC")
    code = site / ("crew/bird.py" if package else "parrot.py")
    code.parent.mkdir(exist_ok=True)
    code.write_text(CODE.read_text())
    home.env["PYTHONPATH"] = str(site)
    home.env["PYTHONDONTWRITEBYTECODE"] = "1"
    check_parrot(home)
    mended = CODE.read_text().replace("= line, ", "= 'Ahoy: ' + line, ")
    assert mended != CODE.read_text()
    code.write_text(mended)
    [listed] = home.json("sessions", "--agent", "parrot")
    assert listed["title"] == f"Ahoy: {SAID[0]}"


BROKEN = {
    "absent": ("absent.nowhere:SPEC", None, "ModuleNotFoundError"),
    "raises": ("raises:SPEC", "raise RuntimeError('the text of an error')", "RuntimeError"),
    "leaves": ("leaves:SPEC", "import sys; sys.exit(5)", "SystemExit"),
    "nameless": ("nameless:OTHER", "SPEC = 1", "AttributeError"),
    "number": ("number:SPEC", "SPEC = 1", "no AgentSpec"),
    "taken": ("taken:SPEC", "from ultracontext.agents.codex import SPEC", "known already"),
    "odd": (
        "odd:SPEC",
        """
        from dataclasses import replace
        from ultracontext.agents.codex import SPEC as OURS
        SPEC = replace(OURS, slug="../Odd")
        """,
        "lower-case",
    ),
}


def problems(home: Home) -> list[dict[str, Any]]:
    answer: list[dict[str, Any]] = json.loads(home.run("status", "--json").stdout)["problems"]
    return answer


def test_a_broken_entry_point_is_named_and_the_others_go_on(home: Home, tmp_path: Path) -> None:
    site = tmp_path / "site"
    installed(site, "parrot", "parrot:SPEC", CODE.read_text())
    for name, (target, code, _) in BROKEN.items():
        installed(site, name, target, code)
    home.env["PYTHONPATH"] = str(site)
    check_parrot(home)
    found = {p["hint"].rpartition("-")[2]: p["message"] for p in problems(home)}
    assert found.keys() == BROKEN.keys()
    for name, (_, _, why) in BROKEN.items():
        assert f" {name} " in found[name]
        assert why in found[name]
        assert "the text of an error" not in found[name]
    human = home.run("status").stdout
    assert human.count("Problem") == len(BROKEN)


FAULTY = """
    from dataclasses import replace
    import parrot

    def fail(*args, **more):
        raise RuntimeError("the text of an error")

    SPEC = replace(parrot.SPEC, slug="{slug}", {change})
"""

FAULTS = {
    "roots=fail": "roots cannot be had",
    "roots=lambda env, home: [7]": "no paths",
    "folders=None": "no lists",
    "classify=fail": "fails on a path",
    "classify=lambda path: 7": "no SourceFacts",
    "assigner=fail": "RuntimeError",
    "reader=fail": None,
}


def test_agents_that_fail_at_work_stop_no_other(home: Home, tmp_path: Path) -> None:
    site = tmp_path / "site"
    shutil.copytree(CODE.parent, site / "parrot")
    for number, change in enumerate(FAULTS):
        slug = f"faulty{number}"
        installed(site, slug, f"{slug}:SPEC", FAULTY.format(slug=slug, change=change))
    home.env["PYTHONPATH"] = str(site)
    claude = ClaudeSession(home)
    claude.append(["hello", "hello yourself"])
    home.once()
    assert home.native_ids(claude.session) == claude.ids
    daemon = home.start("daemon", "run")
    try:
        claude.append(["and again"])
        _until(lambda: len(home.native_ids(claude.session)) == 3)
        assert daemon.poll() is None
        named = [p["message"] for p in problems(home)]
    finally:
        home.run("daemon", "stop")
        kill(daemon)
    for number, why in enumerate(FAULTS.values()):
        assert why is None or any(f"faulty{number}" in n and why in n for n in named), named
    assert "the text of an error" not in "".join(named)


def _until(true: Callable[[], bool], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.1)
