"""How texts and queries are cut into words, the same for both. Pure.

The index tokenizes by Unicode letters and digits, so `_`, `.` and `/` part words by themselves.
What it cannot do is done here: `camelCase` is parted, the whole word going to a field of its own,
and runs of Chinese, Japanese and Korean become overlapping pairs, so that two characters are found.
"""

from __future__ import annotations

import re

_CASE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_CAMEL = re.compile(r"(?<![A-Za-z0-9])[A-Za-z0-9]*(?:[a-z0-9][A-Z]|[A-Z][A-Z][a-z])[A-Za-z0-9]*")
_RANGES = (
    "\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3041-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U0003ffff"
)
_CJK = re.compile(f"[{_RANGES}]+")
_WORD = re.compile(r"[^\W_]")
_QUOTED = re.compile(r'"([^"]*)"?(\*?)|(\S+)')
_UNFIT = {0: " ", **dict.fromkeys(range(0xD800, 0xE000), " ")}

LONGEST = 1_000_000
"""Characters of one message that are indexed."""


def parted(text: str) -> str:
    """The text as the index gets it."""
    text = text[:LONGEST]
    if not text.isascii():
        text = _CJK.sub(_pairs, text.translate(_UNFIT))
    elif "\0" in text:
        text = text.replace("\0", " ")
    return _CASE.sub(" ", text)


def wholes(text: str) -> str:
    """Words of the text that `parted` parts at case, each once."""
    return " ".join(dict.fromkeys(_CAMEL.findall(text[:LONGEST])))


def expression(query: str) -> str:
    """The query in FTS5's language: words are AND, `"…"` a phrase, `x*` a prefix.

    Empty when nothing in it can be searched for."""
    terms = []
    for phrase, star, word in _QUOTED.findall(query):
        if word:
            prefix, text = word.endswith("*"), word.rstrip("*")
        else:
            prefix, text = bool(star), phrase
        term = _term(text, prefix)
        if term:
            terms.append(term)
    return " AND ".join(terms)


def plain_words(query: str) -> list[str]:
    """What to look for in a text to show where it matched, longest first."""
    found = [(phrase or word.rstrip("*")).strip() for phrase, _, word in _QUOTED.findall(query)]
    return sorted({text for text in found if _WORD.search(text)}, key=len, reverse=True)


def _term(text: str, prefix: bool) -> str:
    if not _WORD.search(text):
        return ""
    if len(text) == 1 and _CJK.fullmatch(text):
        prefix = True
    star = " *" if prefix else ""
    cut = f't : "{_escaped(parted(text))}"{star}'
    if text.isascii() and text.isalnum():
        return f'({cut} OR w : "{text}"{star})'
    return f"({cut})"


def _escaped(text: str) -> str:
    return text.replace('"', " ")


def _pairs(found: re.Match[str]) -> str:
    run = found.group()
    if len(run) == 1:
        return f" {run} "
    return " " + " ".join(run[at : at + 2] for at in range(len(run) - 1)) + " "
