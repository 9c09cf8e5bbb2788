"""Facts of a session, kept up to date record by record."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any, Literal

from ultracontext.agents.gemini.compat import MARK, SETTINGS
from ultracontext.agents.gemini.layout import CHECKPOINT, checkpoint_tag, parent_of
from ultracontext.agents.gemini.live import is_sent
from ultracontext.agents.gemini.project import Project
from ultracontext.agents.gemini.timeline import Timeline
from ultracontext.agents.gemini.turns import SPENT
from ultracontext.agents.gemini.values import identifier, mapping, moment, one_line
from ultracontext.formats import Changes
from ultracontext.model import Message, SessionFacts, Tool

MOST_KINDS = 100
_EDITORS = frozenset({"edit", "replace", "write_file"})
"""Tools that change the file named by `file_path`."""


class Facts:
    """What lists show."""

    def __init__(self, session_id: str) -> None:
        self._session = session_id
        self.project = Project()
        self.delegated = False
        self._parent: str | None = None
        self._origin: str | None = None
        self._origin_agent: str | None = None
        self._tag: str | None = None
        self._summary: str | None = None
        self._model: tuple[str, str] | None = None
        self._started: str | None = None
        self._updated: str | None = None
        self._unknown: dict[str, int] = {}
        self.changes = Changes(_changed)
        self._sent = False

    def note_messages(self, messages: list[Message]) -> None:
        """Files that were changed, and whether there is anything that a resume would send."""
        self.changes.note(messages, self.project.path)
        if not self._sent:
            self._sent = any(is_sent(message) for message in messages)

    def current(self, timeline: Timeline) -> SessionFacts:
        prompt = timeline.first_prompt()
        title = self._tag or self._summary or prompt
        source: Literal["name", "agent", "prompt"] | None = None
        if title is not None:
            source = "name" if self._tag else "agent" if self._summary else "prompt"
        return SessionFacts(
            title=title,
            title_source=source,
            project_path=self.project.path,
            model=self._model[1] if self._model else None,
            started_at=self._started,
            updated_at=self._updated,
            messages=timeline.shown,
            parent_session=self._parent or self._origin,
            parent_agent=None if self._parent else self._origin_agent,
            relation="subagent" if self.delegated else "switch" if self._origin else None,
            lineage_key=None if self.delegated or prompt is None else _key(prompt),
            tokens=sum(timeline.usage.get(kind, 0) for kind in SPENT),
            usage={kind: count for kind, count in timeline.usage.items() if count},
            files=self.changes.files,
            traits={"sent": "yes"} if self._sent else {},
            unknown=dict(self._unknown),
        )

    def count_unknown(self, kinds: list[str]) -> None:
        for kind in kinds:
            if len(kind) > 64 or (kind not in self._unknown and len(self._unknown) >= MOST_KINDS):
                kind = "(other)"
            self._unknown[kind] = self._unknown.get(kind, 0) + 1

    def note_source(self, source: str) -> None:
        """What a path says: a sub-agent's parent, a checkpoint's tag."""
        parent = parent_of(source)
        if parent is not None:
            self.delegated = True
            self._parent = parent if parent != self._session else None
        tag = checkpoint_tag(source) if CHECKPOINT in self._session else None
        if tag is not None:
            self._tag = one_line(tag) or CHECKPOINT

    def note_settings(self, settings: dict[str, Any], source: str) -> None:
        """A metadata line, a document's head, or what stands under `$set`."""
        self.note_time(moment(settings.get("startTime")))
        self.note_time(moment(settings.get("lastUpdated")))
        summary = settings.get("summary")
        if type(summary) is str and summary.strip():
            self._summary = one_line(summary)
        mark = mapping(settings.get(MARK))
        self._origin = self._origin or identifier(mark.get("session_id"))
        self._origin_agent = self._origin_agent or identifier(mark.get("from"))
        if settings.get("kind") == "subagent":
            self.delegated = True
        self.project.note_hash(source, settings.get("projectHash"))
        self.project.note_directories(settings.get("directories"))

    def note_update(self, settings: dict[str, Any]) -> None:
        """Counts fields under `$set` that are new to us."""
        self.count_unknown([f"$set.{name[:40]}" for name in settings if name not in SETTINGS])

    def note_turn(self, native: dict[str, Any]) -> None:
        """Times, model, and paths of one message."""
        time = moment(native.get("timestamp"))
        self.note_time(time)
        model = identifier(native.get("model"))
        if model is not None and (self._model is None or (time or "") >= self._model[0]):
            self._model = (time or "", model)
        calls = native.get("toolCalls")
        if type(calls) is list and self.project.path is None:
            for call in calls[:50]:
                self.project.note_call(mapping(call).get("args"))

    def note_time(self, time: str | None) -> None:
        if time is None:
            return
        if self._started is None or time < self._started:
            self._started = time
        if self._updated is None or time > self._updated:
            self._updated = time


def _changed(tool: Tool) -> tuple[Any, ...]:
    return (mapping(tool.input).get("file_path"),) if tool.name in _EDITORS else ()


def _key(prompt: str) -> str:
    """Sessions that begin alike may be copies of each other."""
    return blake2b(prompt.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
