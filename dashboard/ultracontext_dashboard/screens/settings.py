"""What is set, and from where; changed by `ultracontext config set`."""

from __future__ import annotations

import json
from typing import Any, ClassVar

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ultracontext_dashboard.process import run_json
from ultracontext_dashboard.screens.page import Page
from ultracontext_dashboard.text import one_line, tilde


class SettingsView(Page):
    """As `ultracontext config show --json` tells it."""

    EVERY_SECONDS: ClassVar[float] = 0.0

    async def content(self) -> RenderableType:
        at = self.dashboard.at
        found = await run_json([*at.program, "config", "show", "--json"], at.env)
        table = Table.grid(padding=(0, 2))
        table.add_column(width=34)
        table.add_column(ratio=2)
        table.add_column(ratio=1)
        for name, value, origin in _rows(found):
            table.add_row(Text(name, style="bold"), Text(value), Text(origin, style="dim"))
        where = tilde(at.paths.config_file, at.home)
        head = f"\n{where}\nChange one by `ultracontext config set NAME VALUE`.\n"
        return Group(Text(head), table)


def _rows(found: Any) -> list[tuple[str, str, str]]:
    rows = found if isinstance(found, list) else None
    if rows is None and isinstance(found, dict):
        rows = found.get("settings", found)
    if isinstance(rows, dict):
        return [(str(key), _text(value), "") for key, value in rows.items()]
    listed = []
    for row in rows or []:
        if isinstance(row, dict):
            name = str(row.get("name", row.get("key", "")))
            listed.append((name, _text(row.get("value")), str(row.get("origin", ""))))
    return listed


def _text(value: Any) -> str:
    if isinstance(value, dict) and "value" in value:
        origin = value.get("origin")
        return one_line(f"{_text(value['value'])}" + (f"   ({origin})" if origin else ""))
    return one_line(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
