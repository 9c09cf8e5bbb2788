"""What the keys do, and what the signs mean."""

from __future__ import annotations

from typing import ClassVar

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ultracontext_dashboard.screens.page import Page

SIGNS = (
    ("● running", "an open tool call, or the agent was asked and has not ended its turn"),
    ("", "`running or asks`: the call is open for more than a minute; it may wait for a yes"),
    ("◐ your turn", "the agent ended its turn"),
    ("○ idle", "nothing came for half an hour"),
    ("✓ ended", "nothing came for a day, or its file is gone and only we have it"),
    ("⏳", "its agent will delete it within three days; we keep it"),
    ("[redacted:…]", "a secret stood here; the same eight digits are the same secret"),
)
LISTED = (
    ("up down j k", "move; home, end, page up, page down"),
    ("enter", "open the session"),
    ("/", "filter by agent, project, text; escape clears"),
    ("left right", "one agent only"),
    ("g  o  z", "group by project; sort; one or two lines a session"),
    ("+", "show or hide sub-agents"),
    ("s  f  r", "switch to another agent; fork; restore"),
    ("ctrl+f", "search everything"),
    ("S  x  ,  L", "store and health; secrets; settings; log"),
    ("p", "pause or continue capture"),
    ("y", "copy the id"),
    ("ctrl+p", "all commands"),
    ("q  ctrl+c", "quit; the daemon goes on"),
)
SESSION = (
    ("j k", "next and earlier turn"),
    ("up down", "message by message"),
    ("enter", "fold or unfold a tool call"),
    ("/  n  N", "search; next and earlier hit"),
    ("t  end", "to the end, and follow"),
    ("v  d", "versions; what changed in one"),
    ("y", "copy the message"),
    ("i", "lineage, versions and files at the side"),
    ("s", "switch"),
    ("escape", "back"),
)


class Help(Page):
    """One page, for all screens."""

    KEYS: ClassVar[str] = "esc back"
    EVERY_SECONDS: ClassVar[float] = 0.0

    async def content(self) -> RenderableType:
        return Group(
            _part("Signs", SIGNS), _part("In the list", LISTED), _part("In a session", SESSION)
        )


def _part(name: str, rows: tuple[tuple[str, str], ...]) -> Group:
    table = Table.grid(padding=(0, 2))
    table.add_column(width=16)
    table.add_column(ratio=1)
    for keys, told in rows:
        table.add_row(Text(keys, style="bold"), Text(told))
    return Group(Text(""), Text(name, style="bold underline"), table)
