"""The line at the top, which is the health, and the line of keys at the bottom."""

from __future__ import annotations

from typing import Any

from rich.text import Text
from textual import events
from textual.geometry import Size
from textual.widgets import Static

from ultracontext_dashboard import words
from ultracontext_dashboard.text import one_line


class Top(Static):
    """Says at one glance whether everything is captured; and if not, what is wrong and which key
    shows more."""

    def on_mount(self) -> None:
        app: Any = self.app
        app.health.subscribe(self, lambda _: self._draw())
        app.changed.subscribe(self, lambda _: self._draw())
        self._draw()

    def _draw(self) -> None:
        app: Any = self.app
        self.update(health_line(app, self.size.width), layout=False)

    def on_resize(self) -> None:
        self._draw()


NAMED = {
    "/": "slash", "?": "question_mark", "esc": "escape", ",": "comma", "+": "plus", "j/k": "j",
}  # fmt: skip
"""Keys that are written otherwise than Textual calls them."""


class Keys(Static):
    """What the keys do here, as many as there is room for, or on several lines; a click on one
    presses it."""

    def __init__(
        self, text: str, *, id: str | None = None, classes: str = "", wrap: bool = False
    ) -> None:
        super().__init__(id=id, classes=classes, markup=False)
        self._groups = text.split("   ")
        self._wrap = wrap

    def lines(self, width: int) -> list[list[str]]:
        """The groups of each line."""
        room = max(10, width - 2)
        if not self._wrap:
            return [shortened(self._groups, room)]
        found: list[list[str]] = [[]]
        for group in self._groups:
            if found[-1] and len("   ".join([*found[-1], group])) > room:
                found.append([])
            found[-1].append(group)
        return found

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self.lines(width))

    def render(self) -> Text:
        shown = Text("", no_wrap=True, overflow="ellipsis")
        for number, groups in enumerate(self.lines(self.size.width)):
            shown.append("\n " if number else " ")
            for group in groups:
                key, _, name = group.partition(" ")
                shown.append(key, "bold").append(f" {name}   ")
        return shown

    def key_at(self, x: int, y: int) -> str | None:
        """The key that is written there, as Textual calls it."""
        lines = self.lines(self.size.width)
        at = 1
        for group in lines[y] if 0 <= y < len(lines) else ():
            if at <= x < at + len(group):
                key = group.partition(" ")[0]
                return NAMED.get(key, key)
            at += len(group) + 3
        return None

    def on_click(self, event: events.Click) -> None:
        key = self.key_at(event.x, event.y)
        if key is not None:
            event.stop()
            self.app.simulate_key(key)


def shortened(groups: list[str], room: int) -> list[str]:
    """As many as fit; the last two always stay."""
    last = groups[-2:] if len(groups) > 2 else []
    shown: list[str] = []
    for group in groups[: len(groups) - len(last)]:
        if len("   ".join([*shown, group, *last])) > room:
            break
        shown.append(group)
    return [*shown, *last]


def health_line(app: Any, width: int) -> Text:
    """`UltraContext  ● capturing · 3 live · 41 today · 128 masked                14:32`"""
    sign, told, style = verdict(app)
    line = Text(" UltraContext  ", style="bold", no_wrap=True, overflow="ellipsis", end="")
    line.append(f"{sign} {told}", style)
    now = app.now()
    live = sum(entry.doing.state == "running" for entry in app.entries.values())
    midnight = now.astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
    times = (entry.updated for entry in app.entries.values())
    today = sum(when is not None and when >= midnight for when in times)
    masked = (app.status.get("capture") or {}).get("masked")
    facts = [f"{live} live", f"{today} today"]
    if isinstance(masked, int):
        facts.append(f"{masked:,} masked")
    for fact in facts:
        line.append(f" · {fact}", "")
    clock = now.astimezone().strftime("%H:%M")
    line.append(" " * max(1, width - line.cell_len - len(clock) - 1) + clock, "")
    return line


def verdict(app: Any) -> tuple[str, str, str]:
    """(sign, words, style) of capture as a whole."""
    if app.newer_daemon:
        return "!", f"the daemon is newer ({one_line(app.newer_daemon, 20)}): update", "bold red"
    if app.store_error:
        return "!", f"store: {one_line(app.store_error, 60)} (S)", "bold red"
    if app.daemon_error:
        return "○", f"{one_line(app.daemon_error, 50)} (S)", "bold red"
    capture = app.status.get("capture") or {}
    if not app.status:
        return "○", "connecting", ""
    redaction = app.status.get("redaction") or {}
    if redaction.get("enabled") is False:
        return "!", "masking is off (S)", "bold red"
    problems = app.status.get("problems") or []
    if problems:
        more = f" +{len(problems) - 1}" if len(problems) > 1 else ""
        return "!", f"{one_line(str(problems[0].get('message', '')), 50)}{more} (S)", "bold red"
    if capture.get("paused"):
        return "‖", "paused (p goes on)", "bold yellow"
    backlog = capture.get("backlog_seconds") or 0
    if backlog > 5:
        size = words.bytes_text(capture.get("backlog_bytes") or 0)
        return "!", f"behind {words.span(backlog)}, {size} (S)", "bold yellow"
    lag = f" · lag {words.span(backlog)}" if backlog >= 1 else ""
    return "●", f"capturing{lag}", "bold green"
