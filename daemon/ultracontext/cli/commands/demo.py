"""`demo`: plays packaged recordings into a temporary home; what is captured of them is seen in the
dashboard, or printed where there is no terminal."""

from __future__ import annotations

import os
import queue
import shutil
import signal
import sys
import tempfile
import textwrap
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ultracontext.cli import output
from ultracontext.cli.background import start_daemon, stop_daemon
from ultracontext.cli.demo import Recording, made_up_key, recordings
from ultracontext.cli.group import UsageError, command_app
from ultracontext.cli.workspace import Workspace
from ultracontext.errors import TransportError, UltraContextError
from ultracontext.runtime.client import ControlClient

if TYPE_CHECKING:
    from ultracontext.model import Message
    from ultracontext.store.base import SpaceStore

app = command_app()

KEPT_VARIABLES = (
    "PATH", "LANG", "LC_ALL", "TZ", "TMPDIR", "PYTHONPATH", "PYTHONUTF8", "VIRTUAL_ENV",
    "ULTRACONTEXT_REDACTION_ENGINE", "TERM", "COLORTERM", "COLORFGBG", "SHELL", "NO_COLOR",
    "ULTRACONTEXT_THEME",
)  # fmt: skip
CATCH_UP_SECONDS = 10.0
WIDTH = 100
NAMES = {
    "user": "You", "assistant": "Agent", "reasoning": "Thinking", "tool_call": "Tool",
    "tool_result": "Result", "system": "Context",
}  # fmt: skip


@app.command()
def demo(
    pause: Annotated[
        float, typer.Option("--pause", metavar="SECONDS", help="Between two records.")
    ] = 0.3,
    keep: Annotated[bool, typer.Option("--keep", help="Leave the temporary home.")] = False,
    text: Annotated[
        bool, typer.Option("--text", help="Print what is captured, not the dashboard.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="One JSON line a message.")] = False,
) -> None:
    """Plays recorded samples into a temporary home: in the dashboard, or as text."""
    if not 0 <= pause <= 60:
        raise UsageError("--pause is between 0 and 60 seconds", hint="Write it like --pause 0.3")
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)  # cleans up as Ctrl-C does
    with _temporary_home(keep) as home:
        place = Workspace(env=_environment(home), home=home)
        key = made_up_key()
        if not json and not text and _can_draw(place):
            _on_screen(place, key, pause)
            return
        if not json:
            output.note(f"A daemon watches {home}; recorded agents type there now.")
            output.note(f"One prompt holds the made-up key {key}: see what becomes of it.\n")
        plan = recordings(home, key)
        for recording in plan:
            recording.file.parent.mkdir(parents=True)
        start_daemon(place)
        try:
            shown = Screen(place, as_json=json)
            _play(plan, shown, pause)
            if not json:
                shown.close(keep)
        finally:
            with suppress(UltraContextError):
                stop_daemon(place)


@contextmanager
def _temporary_home(keep: bool) -> Iterator[Path]:
    home = Path(tempfile.mkdtemp(prefix="ultracontext-demo-")).resolve()
    try:
        yield home
    finally:
        if not keep:
            shutil.rmtree(home, ignore_errors=True)


def _can_draw(place: Workspace) -> bool:
    on_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    return on_terminal and place.env.get("TERM", "dumb") not in ("", "dumb")


def _on_screen(place: Workspace, key: str, pause: float) -> None:
    """The dashboard, while recorded agents type behind it; ends when the person leaves it."""
    from ultracontext.cli.commands.dashboard import open_dashboard

    left = threading.Event()
    plan = recordings(place.home, key)
    for recording in plan:
        recording.file.parent.mkdir(parents=True)
    start_daemon(place)
    typing = threading.Thread(target=_type, args=(plan, pause, left), daemon=True)
    typing.start()
    try:
        open_dashboard(place)
    finally:
        left.set()
        typing.join()
        with suppress(UltraContextError):
            stop_daemon(place)


def _type(plan: list[Recording], pause: float, left: threading.Event) -> None:
    """Appends the recordings by turns, record by record, until all is written or `left` is set."""
    waiting = [(recording.file, iter(recording)) for recording in plan]
    while waiting:
        for file, lines in list(waiting):
            line = next(lines, None)
            if line is None:
                waiting.remove((file, lines))
                continue
            with file.open("ab") as target:
                target.write(line)
            if left.wait(pause):
                return


def _environment(home: Path) -> Mapping[str, str]:
    """Nothing of the person's own settings and agents."""
    kept = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    return kept | {"HOME": str(home), "ULTRACONTEXT_HOME": str(home / "ultracontext")}


def _play(plan: list[Recording], shown: Screen, pause: float) -> None:
    """Appends record by record, prints what comes of it, and waits for the rest."""
    written = 0
    for recording in plan:
        for line in recording:
            with recording.file.open("ab") as file:
                file.write(line)
            written += 1
            shown.until(time.monotonic() + pause, events=None)
    shown.until(time.monotonic() + CATCH_UP_SECONDS, events=written)


class Screen:
    """Follows the daemon's commits and prints the messages that they brought."""

    def __init__(self, place: Workspace, *, as_json: bool) -> None:
        self._place = place
        self._as_json = as_json
        self._events = 0
        self._printed: dict[str, int] = {}
        self._commits: queue.Queue[dict[str, Any]] = queue.Queue()
        self._client = ControlClient(place.paths.socket)
        cursor = self._client.get("/sessions?limit=1")["cursor"]
        threading.Thread(target=self._listen, args=(cursor,), daemon=True).start()

    def until(self, deadline: float, *, events: int | None) -> None:
        """Prints until the deadline, or until so many events were captured in all."""
        while events is None or self._events < events:
            try:
                commit = self._commits.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                return
            self._events += commit["events"]
            with self._place.reading() as space:
                if space is not None:
                    self._print_new(space, commit["context_id"])

    def close(self, keep: bool) -> None:
        output.note(f"\n{self._events} records in {len(self._printed)} sessions, each stored once.")
        if keep:
            home = self._place.paths.home
            output.note(f"Look at them: ULTRACONTEXT_HOME={home} ultracontext sessions")
        else:
            output.note(
                "The temporary home is removed. Your own: `ultracontext daemon run --once`."
            )

    def _listen(self, cursor: str) -> None:
        with suppress(TransportError):
            for name, data in self._client.events(cursor):
                if name == "committed":
                    self._commits.put(data)

    def _print_new(self, space: SpaceStore, context_id: str) -> None:
        from ultracontext.store.session import read_session

        row = space.find(context_id)
        told = [
            m for m in read_session(space, row, self._place.redactor).messages if m.kind != "meta"
        ]
        for message in told[self._printed.get(context_id, 0) :]:
            self._print(row.agent, context_id, message)
        self._printed[context_id] = len(told)

    def _print(self, agent: str, context_id: str, message: Message) -> None:
        if self._as_json:
            body = {"id": context_id, "agent": agent, "kind": message.kind, "text": message.text}
            output.write_json(body)
            return
        name = NAMES.get(message.kind, message.kind)
        if message.kind == "tool_call" and message.tool is not None:
            name = message.tool.name
        head = f"{agent:<7} {output.one_line(name):<13} "
        output.write(
            textwrap.fill(
                output.one_line(message.text),
                width=max(output.columns() or WIDTH, 50),
                initial_indent=head,
                subsequent_indent=" " * len(head),
            )
        )
