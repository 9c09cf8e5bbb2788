"""What we say ourselves in a written session: short, marked, and known again when it is read.

A note is for the model. It is no part of the conversation, so a switch back leaves it out.
"""

from __future__ import annotations

import re

OPENING = "[Note by UltraContext, not by the user: "
MASK = re.compile(r"\[redacted:[a-z0-9-]{1,40}(?::[0-9a-f]{8})?\]")

MASKS = (
    OPENING + "secrets in this conversation are masked. [redacted:kind:fingerprint] stands for one;"
    " equal fingerprints mean equal secrets. The files, the environment and the keyring on this"
    " machine hold the real values. Never write a mask into a file or a command.]"
)
NO_RESULT = OPENING + "the session that this comes from holds no result of this call.]"
CUT = "\n" + OPENING + "{count} characters of this output were left out.]\n"


def summary(text: str) -> str:
    """The summary of a compaction, which stands for what was said before."""
    return OPENING + "a summary of the conversation so far follows.]\n" + text


def begun(agent: str) -> str:
    """Stands where nothing was answered yet."""
    return OPENING + f"this session was begun in {agent}, where nothing was answered yet.]"


def unled(agent: str) -> str:
    """Stands before what the assistant said unasked."""
    return OPENING + f"the part that was carried over from {agent} begins with an answer.]"


def image(note: str) -> str:
    """Stands for a picture that cannot be carried."""
    return note if note.startswith("[") else f"[{note}]"


def ours(text: str) -> bool:
    """Whether a text is a note of an earlier switch."""
    return text.lstrip().startswith(OPENING)


def masks(text: str) -> int:
    """How many masks stand in a text."""
    return len(MASK.findall(text)) if "[redacted:" in text else 0
