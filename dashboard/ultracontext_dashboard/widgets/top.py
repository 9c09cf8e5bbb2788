"""The line at the top, which is the health, and the line of keys at the bottom."""

from __future__ import annotations

from typing import Any

from rich.text import Text
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
        self.update(health_line(app, self.size.width))

    def on_resize(self) -> None:
        self._draw()


class Keys(Static):
    """What the keys do here, as many as there is room for."""

    def __init__(self, text: str, *, id: str | None = None, classes: str = "") -> None:
        super().__init__(id=id, classes=classes, markup=False)
        self._text = text

    def render(self) -> Text:
        groups = self._text.split("   ")
        last = groups[-2:] if len(groups) > 2 else []
        room = self.size.width - 2
        shown: list[str] = []
        for group in groups[: len(groups) - len(last)]:
            if len("   ".join([*shown, group, *last])) > room:
                break
            shown.append(group)
        line = Text(" ", no_wrap=True, overflow="ellipsis")
        for group in [*shown, *last]:
            key, _, name = group.partition(" ")
            line.append(key, "bold").append(f" {name}   ")
        return line


def health_line(app: Any, width: int) -> Text:
    """`UltraContext  ● capturing · 3 live · 41 today · 128 masked                14:32`"""
    sign, told, style = verdict(app)
    line = Text(" UltraContext  ", style="bold", no_wrap=True, overflow="ellipsis", end="")
    line.append(f"{sign} {told}", style)
    now = app.now()
    live = sum(entry.doing.state == "running" for entry in app.entries.values())
    today = sum(
        entry.updated is not None and entry.updated.astimezone().date() == now.astimezone().date()
        for entry in app.entries.values()
    )
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
