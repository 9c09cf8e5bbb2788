"""A progress bar on stderr for `daemon run --once`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ultracontext.capture import Progress

REPAINT_SECONDS = 0.1


@contextmanager
def progress_bar() -> Iterator[Callable[[Progress], None]]:
    """A callback that paints at most ten times a second."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"), BarColumn(), DownloadColumn(),
        TextColumn("{task.fields[events]} events"), TimeRemainingColumn(),
    )  # fmt: skip
    with Bar(*columns, console=Console(stderr=True), transient=True, auto_refresh=False) as bar:
        task = bar.add_task("Capturing", total=None, events=0)
        painted = 0.0

        def show(now: Progress) -> None:
            nonlocal painted
            if time.monotonic() - painted < REPAINT_SECONDS:
                return
            painted = time.monotonic()
            bar.update(
                task, total=max(now.bytes_total, 1), completed=now.bytes_done, events=now.events
            )
            bar.refresh()

        yield show
