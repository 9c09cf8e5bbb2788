"""A session as a document, for any agent that can read: what it was about and where it stands.

Made from masked messages alone, by rules: task, decisions, files with diffs, open ends, last turns,
within a budget of tokens. It is no native session, and says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ultracontext.errors import WriteRefusedError
from ultracontext.model import Message, SessionFacts
from ultracontext.switch.findings import Findings, find

SMALLEST_BUDGET = 500
DEFAULT_BUDGET = 16_000
BYTES_PER_TOKEN = 3
"""Of UTF-8. English has 4 and more, code 3 to 4, Chinese about 3: so the estimate is on the safe
side of what models count."""

_SHARES = {"Task": 0.2, "Decisions": 0.12, "Files": 0.3, "Open ends": 0.12}
"""Of the budget, at most; what one section leaves is for the last turns."""

MASK_NOTE = (
    "Secrets are masked in it. A mask stands for a value that only the files on the machine have; "
    "never write a mask into a file."
)

_LONE = re.compile("[\ud800-\udfff]")
_LONGEST_RUN = re.compile(r"`{3,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Handoff:
    text: str
    """Markdown."""
    tokens: int
    """Estimated, never above the budget."""
    whole_turns: int
    """Turns at the end that are given in full."""
    turns: int


def tokens_of(text: str) -> int:
    """About how many tokens a model makes of it."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // BYTES_PER_TOKEN)


def handoff(
    messages: Sequence[Message],
    facts: SessionFacts,
    *,
    source: str,
    session_id: str,
    masked: bool,
    budget: int = DEFAULT_BUDGET,
) -> Handoff:
    """`source` is the agent's name; `messages` are settled; `budget` counts tokens.

    Raises WriteRefusedError for a budget below `SMALLEST_BUDGET`."""
    if budget < SMALLEST_BUDGET:
        raise WriteRefusedError(
            f"a handoff needs at least {SMALLEST_BUDGET} tokens, not {budget}",
            hint="Give a larger --budget",
            code="budget",
        )
    found = find(messages, facts.files)
    parts = [_head(facts, source, session_id, masked)]
    for title, lines in _sections(found):
        parts.append(_section(title, lines, int(budget * _SHARES[title])))
    left = budget - sum(tokens_of(part) + 1 for part in parts)
    last, whole = _last_turns(found.turns, left)
    text = _safe("\n".join([*parts, last]))
    return Handoff(text=text, tokens=tokens_of(text), whole_turns=whole, turns=len(found.turns))


def _head(facts: SessionFacts, source: str, session_id: str, masked: bool) -> str:
    lines = [f"# Handoff: {_cut(facts.title or 'a session', 60)}", ""]
    lines.append(
        f"This is the state of a session of {source}, written down by UltraContext so that "
        "another agent can go on with it. It is no transcript: older turns are left out. Check "
        "files before relying on what is said of them."
    )
    known = {
        "Session": session_id, "Folder": facts.project_path, "Branch": facts.git_branch,
        "Model": facts.model, "From": facts.started_at, "Until": facts.updated_at,
    }  # fmt: skip
    lines += ["", *(f"- {k}: {_cut(v, 60)}" for k, v in known.items() if v)]
    if masked:
        lines += ["", MASK_NOTE]
    return "\n".join(lines) + "\n"


# ---- sections ------------------------------------------------------------------------------------
def _sections(found: Findings) -> Iterator[tuple[str, list[str]]]:
    yield "Task", list(_task(found))
    yield "Decisions", [f"- {who}: {said}" for who, said in reversed(found.decisions)]
    yield "Files", list(_files(found))
    yield "Open ends", [f"- {end}" for end in found.open_ends]


def _task(found: Findings) -> Iterator[str]:
    prompts = found.prompts
    if not prompts:
        return
    yield prompts[0].text
    for prompt in prompts[1:]:
        yield f"- then: {_cut(' '.join(prompt.text.split()), 60)}"


def _files(found: Findings) -> Iterator[str]:
    for path, diffs in found.changes.items():
        yield f"- {path}"
        if diffs:
            yield _fenced("\n".join(diffs), "diff")


def _section(title: str, lines: Sequence[str], room: int) -> str:
    """The lines that fit; the first one is cut if need be, the others are left out whole."""
    if not lines:
        return f"## {title}\n\nNothing found.\n"
    head = f"## {title}\n\n"
    room -= tokens_of(head) + 12
    kept: list[str] = []
    for number, line in enumerate(lines):
        cost = tokens_of(line) + 1
        if cost > room:
            shorter = _shortened(line, max(room // (2 if number else 1), 0))
            if shorter is None:
                kept.append(f"({len(lines) - number} more)")
                break
            line, cost = shorter, tokens_of(shorter) + 1
        kept.append(line)
        room -= cost
    return head + "\n".join(kept) + "\n"


def _shortened(line: str, room: int) -> str | None:
    """The line cut to the room, a fence closed again; None when too little would be left."""
    if room < 40:
        return None
    if not line.startswith("```"):
        return _cut(line, room)
    first, _, rest = line.partition("\n")
    body = rest.rpartition("\n")[0]
    fence = re.match(r"`+", first)
    closing = fence[0] if fence else "```"
    return f"{first}\n{_cut(body, room - 12)}\n{closing}"


# ---- the last turns ------------------------------------------------------------------------------
def _last_turns(turns: Sequence[list[Message]], room: int) -> tuple[str, int]:
    """Newest first until the room is full, told in their own order; how many are whole."""
    head = "## Last turns\n\n"
    room -= tokens_of(head) + 20
    told: list[str] = []
    whole = 0
    for turn in reversed(turns):
        text = _told(turn, lambda output: output)
        if tokens_of(text) + 1 <= room:
            whole += 1
        else:
            text = _told(turn, lambda output: _cut(output, 100))
            if tokens_of(text) + 1 > room:
                if not told and room >= 40:
                    told.append(_cut(text, room - 1))
                break
        told.append(text)
        room -= tokens_of(text) + 1
    if len(told) < len(turns):
        told.append(f"({len(turns) - len(told)} earlier turns are left out)")
    return head + "\n".join(reversed(told)) + "\n", whole


def _told(turn: Sequence[Message], shorten: Callable[[str], str]) -> str:
    return "\n".join(line for message in turn for line in _message(message, shorten))


def _message(message: Message, shorten: Callable[[str], str]) -> Iterator[str]:
    if message.kind == "user":
        yield f"**Person:** {message.text}\n"
    elif message.kind == "assistant":
        yield f"**Agent:** {message.text}\n"
    elif message.kind == "tool_call" and message.tool is not None:
        yield f"**Call {message.tool.name}:** {shorten(message.text)}\n"
    elif message.kind == "tool_result":
        failed = message.tool is not None and message.tool.is_error
        yield f"**{'Failed' if failed else 'Result'}:**\n{_fenced(shorten(message.text))}\n"


def _safe(text: str) -> str:
    """Without what no file or command line takes, not a byte longer."""
    return _LONE.sub("\ufffd", text.replace("\0", " "))


def _fenced(text: str, language: str = "") -> str:
    """In a fence longer than any in the text."""
    longest = max((len(run) for run in _LONGEST_RUN.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _cut(text: str, room: int) -> str:
    """The text within `room` tokens: its begin and its end, and how much lies between."""
    if tokens_of(text) <= room:
        return text
    share = max((room * BYTES_PER_TOKEN - 60) // 2, 0)
    data = text.encode("utf-8", "surrogatepass")
    begin = data[:share].decode("utf-8", "ignore")
    end = data[len(data) - share :].decode("utf-8", "ignore") if share else ""
    return f"{begin}\n[{len(text) - len(begin) - len(end)} characters are left out here]\n{end}"
