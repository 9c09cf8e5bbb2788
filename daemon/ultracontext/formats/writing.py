"""What a writer gets and gives. Everything here is a value: a writer opens, asks and runs nothing.

    Conversation ─┐
                  ├─▶ Writer.plan ─▶ WritePlan: files, steps, command, losses
    Target ───────┘

`switch` makes the conversation fit the writer's `Limits` first (`switch.fit`), so that no writer
has to repair anything, and carries the plan out (`switch.commit`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePath
from typing import Any, Literal, Protocol

from ultracontext.formats.listing import Lookup

EntryKind = Literal["user", "assistant", "reasoning", "tool_call", "tool_result"]

LossKind = Literal[
    "tool", "tool_output_cut", "thinking", "image", "system", "compacted", "orphan", "text_safety",
    "mask", "other",
]  # fmt: skip
"""What could not be carried as it was. `mask` counts masks: the values were lost before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """A picture, with its bytes."""

    media_type: str
    data: str
    """Base64."""
    size_bytes: int
    note: str
    """What stands for it in the text of its message: `[image image/png, 68 bytes]`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extras:
    """What a message's record holds beside its text, as the agent's `AgentSpec.extras` finds it."""

    images: tuple[Image, ...] = ()
    native: Any = None
    """Of a thought: the block as its agent wrote it, with what proves it (signature, encrypted
    content). Only a writer of the same agent may use it."""
    model: str | None = None
    """That the proof belongs to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One thing said, thought, called or answered.

    Texts hold no NUL and no lone surrogate. Only a result and a note's images may be empty of text.
    """

    kind: EntryKind
    text: str = ""
    """Of a result: the output. Of a call: empty."""
    timestamp: datetime
    """UTC, whole milliseconds; never before the entry above, later than it where
    `Limits.rising`."""
    name: str = ""
    """Of the tool, on calls and results."""
    call_id: str = ""
    """On calls and results: unique, legal by `Limits`, one result for each call."""
    input: Mapping[str, Any] = field(default_factory=dict)
    """Of a call: always an object."""
    is_error: bool = False
    images: tuple[Image, ...] = ()
    """On `user` entries and results; their notes are not in the text."""
    native: Any = None
    """Of a thought that the target can verify (`Extras.native`)."""
    note: bool = False
    """A `user` entry that nobody typed: a summary, what a mask is, why something is missing. It
    never begins a turn of its own."""
    synthetic: bool = False
    """A result that was not there: it says so in its text."""
    source_id: str = ""
    """Id of the message that it was made of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What was typed, and all that came of it. The first entry is a `user`'s, also in the first
    turn: where nobody typed, it is a note.

    Calls that ran in parallel stand straight: all calls, then their results in the same order.
    """

    entries: tuple[Entry, ...]

    @property
    def prompt(self) -> Entry:
        """What was typed; the first note where nothing was."""
        return next((e for e in self.entries if e.kind == "user" and not e.note), self.entries[0])

    @property
    def answer(self) -> str:
        """The last text of the assistant, empty when there is none."""
        said = (e.text for e in reversed(self.entries) if e.kind == "assistant")
        return next(said, "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a conversation comes from: what a provenance mark says."""

    agent: str
    session_id: str
    context_id: str
    agent_version: str | None = None
    masked: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A session, made fit for one target. At least one turn."""

    turns: tuple[Turn, ...]
    origin: Origin
    title: str | None = None
    """One line of at most 200 characters."""
    title_given: bool = False
    """Whether a person gave it."""
    cwd: str
    """Absolute; the folder in which the target will be started."""
    git_branch: str | None = None
    git_remote: str | None = None
    commit: str | None = None
    model: str | None = None
    """Of the source; a target's model never follows from it."""
    pending: str | None = None
    """The last prompt, which nobody answered: not in `turns`; the plan's command sends it."""

    def entries(self) -> Iterator[Entry]:
        for turn in self.turns:
            yield from turn.entries


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a target takes, as `FORMAT.md` proves it. `switch.fit` keeps to it."""

    call_id: str = r"[A-Za-z0-9_-]+"
    """Pattern of a legal call id, matched whole."""
    call_id_length: int = 64
    tool_name: str = r"[A-Za-z0-9_-]{1,128}"
    """Pattern of a legal tool name; in others, illegal characters become `_`."""
    tool_names: Mapping[str, str] | None = None
    """None = any name is kept. Else the only names that the target keeps, each mapped to its own
    word for it; a tool of another name is rendered as text. Both count as a `tool` loss."""
    rising: bool = False
    """Each entry needs a later time than the one before."""
    output_chars: int | None = None
    """Longer tool outputs are cut in the middle, with a mark."""
    images: int = 0
    """Most pictures of a conversation, the newest ones; the rest become their notes."""
    image_bytes: int = 5 << 20
    """Of one picture, before base64."""
    image_pixels: int | None = None
    """Of one picture's longer side, where its head tells it."""
    image_types: frozenset[str] = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
    result_images: bool = False
    """Whether a tool result may hold pictures."""
    reasoning: bool = False
    """Whether `native` thoughts of the same agent can be written back."""
    window_tokens: int | None = None
    """A larger history is told, with `--last` and `--budget` offered."""
    history_bytes: int | None = None
    """The same for the size of what is written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A question about what runs on this machine now. The answer is a bool in `Target.found`."""

    name: str
    kind: Literal["port", "pid"]
    """`port`: something listens there on loopback. `pid`: the process whose number is the first
    integer in the file lives."""
    port: int = 0
    path: str = ""
    """Relative to the root."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where the plan will be carried out."""

    root: PurePath
    """The agent's folder (`AgentSpec.roots`), existing or not."""
    home: PurePath
    version: str
    """Of the program that will open the file."""
    session_id: str
    """A fresh UUID, version 4, lower case. A writer of an agent with other ids makes one of it."""
    now: datetime
    """UTC."""
    local: datetime
    """The same instant in local time."""
    environment: Mapping[str, str] = field(default_factory=dict)
    program: str | None = None
    """Path of the installed program, if it is known."""
    found: Mapping[str, Any] = field(default_factory=dict)
    """Answers to the writer's `lookups` and `probes`, by name: a file's text, a list of rows, a
    bool; None where there is no such file, table or column."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileWrite:
    """A file that is not there yet; one that is makes the plan fail."""

    path: str
    """Relative to the root, `/` between the parts, no `..`."""
    data: bytes
    mode: int = 0o600


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendLine:
    """Adds a line to a file that the agent appends to as well; makes the file if need be.

    Undone by taking the same line out again."""

    path: str
    line: bytes
    """Without its line end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PutKey:
    """Sets a member in a JSON document, under the document's own lock file if `lock` names one.

    Undone by putting back what was there. Refused when the document is no object."""

    path: str
    keys: tuple[str, ...]
    """From the top; objects on the way are made if need be."""
    value: Any
    lock: str | None = None
    """A lock file beside it that is made (`O_EXCL`) while the document is exchanged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlRows:
    """Statements in one transaction of one of the agent's databases, which must be there."""

    path: str
    do: tuple[tuple[str, Mapping[str, Any]], ...]
    undo: tuple[tuple[str, Mapping[str, Any]], ...]
    check: tuple[str, Mapping[str, Any]]
    """A query that gives at least one row after `do` and none after `undo`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunProgram:
    """The agent's own command, run without a terminal."""

    argv: tuple[str, ...]
    """The first word is `Target.program` or a name on the PATH."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Added to the person's own."""
    timeout_seconds: float = 60.0
    hint: str = ""
    """What a person does when the program refuses."""
    undo: tuple[str, ...] = ()
    """The command that takes it back; empty = nothing does."""
    backup: tuple[str, ...] = ()
    """Files below the root that it changes, with all that lies beside them under the same name
    (`-wal`, `-shm`): copied aside before, put back when the plan fails afterwards, and when it is
    undone while nobody has changed them since."""
    makes: tuple[str, ...] = ()
    """Folders below the root: the files that it makes there are removed with the rest."""


Step = AppendLine | PutKey | SqlRows | RunProgram
"""What makes a written file known to its agent. Steps run in order, after the files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """How a person opens the session: run in `cwd`."""

    argv: tuple[str, ...]
    cwd: str
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """So many things of a kind that are not as they were."""

    kind: LossKind
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WritePlan:
    """All that will be done, and what must be there afterwards."""

    session_id: str
    """As the target names it."""
    files: tuple[FileWrite, ...] = ()
    steps: tuple[Step, ...] = ()
    source: str
    """The source to read back, relative to the root: a file of `files`, or a database."""
    command: Command
    expected: tuple[Entry, ...]
    """What the target's reader must give, in order: the conversation's entries, changed as far as
    the writer had to. Thoughts that are not written are not in it."""
    losses: tuple[Loss, ...] = ()
    """The writer's own, beside those of fitting."""
    notes: tuple[str, ...] = ()
    """For the person, one line each: "hidden in the picker until …"."""


class Writer(Protocol):
    """Writes sessions for one version of one agent. Got from `formats.gate.open_writer` only."""

    limits: Limits
    format: str
    """Name of what it writes: `jsonl`, as in `compat`."""
    lookups: Sequence[Lookup]
    probes: Sequence[Probe]

    def plan(self, conversation: Conversation, target: Target) -> WritePlan:
        """Raises WriteRefusedError, saying what to do, when it must not be written now."""


def losses(found: Iterable[Loss] | Mapping[LossKind, int]) -> tuple[Loss, ...]:
    """Each kind once, in alphabetical order, none of count 0."""
    total: Counter[LossKind] = Counter()
    if isinstance(found, Mapping):
        total.update(found)
    else:
        for loss in found:
            total[loss.kind] += loss.count
    return tuple(Loss(kind=kind, count=total[kind]) for kind in sorted(total) if total[kind] > 0)
