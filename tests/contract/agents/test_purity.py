"""Agents' code does no I/O, knows no clock, and is the only code that knows agents."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import parrot
import pytest
from recordings import spec_of

import ultracontext
from ultracontext.agents import known

PACKAGE = Path(ultracontext.__file__).parent
DASHBOARD = PACKAGE.parent.parent / "dashboard"

FORBIDDEN = {
    "aiohttp", "asyncio", "builtins", "codecs", "ctypes", "fcntl", "fileinput", "getpass", "glob",
    "http", "importlib", "io", "linecache", "locale", "mmap", "multiprocessing", "os", "pickle",
    "platform", "random", "secrets", "select", "shelve", "shutil", "signal", "socket", "sqlite3",
    "subprocess", "sys", "tempfile", "threading", "time", "urllib",
}  # fmt: skip
PURE_PATHS = {"PurePath", "PurePosixPath", "PureWindowsPath"}
FLOORS = (
    "ultracontext.errors",
    "ultracontext.formats",
    "ultracontext.model",
    "ultracontext.redaction",
)
ACTS = {"open", "print", "input", "exec", "eval", "compile", "__import__", "breakpoint"}
CLOCKS = {"now", "utcnow", "today"}
ORDINARY = {"cursor"}
"""Slugs that are words of our own trade: only as part of a path, a module or a product's name."""
DRIVERS = {"postgres", "sqlite"}
"""Folders in which `Cursor` is the class of a database driver."""
PROVIDERS = "redaction"
"""Floor whose word lists name providers of secrets, some of which an agent is called after: there
too, only as part of a path, a module or a product's name."""


def modules(agent: str) -> list[Path]:
    folder = Path(parrot.__file__).parent if agent == "parrot" else PACKAGE / "agents" / agent
    return sorted(folder.rglob("*.py"))


def imported(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """(module, name) of every import; name is empty for a module as a whole."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.module or "", alias.name) for alias in node.names)


def test_every_known_agent_of_ours_has_a_folder(agent: str) -> None:
    assert modules(agent)


def test_agent_imports_no_module_that_does_io_or_has_a_clock(agent: str) -> None:
    for path in modules(agent):
        for module, name in imported(ast.parse(path.read_text())):
            assert module.partition(".")[0] not in FORBIDDEN, f"{path.name} imports {module}"
            if module == "pathlib":
                assert name in PURE_PATHS, f"{path.name} imports {name or 'all'} of pathlib"
            if module.partition(".")[0] == "ultracontext":
                own = module.startswith(f"ultracontext.agents.{agent}")
                assert own or module.startswith(FLOORS), f"{path.name} imports {module}"


def test_agent_calls_nothing_that_acts(agent: str) -> None:
    for path in modules(agent):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                called = node.func
                assert not (isinstance(called, ast.Name) and called.id in ACTS), path.name
                assert not (isinstance(called, ast.Attribute) and called.attr in CLOCKS), path.name


def elsewhere() -> list[Path]:
    """All code of ours outside the agents' folders."""
    ours = [*PACKAGE.rglob("*.py"), *DASHBOARD.rglob("*.py")]
    agents = [PACKAGE / "agents" / slug for slug in known()]
    return sorted(path for path in ours if not any(path.is_relative_to(a) for a in agents))


def words(path: Path) -> Iterator[tuple[int, str]]:
    """(line, text) of all that code can act on: names and strings, but no comment or docstring."""
    tree = ast.parse(path.read_text())
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 0)
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if id(node) not in prose:
                yield line, node.value
        elif isinstance(node, ast.Name):
            yield line, node.id
        elif isinstance(node, ast.Attribute):
            yield line, node.attr
        elif isinstance(node, ast.arg | ast.keyword):
            yield line, node.arg or ""
        elif isinstance(node, ast.alias):
            yield line, node.name
        elif isinstance(node, ast.ImportFrom):
            yield line, node.module or ""
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield line, node.name


def naming(slug: str, name: str, *, ordinary: bool = False) -> re.Pattern[str]:
    """What names an agent in code."""
    if ordinary or slug in ORDINARY:
        product = rf"(?<![a-z]){re.escape(slug)}[-/](agent|projects)|\.{slug}(/|$)"
        return re.compile(rf"agents[./]{slug}|{product}|^{re.escape(name)}$")
    return re.compile(rf"(?i){re.escape(slug)}|{re.escape(name)}")


def test_no_file_outside_an_agents_folder_names_it(agent: str) -> None:
    name = spec_of(agent).name
    found = [
        f"{path.relative_to(PACKAGE.parent.parent)}:{line}: {text[:60]}"
        for path in elsewhere()
        for line, text in words(path)
        if naming(agent, name, ordinary=path.parent.name == PROVIDERS).search(text)
        and not (text == "Cursor" and path.parent.name in DRIVERS)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("slug", "text", "names"),
    [
        ("codex", "CODEX_HOME", True),
        ("codex", "ultracontext.agents.codex", True),
        ("codex", "read_codex_rollout", True),
        ("codex", "code", False),
        ("cursor", "cursor", False),
        ("cursor", "Cursor of the append log", False),
        ("cursor", "ultracontext.agents.cursor", True),
        ("cursor", "~/.cursor/projects", True),
        ("cursor", "cursor-agent", True),
    ],
)
def test_naming_tells_agents_from_ordinary_words(slug: str, text: str, names: bool) -> None:
    assert bool(naming(slug, slug.title()).search(text)) is names
