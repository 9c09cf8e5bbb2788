"""One session: the conversation as it grows; beside it lineage, versions and files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from rich.text import Text
from textual import events, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.screen import Screen
from textual.widgets import Input, Static

from ultracontext.errors import UltraContextError
from ultracontext_dashboard import words
from ultracontext_dashboard.arrange import project_of
from ultracontext_dashboard.blocks import plain
from ultracontext_dashboard.library import Entry
from ultracontext_dashboard.text import keep_end, one_line
from ultracontext_dashboard.widgets.conversation import Conversation
from ultracontext_dashboard.widgets.top import Keys

WIDE = 110


class SessionScreen(Screen[None]):
    """Follows the session while it is open."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "back", "Back"),
        Binding("slash", "find", "Find"),
        Binding("n", "hit(1)", "Next hit", show=False),
        Binding("N,upper_n", "hit(-1)", "Earlier hit", show=False),
        Binding("s", "switch", "Switch"),
        Binding("f", "fork", "Fork"),
        Binding("r", "restore", "Restore", show=False),
        Binding("v", "versions", "Versions"),
        Binding("d", "diff", "Diff"),
        Binding("y", "copy", "Copy"),
        Binding("i", "side", "Side", show=False),
    ]
    KEYS: ClassVar[str] = (
        "j/k turn   enter fold   / find   n next   t tail   v versions   d diff   y copy"
        "   s switch   i side   esc back   ? help"
    )

    def __init__(self, context_id: str, *, version: int | None = None) -> None:
        super().__init__()
        self._context_id = context_id
        self._version = version
        self._side_wanted: bool | None = None

    @property
    def dashboard(self) -> Any:
        return self.app

    @property
    def entry(self) -> Entry | None:
        found: Entry | None = self.dashboard.entries.get(self._context_id)
        return found

    def compose(self) -> ComposeResult:
        yield Static(id="top", markup=False)
        with Horizontal(id="body"):
            yield Conversation(id="text")
            with VerticalScroll(id="side"):
                yield Static(id="side-text", markup=False)
        yield Input(id="find", placeholder="find in this session", compact=True)
        yield Keys(self.KEYS, id="keys")

    def on_mount(self) -> None:
        self.dashboard.grown.subscribe(self, self._grown)
        self.dashboard.changed.subscribe(self, lambda _: self._head())
        self.query_one(Conversation).focus()
        self._read(fresh=True)

    def on_resize(self, event: events.Resize) -> None:
        wide = event.size.width >= WIDE if self._side_wanted is None else self._side_wanted
        self.set_class(wide, "wide")
        self._head()

    # ---- content -----------------------------------------------------------------------------
    def _grown(self, contexts: set[str]) -> None:
        if self._context_id in contexts and self._version is None:
            self._read()

    @work(exclusive=True, exit_on_error=False, group="read")
    async def _read(self, fresh: bool = False) -> None:
        try:
            messages = await self.dashboard.messages(self._context_id, self._version)
        except UltraContextError as error:
            self.dashboard.say(f"{error.message}. {error.hint}".strip(), error=True)
            return
        self.query_one(Conversation).show(messages, fresh=fresh)
        self._head()
        self._side()

    def on_conversation_moved(self) -> None:
        self._head()

    def _head(self) -> None:
        entry = self.entry
        if entry is None or not self.is_mounted:
            return
        row, talk = entry.row, self.query_one(Conversation)
        right = [f"{talk.count} messages"]
        if self._version is not None:
            right.insert(0, f"v{self._version}, as it was")
        elif row.get("version"):
            right.insert(0, f"v{row['version']}")
        if talk.missed:
            right.append(f"{talk.missed} new below (t)")
        facts = [
            f"{row['agent']} {row.get('agent_version') or ''}".strip(),
            one_line(project_of(row)),
            one_line(str(row.get("git_branch") or "")),
            words.state_words(entry.doing, self.dashboard.now()),
        ]
        line = Text(" < ", no_wrap=True, overflow="ellipsis", end="")
        line.append(one_line(str(row.get("title") or "(no title)"), 80), "bold")
        line.append("   " + " · ".join(fact for fact in facts if fact))
        end = " · ".join(right) + " "
        line.truncate(max(10, self.size.width - len(end) - 1), overflow="ellipsis")
        line.append(" " * max(1, self.size.width - line.cell_len - len(end)) + end)
        self.query_one("#top", Static).update(line, layout=False)

    def _side(self) -> None:
        entry = self.entry
        if entry is not None:
            text = side_text(entry, self.dashboard.entries, self.dashboard.now())
            self.query_one("#side-text", Static).update(text)

    # ---- actions -----------------------------------------------------------------------------
    def action_back(self) -> None:
        field = self.query_one("#find", Input)
        if field.has_class("shown"):
            field.remove_class("shown")
            self.query_one(Conversation).search("")
            self.query_one(Conversation).focus()
            return
        _ = self.dismiss()  # not awaited: it would wait for itself

    def action_find(self) -> None:
        field = self.query_one("#find", Input)
        field.add_class("shown")
        field.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        talk = self.query_one(Conversation)
        hits = talk.search(event.value)
        self.query_one("#find").remove_class("shown")
        talk.focus()
        if not hits:
            self.dashboard.say(f"not here: {one_line(event.value, 60)}")
        else:
            talk.next_hit(-1)
            self.dashboard.say(f"{hits} messages; n next, N earlier")

    def action_hit(self, step: int) -> None:
        self.query_one(Conversation).next_hit(step)

    def action_copy(self) -> None:
        message = self.query_one(Conversation).current
        if message is not None:
            self.app.copy_to_clipboard(plain(message))
            self.dashboard.say("copied the message")

    def action_side(self) -> None:
        self._side_wanted = not self.has_class("wide")
        self.set_class(self._side_wanted, "wide")

    def action_switch(self) -> None:
        if self.entry is not None:
            self.dashboard.open_switch(self.entry)

    def action_fork(self) -> None:
        if self.entry is not None:
            self.dashboard.fork(self.entry)

    def action_restore(self) -> None:
        if self.entry is not None:
            self.dashboard.restore(self.entry)

    def action_versions(self) -> None:
        if self.entry is not None:
            self.dashboard.open_versions(self.entry)

    def action_diff(self) -> None:
        if self.entry is not None:
            self.dashboard.open_versions(self.entry, diff=True)


def side_text(entry: Entry, entries: Mapping[str, Entry], now: Any) -> Text:
    """Lineage, place, usage and files."""
    shown = Text()
    shown.append("Lineage\n", "bold")
    for depth, one in _lineage(entry, entries):
        sign = words.SIGNS[one.doing.state]
        here = one.context_id == entry.context_id
        lead = ("  " * max(0, depth - 1) + "├─ ") if depth else ""
        name = f"{one.row['agent']}  {one.row.get('messages') or 0}"
        shown.append(f"{lead}{sign} {name}", "bold" if here else "")
        shown.append(f"  {one.row.get('relation') or ''}\n", "dim")
    row = entry.row
    shown.append("\nPlace\n", "bold")
    place = {"gone": "gone: only we have it", "hidden": "hidden from its agent's list"}
    shown.append(place.get(str(row.get("place")), "in its agent's list") + "\n")
    if row.get("expires_at"):
        shown.append(f"its agent deletes it {str(row['expires_at'])[:10]}\n", "dim")
    usage = row.get("usage") or {}
    if usage:
        shown.append("\nTokens\n", "bold")
        for kind, count in usage.items():
            shown.append(f"{words.count_text(count):>6}  {kind.removesuffix('_tokens')}\n")
    files = row.get("files") or []
    if files:
        shown.append(f"\nFiles ({len(files)})\n", "bold")
        project = str(row.get("project_path") or "")
        for path in files[:100]:
            name = one_line(str(path))
            if project and name.startswith(project + "/"):
                name = name[len(project) + 1 :]
            shown.append(keep_end(name, 31) + "\n")
    return shown


def _lineage(entry: Entry, entries: Mapping[str, Entry]) -> list[tuple[int, Entry]]:
    """The family tree around a session: (depth, session)."""
    top, seen = entry, {entry.context_id}
    while (above := entries.get(str(top.row.get("parent_id")))) is not None:
        if above.context_id in seen:
            break
        seen.add(above.context_id)
        top = above
    found: list[tuple[int, Entry]] = []
    stack, met = [(0, top)], set[str]()
    while stack and len(found) < 50:
        depth, one = stack.pop()
        if one.context_id in met:
            continue
        met.add(one.context_id)
        found.append((depth, one))
        below = [e for e in entries.values() if e.row.get("parent_id") == one.context_id]
        below.sort(key=lambda e: str(e.row.get("started_at") or ""), reverse=True)
        stack += [(depth + 1, child) for child in below]
    return found
