"""Wall 5: the daemon executes no program but its own parser child, and writes only inside its home.

First the code: nothing below the command line can start a program. Then a daemon at work: with a
guard inside the process that ends it at the first attempt, and by comparing every file around it.
"""

from __future__ import annotations

import ast
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from recordings import lay_out

import ultracontext

pytestmark = pytest.mark.timeout(120)

PACKAGE = Path(ultracontext.__file__).parent
PERSONS_OWN = ("cli", "switch", "service")
"""Floors that run in the person's own process."""
PARSER_CHILD = "redaction"
"""Starts one program: this interpreter, on its own module, for records of 8 to 64 MiB."""

MODULES = {"subprocess", "multiprocessing", "pty"}
CALLS = {"system", "popen", "fork", "forkpty", "startfile"}
PREFIXES = ("exec", "spawn", "posix_spawn")
FORBIDDEN = {
    "create_subprocess_exec",
    "create_subprocess_shell",
    "subprocess_exec",
    "subprocess_shell",
    "ProcessPoolExecutor",
    "concurrent.futures.process",
}


def daemon_side() -> list[Path]:
    files = [p for p in PACKAGE.rglob("*.py") if p.relative_to(PACKAGE).parts[0] not in PERSONS_OWN]
    assert len(files) > 30
    return files


def starts(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Lines that could start a program, with what they use."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = imported(node)
        elif isinstance(node, ast.Attribute):
            names = used(node)
        elif isinstance(node, ast.Call):
            names = called(node)
        else:
            continue
        for name in names:
            if name in FORBIDDEN or name.split(".")[0] in MODULES or is_start(name):
                yield getattr(node, "lineno", 0), name


def imported(node: ast.ImportFrom) -> list[str]:
    names = [name.name for name in node.names]
    return [node.module or "", *(names if node.module in ("os", "posix", "asyncio") else ())] + [
        name for name in names if name in FORBIDDEN
    ]


def used(node: ast.Attribute) -> list[str]:
    of_os = isinstance(node.value, ast.Name) and node.value.id in ("os", "posix")
    return [node.attr] if of_os or node.attr in FORBIDDEN else []


def called(node: ast.Call) -> list[str]:
    """`__import__("subprocess")` and its like."""
    return [
        arg.value for arg in node.args if isinstance(arg, ast.Constant) and arg.value in MODULES
    ]


def is_start(name: str) -> bool:
    return name in CALLS or name.startswith(PREFIXES)


def test_no_floor_of_the_daemon_can_start_a_program() -> None:
    found = []
    for file in daemon_side():
        place = file.relative_to(PACKAGE)
        for line, what in starts(ast.parse(file.read_text("utf-8"))):
            if place.parts[0] == PARSER_CHILD and what in ("subprocess", "multiprocessing"):
                continue
            found.append(f"{place}:{line} {what}")
    assert found == []


@pytest.mark.parametrize(
    "code",
    [
        "import subprocess", "from subprocess import run", "import os\nos.system('x')",
        "import os\nos.execv('a', [])", "from os import posix_spawn", "import multiprocessing.pool",
        "__import__('subprocess')", "import asyncio\nasyncio.create_subprocess_exec('x')",
        "from concurrent.futures import ProcessPoolExecutor", "import os\nos.fork()",
    ],
)  # fmt: skip
def test_the_search_sees_every_way(code: str) -> None:
    assert list(starts(ast.parse(code)))


GUARD = """
import os, sys
HOME = os.path.realpath(sys.argv[1])
FREE = (HOME, "/dev/")
STARTS = ("subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "pty.")
CHANGES = {"os.remove": 0, "os.rename": 1, "os.mkdir": 0, "os.rmdir": 0, "os.chmod": 0,
           "os.chown": 0, "os.link": 1, "os.symlink": 1, "os.truncate": 0, "os.utime": 0}
def forbidden(path):
    if isinstance(path, int) or path is None:
        return False
    full = os.path.realpath(os.fsdecode(path))
    return not full.startswith(FREE)
def hook(event, args):
    bad = None
    if event.startswith(STARTS):
        bad = event
    elif event == "open":
        path, mode, flags = args
        if flags is not None and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC):
            bad = f"open {path}" if forbidden(path) else None
    elif event in CHANGES:
        bad = f"{event} {args[CHANGES[event]]}" if forbidden(args[CHANGES[event]]) else None
    elif event == "sqlite3.connect":
        path = os.fsdecode(args[0]).removeprefix("file://").removeprefix("file:")
        path = path.partition("?")[0]
        bad = f"{event} {args[0]}" if path != ":memory:" and forbidden(path) else None
    elif event == "socket.bind":
        bad = f"{event} {args[1]}" if forbidden(args[1]) else None
    elif event in ("socket.connect", "socket.getaddrinfo"):
        where = args[1] if event == "socket.connect" else args[0]
        far = not isinstance(where, (str, bytes)) or forbidden(where)
        bad = f"{event} {where}" if far else None
    if bad:
        os.write(2, f"WALL: {bad}\\n".encode())
        os._exit(77)
sys.dont_write_bytecode = True
sys.addaudithook(hook)
from ultracontext.cli.main import run
sys.exit(run(sys.argv[2:]))
"""


class Sandbox:
    """A home with agents' folders in it; ours lies apart."""

    def __init__(self, root: Path) -> None:
        self.person = root / "person"
        self.home = root / "ours"
        lay_out("claude", "tool-bash", self.person / ".claude")
        lay_out("codex", "tools-shell-and-patch", self.person / ".codex")
        repository = self.person / "project/.git"
        repository.mkdir(parents=True)
        (repository / "config").write_text("[core]\n\tfsmonitor = touch /tmp/never\n")

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        kept = ("PATH", "PYTHONPATH", "TMPDIR", "ULTRACONTEXT_REDACTION_ENGINE")
        env = {name: os.environ[name] for name in kept if name in os.environ}
        env |= {"HOME": str(self.person), "ULTRACONTEXT_HOME": str(self.home)}
        return subprocess.Popen(
            [sys.executable, "-P", "-c", GUARD, str(self.home), *arguments],
            env=env, cwd=self.person, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )  # fmt: skip

    def picture(self) -> dict[str, tuple[int, int, int, int, bytes]]:
        """Everything outside our home: mode, size, times of modification and change, content."""
        found = {}
        for path in sorted([self.person, *self.person.rglob("*")]):
            seen = path.lstat()
            data = path.read_bytes() if path.is_file() else b""
            found[str(path)] = (
                seen.st_mode, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns, data,
            )  # fmt: skip
        return found


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with tempfile.TemporaryDirectory(prefix="uc-wall-") as folder:
        yield Sandbox(Path(folder).resolve())


def test_a_run_touches_nothing_outside_its_home(sandbox: Sandbox) -> None:
    before = sandbox.picture()
    out, err = (process := sandbox.start("daemon", "run", "--once", "--json")).communicate(
        timeout=60
    )
    assert process.returncode == 0, err.decode()
    assert json.loads(out)["events"] > 0
    assert sandbox.picture() == before


def test_a_live_daemon_touches_nothing_outside_its_home(sandbox: Sandbox) -> None:
    before = sandbox.picture()
    process = sandbox.start("daemon", "run")
    deadline = time.monotonic() + 40
    log = sandbox.home / "logs/daemon.log"
    while not (log.exists() and "daemon-started" in log.read_text()):
        assert process.poll() is None, process.communicate()[1].decode()
        assert time.monotonic() < deadline
        time.sleep(0.05)
    time.sleep(1.0)  # a sweep, a purge and a pass of upkeep
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (0, b"")
    assert sandbox.picture() == before


def test_the_guard_bites(sandbox: Sandbox) -> None:
    """The same guard, and a command that may start a program, because a person calls it."""
    process = sandbox.start("daemon", "start")
    _, err = process.communicate(timeout=20)
    assert process.returncode == 77
    assert b"WALL: subprocess" in err
