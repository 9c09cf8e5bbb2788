"""Whether a person's pattern is safe to run: how much work it can make of one window of text.

Python's `re` goes back and tries again, and nothing can interrupt it. So what it may cost is
counted before it runs. From one place in the text, each element may be read in some number of ways:
a repeat in as many as it has lengths, unless what follows cannot begin with what it repeats (then
only its longest reading goes on). The work of a sequence is, for each element, its own length times
the ways of all before it; that of a pattern is this times the places where it may begin. A repeat
of something that itself has several readings has no bound worth the name and is refused.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from re import _parser  # type: ignore[attr-defined]
from typing import Any

WINDOW = 4096
"""Characters of text that a pattern sees at once."""

MATCH = WINDOW // 2
"""Characters that a match may have."""

BUDGET = 200_000_000
"""Steps in one window: about a second, for a text made to be slow."""

_MANY = 10**12
_EVERY = (1 << 129) - 1
"""Characters as a set of bits: ASCII, and one for all others."""
_OTHER = 1 << 128

_CLASSES = {
    "DIGIT": "0123456789",
    "SPACE": " \t\n\r\f\v",
    "WORD": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_",
}

Node = tuple[str, Any]


@dataclass(frozen=True, slots=True)
class _Work:
    """What an element can cost from one place, and in how many ways it can be read."""

    steps: int = 0
    ways: int = 1

    def then(self, other: _Work) -> _Work:
        steps = min(_MANY, self.steps + self.ways * other.steps)
        return _Work(steps, min(_MANY, self.ways * other.ways))


def compiled(pattern: str, *, ignore_case: bool) -> re.Pattern[str]:
    r"""The pattern; ValueError says in plain words why it is none of ours.

    `\w`, `\d`, `\s`, `\b` and the case of letters stand for ASCII.
    """
    flags = re.ASCII | (re.IGNORECASE if ignore_case else 0)
    try:
        made = re.compile(pattern, flags)
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"is no regular expression: {error}") from error
    if made.search("") is not None:
        raise ValueError("matches the empty text")
    if made.flags & (re.UNICODE | re.LOCALE):
        raise ValueError("sets a flag that changes what its classes mean")
    tree = _parser.parse(pattern, made.flags)
    work = _sequence(list(tree), bool(made.flags & re.IGNORECASE), last=True)
    if work.steps * _places(list(tree)) > BUDGET:
        raise ValueError(
            "could run for minutes on some texts; give its repeats upper bounds ({1,64}), or make"
            " them possessive (++)"
        )
    return made


def _places(nodes: Sequence[Any]) -> int:
    """Where in a window a match may begin: letters that every match begins with are seldom."""
    head: list[int] = []
    for op, argument in nodes:
        if str(op) != "LITERAL":
            break
        head.append(argument)
    period = next((p for p in range(1, len(head)) if head[p:] == head[:-p]), len(head))
    return WINDOW // max(1, period)


def _sequence(nodes: Sequence[Any], fold: bool, *, last: bool, after: int = _EVERY) -> _Work:
    """`after`: characters that may follow. `last`: nothing follows, so nothing can fail there."""
    work = _Work()
    named = [(str(op), argument) for op, argument in nodes]
    for index, node in enumerate(named):
        rest = named[index + 1 :]
        following = _first(rest, fold, after)
        work = work.then(_element(node, fold, last=last and not rest, after=following))
    return work


def _element(node: Node, fold: bool, *, last: bool, after: int) -> _Work:
    op, argument = node
    if op in ("LITERAL", "NOT_LITERAL", "IN", "ANY", "AT"):
        return _Work(1)
    if op == "SUBPATTERN":
        return _sequence(argument[-1], fold or _folds(argument), last=last, after=after)
    if op == "BRANCH":
        each = [_sequence(branch, fold, last=last, after=after) for branch in argument[1]]
        ways = [work.ways for work in each]
        alone = _apart([_first(branch, fold, after) for branch in argument[1]])
        return _Work(sum(w.steps for w in each) + 1, max(ways) if alone else sum(ways))
    if op == "ATOMIC_GROUP":
        return _Work(_sequence(argument, fold, last=False).steps)
    if op in ("ASSERT", "ASSERT_NOT"):
        return _Work(_sequence(argument[1], fold, last=False).steps + 1)
    if op in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        return _repeat(op, argument, fold, last=last, after=after)
    raise ValueError("refers back to what it matched, which takes no bounded time")


def _repeat(op: str, argument: Any, fold: bool, *, last: bool, after: int) -> _Work:
    low, high = int(argument[0]), min(int(argument[1]), WINDOW)
    body = [(str(name), value) for name, value in argument[2]]
    first = _first(body, fold, 0)
    inner = _sequence(argument[2], fold, last=False, after=first | after)
    shortest = _shortest(body)
    high = min(high, WINDOW // shortest) if shortest else high
    steps = min(_MANY, inner.steps * high)
    if inner.ways == 1 and shortest and "ASSERT" not in repr(body):
        steps = min(steps, WINDOW * _size(body) + inner.steps)
    if op == "POSSESSIVE_REPEAT":
        if inner.ways > 1 and high > 1:
            steps = min(_MANY, steps * min(_MANY, inner.ways**2))
        return _Work(steps)
    if inner.ways > 1:
        if high > 3:
            raise ValueError("repeats something that repeats; make the inner one possessive (++)")
        steps = min(_MANY, inner.steps * inner.ways**high)
        return _Work(steps, min(_MANY, inner.ways**high * high))
    if last and op == "MAX_REPEAT":  # fails within its least number, or ends the search
        return _Work(inner.steps * (low + 1))
    settled = shortest > 0 and not first & after
    return _Work(steps, 1 if settled else max(1, high - low + 1))


def _apart(sets: Sequence[int]) -> bool:
    seen = 0
    for characters in sets:
        if seen & characters:
            return False
        seen |= characters
    return True


def _size(value: Any) -> int:
    """Elements in a piece of the tree; each reads a character of the text once."""
    if not (hasattr(value, "data") or isinstance(value, (list, tuple))):
        return 0
    named = isinstance(value, tuple) and len(value) == 2 and str(value[0]).isupper()
    return named + sum(_size(part) for part in value)


def _first(nodes: Sequence[Any], fold: bool, after: int) -> int:
    """Characters that a text can begin with which these elements match, `after` behind them."""
    found = 0
    for op, argument in nodes:
        name = str(op)
        if name == "AT":
            continue
        if name in ("ASSERT", "ASSERT_NOT"):
            continue
        found |= _starts(name, argument, fold)
        if _shortest([(name, argument)]):
            return found
    return found | after


def _starts(name: str, argument: Any, fold: bool) -> int:
    if name in ("LITERAL", "NOT_LITERAL", "IN", "ANY"):
        return _characters(name, argument, fold)
    if name == "SUBPATTERN":
        return _first(argument[-1], fold or _folds(argument), 0)
    if name == "BRANCH":
        found = 0
        for branch in argument[1]:
            found |= _first(branch, fold, 0)
        return found
    if name == "ATOMIC_GROUP":
        return _first(argument, fold, 0)
    if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        return _first(argument[2], fold, 0)
    return _EVERY


def _shortest(nodes: Sequence[Any]) -> int:
    """Characters of the shortest text that these elements match."""
    total = 0
    for op, argument in nodes:
        name = str(op)
        if name in ("LITERAL", "NOT_LITERAL", "IN", "ANY"):
            total += 1
        elif name == "SUBPATTERN":
            total += _shortest(argument[-1])
        elif name == "ATOMIC_GROUP":
            total += _shortest(argument)
        elif name == "BRANCH":
            total += min(_shortest(branch) for branch in argument[1])
        elif name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            total += min(WINDOW, int(argument[0])) * _shortest(argument[2])
    return total


def _folds(argument: Any) -> bool:
    return bool(argument[1] & re.IGNORECASE)


def _characters(name: str, argument: Any, fold: bool) -> int:
    if name == "ANY":
        return _EVERY
    if name == "LITERAL":
        return _bit(argument, fold)
    if name == "NOT_LITERAL":
        return (_EVERY & ~_bit(argument, fold)) | _OTHER
    found, negated = 0, False
    for op, value in argument:
        kind = str(op)
        if kind == "NEGATE":
            negated = True
        elif kind == "LITERAL":
            found |= _bit(value, fold)
        elif kind == "RANGE":
            for char in range(value[0], min(value[1], 127) + 1):
                found |= _bit(char, fold)
            found |= _OTHER if value[1] > 127 else 0
        elif kind == "CATEGORY":
            found |= _category(str(value))
    return (_EVERY & ~found) | _OTHER if negated else found


def _category(name: str) -> int:
    plain = name.removeprefix("CATEGORY_").removeprefix("UNI_").removeprefix("NOT_")
    found = 0
    for char in _CLASSES[plain]:
        found |= 1 << ord(char)
    return _EVERY & ~found if "NOT_" in name else found


def _bit(char: int, fold: bool) -> int:
    if char > 127:
        return _OTHER
    found = 1 << char
    if fold and chr(char).isalpha():
        found |= 1 << ord(chr(char).swapcase())
    return found
