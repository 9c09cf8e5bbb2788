"""Facts of a session, kept up to date record by record."""

from __future__ import annotations

from operator import add, sub
from typing import Any, Literal

from ultracontext.agents.claude.assistant import SYNTHETIC
from ultracontext.agents.claude.content import MEDIA
from ultracontext.agents.claude.values import from_json, mapping, one_line, text_or_none
from ultracontext.formats import Changes
from ultracontext.model import Message, SessionFacts, Tool

MOST_KINDS = 100
MOST_ANSWERS = 256
"""Message ids that are remembered to count their tokens once; an answer's lines are near."""
MOST_TOKENS = 1 << 40
MOST_SUMMARIES = 64

_NAMES = {"custom-title": "customTitle", "agent-name": "agentName"}
_NOTES = tuple(f"[{kind}" for kind in MEDIA)
_STAND_INS = frozenset({"slash_command", "bash_input"})

_EDITORS = {
    "Write": "file_path", "Edit": "file_path", "MultiEdit": "file_path",
    "NotebookEdit": "notebook_path",
}  # fmt: skip
"""Tools that change a file, and which input names it."""
_USAGE = {
    "input_tokens": "input_tokens", "output_tokens": "output_tokens",
    "cache_read_tokens": "cache_read_input_tokens",
    "cache_write_tokens": "cache_creation_input_tokens",
}  # fmt: skip
_SPENT = tuple(_USAGE.values())
Spent = tuple[int, ...]
"""Tokens in the order of `_USAGE`."""
_NOTHING: Spent = (0,) * len(_USAGE)


class Facts:
    """What lists show. `current()` costs the same however long the session is."""

    def __init__(self) -> None:
        self.parent: str | None = None
        self.relation: Literal["subagent", "fork", "switch"] | None = None
        self._parent_agent: str | None = None
        self._name: str | None = None
        self._own_title: str | None = None
        self._prompt: str | None = None
        self._stand_in: str | None = None
        self._project: str | None = None
        self._branch: str | None = None
        self._model: str | None = None
        self._version: str | None = None
        self._started: str | None = None
        self._updated: str | None = None
        self._lineage: str | None = None
        self._messages = 0
        self._usage = _NOTHING
        self._answers: dict[str, Spent] = {}
        self._changes = Changes(_changed)
        self._entrypoint: str | None = None
        self._summaries: dict[str, str] = {}
        self._unknown: dict[str, int] = {}

    def current(self, *, lineage: bool) -> SessionFacts:
        title = self._name or self._own_title or self._prompt or self._stand_in
        source: Literal["name", "agent", "prompt"] | None = None
        if title is not None:
            source = "name" if self._name else "agent" if self._own_title else "prompt"
        return SessionFacts(
            title=title,
            title_source=source,
            project_path=self._project,
            git_branch=self._branch,
            model=self._model,
            agent_version=self._version,
            started_at=self._started,
            updated_at=self._updated,
            messages=self._messages,
            parent_session=self.parent,
            parent_agent=self._parent_agent,
            relation=self.relation,
            lineage_key=self._lineage if lineage else None,
            tokens=self._usage[0] + self._usage[1],
            usage={name: n for name, n in zip(_USAGE, self._usage, strict=True) if n},
            files=self._changes.files,
            traits={} if self._entrypoint is None else {"entrypoint": self._entrypoint},
            unknown=dict(self._unknown),
        )

    def note_origin(self, mark: Any) -> None:
        """The session that a switch made this one of."""
        origin = text_or_none(mapping(mark).get("session_id"))
        if origin is not None:
            self.parent, self.relation = origin, "switch"
            self._parent_agent = text_or_none(mapping(mark).get("from"))

    def count(self, messages: list[Message], unknown: list[str]) -> None:
        """Counts what a record gave."""
        for message in messages:
            if message.kind != "meta":
                self._messages += 1
        self._changes.note(messages, self._project)
        for kind in unknown:
            self._count_unknown(kind)

    def _count_unknown(self, kind: str) -> None:
        if len(kind) > 64 or (kind not in self._unknown and len(self._unknown) >= MOST_KINDS):
            kind = "(other)"
        self._unknown[kind] = self._unknown.get(kind, 0) + 1

    def note(self, native: dict[str, Any], time: str | None) -> None:
        """Fields that any record may have."""
        if time is not None:
            if self._started is None or time < self._started:
                self._started = time
            if self._updated is None or time > self._updated:
                self._updated = time
        if self._project is None:
            self._project = text_or_none(native.get("cwd"))
        if self._entrypoint is None and "entrypoint" in native:
            self._entrypoint = text_or_none(native["entrypoint"])
        branch = native.get("gitBranch")
        if branch != self._branch and type(branch) is str and branch:
            self._branch = branch
        version = native.get("version")
        if version != self._version and type(version) is str and version:
            self._version = version

    def note_root(self, uuid: str) -> None:
        """The first chain record; forks repeat it under the same uuid."""
        if self._lineage is None:
            self._lineage = uuid

    def note_prompt(self, messages: list[Message]) -> None:
        """A title from what was typed (or given to a sub-agent); else a command."""
        if self._prompt is not None:
            return
        for message in messages:
            if message.kind == "user" or message.event_type == "task":
                self._prompt = one_line(_typed(message)) or None
            elif message.event_type in _STAND_INS and self._stand_in is None:
                self._stand_in = one_line(_stand_in(message)) or None

    def note_answer(self, native: dict[str, Any]) -> None:
        """Model and tokens; the lines of one answer repeat its usage."""
        message = mapping(native.get("message"))
        model = message.get("model")
        if type(model) is str and model and model != SYNTHETIC:
            self._model = model
        origin = text_or_none(native.get("requestSessionId"))
        if origin is not None and origin != native.get("sessionId") and self.relation != "subagent":
            self.parent, self.relation = origin, "fork"
        usage = message.get("usage")
        if type(usage) is dict:
            self._spend(message.get("id"), _spent(usage))

    def _spend(self, answer: Any, spent: Spent) -> None:
        before = _NOTHING
        if type(answer) is str:
            answers = self._answers
            before = answers.pop(answer, _NOTHING)
            if before is not _NOTHING:
                spent = tuple(map(max, before, spent))
            answers[answer] = spent
            if len(answers) > MOST_ANSWERS:
                del answers[next(iter(answers))]
        if spent != before:
            self._usage = tuple(map(sub, map(add, self._usage, spent), before))

    def note_title(self, kind: str, native: dict[str, Any], known: set[int]) -> None:
        """Names given by the person and titles made by the agent; the last of each counts.

        A `summary` titles the session that holds its leaf: 1.0 wrote those of others too.
        """
        if kind in _NAMES:
            self._name = _title(native.get(_NAMES[kind])) or self._name
        elif kind == "ai-title":
            self._own_title = _title(native.get("aiTitle")) or self._own_title
        elif kind == "summary":
            self._summary(_title(native.get("summary")), native.get("leafUuid"), known)

    def _summary(self, title: str | None, leaf: Any, known: set[int]) -> None:
        if title is None:
            return
        if type(leaf) is not str or hash(leaf) in known:
            self._own_title = title
        elif len(self._summaries) < MOST_SUMMARIES:
            self._summaries[leaf] = title

    def note_leaf(self, uuid: str) -> None:
        """A chain record that a summary may have been waiting for."""
        if self._summaries and uuid in self._summaries:
            self._own_title = self._summaries.pop(uuid)


def _typed(message: Message) -> str:
    """The words of a prompt; the notes of its pictures only when there is nothing else."""
    if "media" not in message.metadata:
        return message.text
    words = [line for line in message.text.split("\n") if not line.startswith(_NOTES)]
    return "\n".join(words) or message.text


def _stand_in(message: Message) -> str:
    """The command without its arguments; a line of the `!` mode as it is."""
    if message.event_type == "slash_command":
        return message.text.partition(" ")[0]
    return message.text


def _title(value: Any) -> str | None:
    """One line; of a JSON object, as which 1.0.128 keeps a model's answer, its `title`."""
    if type(value) is not str:
        return None
    if value.lstrip()[:1] == "{":
        inner = mapping(from_json(value)).get("title")
        value = inner if type(inner) is str and inner.strip() else value
    return one_line(value) or None


def _spent(usage: dict[str, Any]) -> Spent:
    found = map(usage.get, _SPENT)
    return tuple([n if type(n) is int and 0 < n < MOST_TOKENS else 0 for n in found])


def _changed(tool: Tool) -> tuple[Any, ...]:
    key = _EDITORS.get(tool.name)
    return () if key is None else (mapping(tool.input).get(key),)
