"""Facts of one thread, gathered record by record."""

from __future__ import annotations

import re
from typing import Any, Literal

from ultracontext.agents.codex.changes import changed
from ultracontext.agents.codex.instant import utc
from ultracontext.agents.codex.line import MARK, Dict, as_dict, as_text
from ultracontext.formats import Changes
from ultracontext.model import Base, Message, SessionFacts

TITLE_LENGTH = 200
UNKNOWN_LIMIT = 100
"""Distinct kinds that are counted by name; further ones are `other`."""

_USERINFO = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]*://)[^/]*@")
_REQUEST_MARK = "## My request for Codex:"
"""IDE extensions put the open files before what was typed (S: openai/codex, protocol.rs)."""


class Session:
    """Mutable facts. `value` makes the public form."""

    def __init__(self, session_id: str) -> None:
        self.id = session_id
        self.messages = 0
        self.unknown: dict[str, int] = {}
        self.subagent = False
        self._facts = SessionFacts()
        self._own = False
        """Whether the session's own meta was seen."""
        self._meta_time: str | None = None
        self._name: str | None = None
        self._prompt: str | None = None
        self._prompt_item: str | None = None
        """Id of the item that gave the prompt, while no event confirmed it."""
        self._earlier_prompt: str | None = None
        self._usage = Usage()
        self._changes = Changes(changed)
        self._traits: dict[str, str] = {}
        self._origin: str | None = None
        """Session of another agent that this is a copy of."""

    def count(self, messages: list[Message]) -> None:
        """What a record gave."""
        for message in messages:
            if message.kind != "meta":
                self.messages += 1
        self._changes.note(messages, self._facts.project_path)

    def touch(self, time: str) -> None:
        """A record was written at this time."""
        facts = self._facts
        if facts.started_at is None:
            facts.started_at = time
        if facts.updated_at is None or time > facts.updated_at:
            facts.updated_at = time

    def count_unknown(self, kind: str) -> None:
        kind = kind[:80]
        if kind not in self.unknown and len(self.unknown) >= UNKNOWN_LIMIT:
            kind = "other"
        self.unknown[kind] = self.unknown.get(kind, 0) + 1

    def meta(self, payload: Dict, time: str | None) -> None:
        """A `session_meta`: the own one, or that of a thread whose lines stand here too."""
        found = as_text(payload.get("id"))
        if found == self.id:
            self._own_meta(payload, time)
        else:
            self._other_meta(payload, found)

    def _own_meta(self, payload: Dict, time: str | None) -> None:
        facts = self._facts
        if not self._own:
            self._own = True
            self._meta_time = time
            if facts.relation is not None:  # the records of a base came before: they are not ours
                facts.relation = facts.parent_session = None
                facts.started_at = None
                self._earlier_prompt = self._earlier_prompt or self._prompt
                self._prompt = self._prompt_item = None
                self._usage.restart()
            facts.started_at = utc(payload.get("timestamp")) or facts.started_at or time
        facts.project_path = as_text(payload.get("cwd")) or facts.project_path
        facts.agent_version = as_text(payload.get("cli_version")) or facts.agent_version
        self._git(payload, own=True)
        self._ancestry(payload)
        self._trait("provider", payload.get("model_provider"))
        source = payload.get("source")
        self._trait("source", source if type(source) is str or source is None else "custom")

    def _trait(self, name: str, value: object) -> None:
        if type(value) is str and value:
            self._traits[name] = value[:100]

    def _other_meta(self, payload: Dict, found: str) -> None:
        facts = self._facts
        if found and facts.relation is None:
            facts.relation, facts.parent_session = "fork", found
        if not self._own:
            facts.project_path = facts.project_path or as_text(payload.get("cwd")) or None
            facts.agent_version = facts.agent_version or as_text(payload.get("cli_version")) or None
            self._git(payload, own=False)

    def _git(self, payload: Dict, own: bool) -> None:
        git = as_dict(payload.get("git"))
        facts = self._facts
        branch, remote = as_text(git.get("branch")), as_text(git.get("repository_url"))
        if branch and (own or not facts.git_branch):
            facts.git_branch = branch
        if remote and (own or not facts.git_remote):
            facts.git_remote = _USERINFO.sub(r"\1", remote)

    def _ancestry(self, payload: Dict) -> None:
        facts = self._facts
        parent = spawned_by(payload)
        base = as_dict(payload.get("history_base"))
        thread, end = as_text(base.get("thread_id")), base.get("end_ordinal_exclusive")
        if thread and type(end) is int:
            facts.base = Base(session_id=thread, end=end)
        if parent is not None:
            self.subagent = True
            facts.relation, facts.parent_session = "subagent", parent or None
            return
        mark = as_dict(payload.get(MARK))
        origin = as_text(mark.get("session_id"))
        if origin:
            facts.relation, facts.parent_session = "switch", origin
            facts.parent_agent = as_text(mark.get("from")) or None
            return
        source = thread or as_text(payload.get("forked_from_id"))
        if source and source != self.id:
            facts.relation, facts.parent_session = "fork", source

    def context(self, payload: Dict) -> None:
        """A `turn_context` or applied settings."""
        model = as_text(payload.get("model"))
        if model:
            self._facts.model = model
        if self._facts.project_path is None:
            self._facts.project_path = as_text(payload.get("cwd")) or None

    def name(self, name: object) -> None:
        """A name was given, or taken away."""
        self._name = as_text(name).strip() or None

    def prompt(self, text: str, first: str, confirmed: bool) -> None:
        """A prompt, shown by the message `first`; `confirmed` when the screen's event says so."""
        if not text or text.isspace():
            return
        if confirmed:
            self._traits["prompted"] = "yes"
        if self._prompt is None or (confirmed and self._prompt_item == first):
            self._prompt = title_of(text)
            self._prompt_item = None if confirmed else first

    def imported(self, path: object) -> None:
        """The thread is a copy of another agent's session, whose file this is."""
        name = as_text(path).replace("\\", "/").rpartition("/")[2]
        self._origin = name.partition(".")[0] or None

    def tokens(self, total: object, last: object) -> None:
        """Totals of the thread so far and of the last answer (`token_count`)."""
        self._usage.count(tokens_of(total), tokens_of(last))

    def record_tokens(self, payload: Dict) -> None:
        """One `token_usage_record`."""
        self._usage.record(tokens_of(payload.get("usage")), payload.get("response_id"))

    def copied(self, time: str | None) -> None:
        """Usage of a fork's record older than its own meta was counted in the thread it is from."""
        older = bool(time and self._meta_time and time < self._meta_time)
        self._usage.copied = older and self._facts.relation == "fork"

    def value(self) -> SessionFacts:
        facts = self._facts
        title, source = self._title()
        relation, parent = facts.relation, facts.parent_session
        if relation is None and self._origin not in (None, self.id):
            relation, parent = "fork", self._origin
        usage = self._usage.value()
        return SessionFacts(
            title=title,
            title_source=source,
            project_path=facts.project_path,
            git_branch=facts.git_branch,
            git_remote=facts.git_remote,
            model=facts.model,
            agent_version=facts.agent_version,
            started_at=facts.started_at,
            updated_at=facts.updated_at,
            messages=self.messages,
            parent_session=parent,
            parent_agent=facts.parent_agent,
            relation=relation,
            base=facts.base,
            tokens=sum(usage.get(key, 0) for key in SPENT),
            usage=usage,
            files=self._changes.files,
            traits=dict(self._traits),
            unknown=dict(self.unknown),
        )

    def _title(self) -> tuple[str | None, Literal["name", "prompt"] | None]:
        """The name from the index, else the first prompt.

        The index also holds titles that the TUI sets itself, without a mark. The one that 0.171 was
        seen to set is the first prompt, whole or cut (recordings tui-manual-compact and
        tui-multi-turn-named, where a name follows): such a name is no name.
        """
        prompt = self._prompt or self._earlier_prompt
        if self._name is not None:
            name = title_of(self._name)
            if prompt is None or not prompt.startswith(name.rstrip("….")):
                return name, "name"
        return prompt, "prompt" if prompt is not None else None


Tokens = dict[str, int]
"""By kind, as `SessionFacts.usage` names them."""

SPENT = ("input_tokens", "output_tokens")
"""What `tokens` adds up; the other kinds are parts of these."""
KINDS = {
    "input_tokens": "input_tokens", "output_tokens": "output_tokens",
    "cache_read_tokens": "cached_input_tokens", "reasoning_tokens": "reasoning_output_tokens",
}  # fmt: skip


class Usage:
    """Tokens of answers, counted once, from two records that may both be there."""

    __slots__ = ("_last_response", "_recorded", "_seen", "_total", "copied")

    def __init__(self) -> None:
        self._total: Tokens = {}
        self.copied = False
        self._seen: Tokens | None = None
        self._recorded: Tokens = {}
        self._last_response: object = None

    def count(self, total: Tokens, last: Tokens) -> None:
        """`token_count` is repeated; its total runs through the thread, over forks and resumes."""
        if total == self._seen:
            return
        step = last if self._seen is None else _less(total, self._seen)
        if _spent(step) < 0:
            step = total  # a total that began again
        self._seen = total
        if not self.copied:
            _add(self._total, step)

    def record(self, tokens: Tokens, response: object) -> None:
        if response is None or response != self._last_response:
            self._last_response = response
            if not self.copied:
                _add(self._recorded, tokens)

    def restart(self) -> None:
        """Nothing so far was the session's own."""
        self._total, self._recorded = {}, {}

    def value(self) -> Tokens:
        more = max(self._total, self._recorded, key=_spent)
        return {kind: count for kind, count in more.items() if count > 0}


def _less(total: Tokens, before: Tokens) -> Tokens:
    return {kind: total.get(kind, 0) - before.get(kind, 0) for kind in {**total, **before}}


def _add(to: Tokens, step: Tokens) -> None:
    for kind, count in step.items():
        to[kind] = to.get(kind, 0) + count


def _spent(tokens: Tokens) -> int:
    return sum(tokens.get(kind, 0) for kind in SPENT)


def tokens_of(usage: object) -> Tokens:
    """Tokens by kind; cached and reasoning tokens are parts of input and output."""
    counts = as_dict(usage)
    found: Tokens = {}
    for kind, key in KINDS.items():
        value = counts.get(key)
        if type(value) is int and 0 < value < 1 << 48:
            found[kind] = value
    return found


def title_of(text: str) -> str:
    """A prompt or name as a title: one line of at most 200 characters."""
    before, mark, typed = text[:20_000].partition(_REQUEST_MARK)
    line = " ".join((typed if mark and typed.strip() else before).split())
    return line if len(line) <= TITLE_LENGTH else line[: TITLE_LENGTH - 1] + "…"


def spawned_by(payload: Dict) -> str | None:
    """The parent of a sub-agent's thread, empty when unnamed, None when it is no sub-agent's.

    Shapes (S: openai/codex, codex-rs/protocol/src/protocol.rs, `SessionSource`, `SubAgentSource`):
    source `{"subagent": "review"}`, `{"subagent": {"thread_spawn": {"parent_thread_id": …}}}`,
    `{"subagent": {"other": …}}`; `parent_thread_id`, `thread_source` beside it in later versions.
    """
    source = payload.get("source")
    direct = as_text(payload.get("parent_thread_id"))
    origin = as_text(payload.get("thread_source")).lower().replace("_", "")
    inside = type(source) is dict and any(
        str(key).lower().replace("_", "") == "subagent" for key in source
    )
    if not direct and not inside and not origin.startswith("subagent"):
        return None
    root = as_text(payload.get("session_id"))
    return direct or _parent_inside(source, 4) or (root if root != payload.get("id") else "")


def _parent_inside(value: Any, depth: int) -> str:
    if type(value) is not dict or depth == 0:
        return ""
    for key in ("parent_thread_id", "parentThreadId", "parent_session_id"):
        found = as_text(value.get(key))
        if found:
            return found
    for inner in value.values():
        found = _parent_inside(inner, depth - 1)
        if found:
            return found
    return ""
