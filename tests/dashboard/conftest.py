"""A home with captured sessions, and the dashboard on it: fixed clock, no daemon, no agents."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import pytest
from blackbox import Home

from ultracontext.paths import resolve_paths
from ultracontext.settings import load_settings
from ultracontext_dashboard.app import Dashboard, Surroundings
from ultracontext_dashboard.main import program

NOW = datetime(2026, 11, 30, 20, 0, tzinfo=UTC)
SECRET = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4xY7zA0cD3fG6"

ODD_TITLES = (
    "[/bold] [0] x [b + /tmp/[/bad]",
    "日本語のタイトル 한글 제목 بالعربية e\u0301\u0302 👩‍💻❤️",
    "\x1b[31mred\x1b]0;title\x07 \u202eevil\u202c",
)


def stamp(ago: timedelta) -> str:
    return (NOW - ago).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Talk:
    """A Claude Code session, written by hand as 2.1.332 does."""

    def __init__(self, root: Path, session: str, project: str = "/home/dev/acme-api") -> None:
        folder = root / "projects" / project.replace("/", "-")
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / f"{session}.jsonl"
        self._session, self._project = session, project
        self._parent: str | None = None
        self._count = 0

    def say(self, kind: str, content: Any, ago: timedelta, **message: Any) -> None:
        self._count += 1
        uuid = str(uuid5(NAMESPACE_URL, f"{self._session}/{self._count}"))
        record = {
            "parentUuid": self._parent, "isSidechain": False, "userType": "external",
            "cwd": self._project, "sessionId": self._session, "version": "2.1.332",
            "gitBranch": "main", "type": kind, "uuid": uuid, "timestamp": stamp(ago),
            "message": {"role": kind, "content": content, **message},
        }  # fmt: skip
        self._parent = uuid
        with self.path.open("a") as file:
            file.write(json.dumps(record) + "\n")

    def ask(self, text: str, ago: timedelta) -> None:
        self.say("user", text, ago)

    def call(self, number: int, name: str, given: dict[str, Any], ago: timedelta) -> None:
        block = {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": given}
        self.say("assistant", [block], ago, id=f"msg_{number}", stop_reason="tool_use")

    def result(self, number: int, text: str, ago: timedelta) -> None:
        block = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": text}
        self.say("user", [block], ago)

    def answer(self, text: str, ago: timedelta) -> None:
        block = {"type": "text", "text": text}
        self.say("assistant", [block], ago, id="msg_last", stop_reason="end_turn")


def session_id(number: int) -> str:
    return f"00000000-0000-4000-8000-{number:012d}"


def write_talks(root: Path) -> None:
    """One running, one that waits for its person, one that may ask, some odd, many old."""
    minute = timedelta(minutes=1)
    one = Talk(root, session_id(1))
    one.ask("Fix the flaky retry test", 3 * minute)
    one.call(1, "Bash", {"command": "gh run view 4711"}, 2 * minute)
    one.result(1, f"it failed with {SECRET}", 2 * minute)
    edit = {"file_path": "/home/dev/acme-api/tests/test_retry.py",
            "old_string": "time.sleep(1)", "new_string": "clock.tick(1)\nclock.tock()"}  # fmt: skip
    one.call(2, "Edit", edit, minute)
    one.result(2, "done", minute)
    one.call(3, "Bash", {"command": "pytest -k retry"}, timedelta(seconds=20))
    two = Talk(root, session_id(2), "/home/dev/docs")
    two.ask("Rewrite the README", 9 * minute)
    two.answer("# Done\n\nShall I update **the lock file**?\n\n```\nx = 1\n```", 8 * minute)
    three = Talk(root, session_id(3), "/home/dev/shop")
    three.ask("Checkout form", 20 * minute)
    three.call(1, "Bash", {"command": "rm -rf build"}, 5 * minute)
    for number, title in enumerate(ODD_TITLES):
        odd = Talk(root, session_id(10 + number), "/tmp/[/bad]")
        odd.ask(title, timedelta(hours=2 + number))
        odd.answer(f"{title} " + "x" * 5000, timedelta(hours=2 + number))
    for number in range(30):
        old = Talk(root, session_id(100 + number), f"/home/dev/p{number % 3}")
        old.ask(f"Old question {number}", timedelta(days=2, hours=number))
        old.answer(f"Old answer {number}", timedelta(days=2, hours=number))
    for path in root.rglob("*.jsonl"):
        os.utime(path, (NOW.timestamp(), NOW.timestamp()))  # it tells when its agent deletes it


def capture(home: Home) -> None:
    """Sessions of a made-up person in the store, their masks with the same digits each time."""
    write_talks(home.claude)
    secret = home.uc / "state" / "secret"
    secret.parent.mkdir(parents=True, mode=0o700)
    home.uc.chmod(0o700)
    secret.write_bytes(b"0123456789abcdef0123456789abcdef")
    secret.chmod(0o600)
    home.once()


@pytest.fixture(scope="session")
def captured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A person's home, read to its end."""
    home = Home(tmp_path_factory.mktemp("person"))
    capture(home)
    return home.folder


@pytest.fixture
def person(captured: Path, tmp_path: Path) -> Path:
    """A copy of that home."""
    folder = tmp_path / "home"
    shutil.copytree(captured, folder)
    return folder


@pytest.fixture(autouse=True)
def fixed_zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    import time

    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


MakeApp = Callable[..., Dashboard]


def dashboard(folder: Path, **more: Any) -> Dashboard:
    """The app on that home."""
    home = Home(folder)
    paths = resolve_paths(home.env, folder)
    settings = load_settings(paths.config_file, home.env, flags={})
    given = {"program": program(), "clock": lambda: NOW, "env": home.env, **more}
    return Dashboard(
        Surroundings(paths=paths, settings=settings, home=folder, folder=folder, **given)
    )


@pytest.fixture
def make_app() -> MakeApp:
    return dashboard


@pytest.fixture
def app(person: Path, make_app: MakeApp) -> Dashboard:
    return make_app(person)
