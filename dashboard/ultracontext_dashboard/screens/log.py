"""The end of the daemon's log."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any, ClassVar

from rich.console import RenderableType
from rich.text import Text

from ultracontext_dashboard.library import moment
from ultracontext_dashboard.screens.page import Page
from ultracontext_dashboard.text import one_line, tilde

MOST_BYTES = 200_000
MOST_LINES = 500


class LogView(Page):
    """Followed; errors in red."""

    EVERY_SECONDS: ClassVar[float] = 1.0
    KEYS: ClassVar[str] = "esc back   end tail   ? help"

    async def content(self) -> RenderableType:
        path = _newest(self.dashboard.at.paths.logs_dir)
        if path is None:
            return Text("\nNo log yet.")
        lines = await asyncio.to_thread(_tail, path)
        page = self.query_one("#page")
        follow = page.scroll_offset.y >= page.max_scroll_y - 1
        if follow:
            self.call_after_refresh(page.scroll_end, animate=False)
        shown = Text(f"{tilde(path, self.dashboard.at.home)}\n", style="dim", no_wrap=False)
        for line in lines:
            text, style = told(line)
            shown.append(text + "\n", style)
        return shown


STYLES = {"error": "bold red", "critical": "bold red", "warning": "yellow", "debug": "dim"}


def told(line: str) -> tuple[str, str]:
    """`20:24:40 warning  capture.tail  file-gone  code=x` of a line of the log, and its style."""
    try:
        record = json.loads(line)
    except ValueError:
        return one_line(line, 1000), ""
    if not isinstance(record, dict):
        return one_line(line, 1000), ""
    level = str(record.pop("level", ""))
    when = moment(record.pop("timestamp", None))
    stamp = when.astimezone().strftime("%m-%d %H:%M:%S") if when is not None else ""
    logger, event = record.pop("logger", ""), record.pop("event", "")
    rest = " ".join(f"{name}={value}" for name, value in record.items())
    head = f"{stamp} {level:<7} {one_line(str(logger))}  {one_line(str(event))}"
    return f"{head}  {one_line(rest, 1000)}".rstrip(), STYLES.get(level, "")


def _newest(folder: Path) -> Path | None:
    try:
        found = [path for path in folder.iterdir() if path.is_file() and ".log" in path.name]
        return max(found, key=lambda path: path.stat().st_mtime, default=None)
    except OSError:
        return None


def _tail(path: Path) -> list[str]:
    try:
        with path.open("rb") as file:
            file.seek(0, 2)
            file.seek(max(0, file.tell() - MOST_BYTES))
            data: Any = file.read().decode("utf-8", "replace")
    except OSError as error:
        return [f"cannot read the log: {error.strerror}"]
    return str(data).splitlines()[-MOST_LINES:]
