"""Which secrets were masked, so that a person can rotate them."""

from __future__ import annotations

from typing import ClassVar

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ultracontext_dashboard import words
from ultracontext_dashboard.screens.page import Page

MOST = 500
NARROW = 80
COLUMNS = (
    ("Kind", 20, True), ("Digest", 8, True), ("Sessions", 8, True), ("Times", 7, False),
    ("First seen", 10, False), ("Last seen", 10, True),
)  # fmt: skip
"""Name, cells, whether it stays where there is little room."""


class Secrets(Page):
    """One line a secret: kind, fingerprint, sessions, since when, last seen."""

    EVERY_SECONDS: ClassVar[float] = 5.0
    KEYS: ClassVar[str] = "esc back   ctrl+r refresh   ? help"

    async def content(self) -> RenderableType:
        reading = self.dashboard.reading
        found = await reading.run(reading.sessions.secrets)
        now = self.dashboard.now()
        columns = [c for c in COLUMNS if self.size.width >= NARROW or c[2]]
        table = Table.grid(padding=(0, 2))
        for name, width, _ in columns:
            table.add_column(Text(name), width=width, no_wrap=True)
        table.add_row(*(Text(name, style="bold") for name, _, _ in columns))
        for row in found[:MOST]:
            told = {
                "Kind": row["kind"],
                "Digest": row["fingerprint"],
                "Sessions": f"{row['sessions']:,}",
                "Times": f"{row['count']:,}",
                "First seen": words.age(row["since"], now),
                "Last seen": words.age(row["until"], now),
            }
            table.add_row(*(Text(told[name]) for name, _, _ in columns))
        if not found:
            return Text("\nNo secret was met so far.")
        head = (
            f"\n{len(found):,} secrets were masked before anything read them. They still lie in"
            " the agents' own files: rotate them.\n`ultracontext secrets` lists the files.\n"
        )
        return Group(Text(head), table)
