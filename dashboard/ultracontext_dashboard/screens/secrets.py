"""Which secrets were masked, so that a person can rotate them."""

from __future__ import annotations

from typing import ClassVar

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ultracontext_dashboard import words
from ultracontext_dashboard.screens.page import Page

MOST = 500


class Secrets(Page):
    """One line a secret: kind, fingerprint, sessions, since when, last seen."""

    EVERY_SECONDS: ClassVar[float] = 5.0
    KEYS: ClassVar[str] = "esc back   ctrl+r refresh   ? help"

    async def content(self) -> RenderableType:
        reading = self.dashboard.reading
        found = await reading.run(reading.sessions.secrets)
        now = self.dashboard.now()
        table = Table.grid(padding=(0, 2))
        for width in (20, 8, 8, 7, 10, 10):
            table.add_column(width=width)
        heads = ("Kind", "Digest", "Sessions", "Times", "First seen", "Last seen")
        table.add_row(*(Text(name, style="bold") for name in heads))
        for row in found[:MOST]:
            table.add_row(
                Text(row["kind"]),
                Text(row["fingerprint"]),
                Text(f"{row['sessions']:,}"),
                Text(f"{row['count']:,}"),
                Text(words.age(row["since"], now)),
                Text(words.age(row["until"], now)),
            )
        if not found:
            return Text("\nNo secret was met so far.")
        told = (
            f"\n{len(found):,} secrets were masked before anything read them. They still lie in"
            " the agents' own files: rotate them.\n`ultracontext secrets` lists the files.\n"
        )
        return Group(Text(told), table)
