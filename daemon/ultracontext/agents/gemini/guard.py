"""Texts that the CLI would take for something else at a resume.

A user message whose trimmed text begins with `/` or `?` is taken for a command and not sent, one
that begins with the mark of an injected context is taken for that (runs of 0.29.0 and 0.61.0). A
zero-width space in front saves it: JavaScript's `trim` leaves that one alone.
"""

from __future__ import annotations

from ultracontext.agents.gemini.wrapping import injected

GUARD = "\u200b"

GUARDED = "guarded"
"""In the metadata of a message whose text was saved so: it is sent, however it begins."""


def endangered(text: str) -> bool:
    """Whether a text needs the guard; one that begins with it does, so as to keep its own."""
    begin = text.lstrip()
    return begin.startswith(("/", "?")) or text.startswith(GUARD) or injected(text) is not None


def guarded(text: str) -> str:
    return GUARD + text if endangered(text) else text


def unguarded(text: str) -> str:
    """What `guarded` was given."""
    if text.startswith(GUARD) and endangered(text[len(GUARD) :]):
        return text[len(GUARD) :]
    return text
