r"""The rules: one row of a table each, read once, checked, and turned into patterns.

Columns of `tables/*.tsv` (tab separated, `#` starts a comment):

    name      stands in the mask: `[redacted:<name>:…]`
    provider  whose secret it is
    flags     c certain, l likely (checks the value), i ignore case, 1 mask group 1 only,
              m may span lines, n no left guard, o no right guard, and named checks (`crc32`)
    anchors   one of these (split at `|`, `\|` is the sign itself) is in every match, in lower
              case with flag i
    pattern   Python `re` over UTF-8 bytes, with the macros of `MACROS`
    probe     what the automaton looks for; empty = `pattern` up to its first long repeat
    sample    a value in the macros of `sample.py`; never a complete secret
    source    where the form is described
    date      when that was read

A pattern without flag m never crosses a line end, and none crosses a NUL.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path

from ultracontext.errors import RedactionError
from ultracontext.redaction.heads import leads

TABLES = Path(__file__).parent / "tables"

COLUMNS = (
    "name",
    "provider",
    "flags",
    "anchors",
    "pattern",
    "probe",
    "sample",
    "source",
    "date",
)

MACROS = {
    "<quoted>": (
        r"\\{0,7}(?P<mark>[\"'`])(?P<v>(?:(?!\\{0,7}(?P=mark))[^\x00\n]){4,4096})"
        r"\\{0,7}(?P=mark)"
    ),
    "<key>": r"(?<![A-Za-z0-9_.$@-])(?<!::)(?P<name>[A-Za-z_$@-][A-Za-z0-9_.$@-]{0,60}+)",
    "<eq>": (
        r"\\{0,7}[\"'`]?\]?[ \t]{0,8}+"
        r"(?::[ \t]{0,4}[A-Za-z_][A-Za-z0-9_<>\[\]|. ]{0,30}?=|:=|=>|={1,3}|:)[ \t]{0,8}"
        r"(?:&[A-Za-z0-9_]{1,30}[ \t]{1,4})?[rbuf(@]?"
    ),
    "<is>": r"\\{0,7}[\"'`]?\]?[ \t]{0,8}(?::=|=>|={1,3}|:)[ \t]{0,8}\\{0,7}[\"'`]?",
    "<near>": "[A-Za-z0-9_ .-]{0,24}",
    "<q>": r"\\{0,7}[\"'`]?",
    "<pemhead>": "-----BEGIN (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----",
    "<pemfoot>": "-----END (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----",
    "<pemgap>": (
        r"(?>(?:\\{1,8}[nrt]|[ \t\r\n\"',+]){0,40}"
        r"(?:\d{1,6}(?:[ \t:|]|\xe2\x86\x92|\\{1,8}t){1,4})?"
        r"(?:[>#*|+-] ?|// ?)?\"?)"
    ),
    "<pemline>": r"(?>[A-Z][A-Za-z-]{2,20}: [^\n\\\x00]{1,100}|[A-Za-z0-9+/]{20,16000}={0,2})",
    "<uuid>": "<HX>{8}-<HX>{4}-<HX>{4}-<HX>{4}-<HX>{12}",
    "<an>": "[A-Za-z0-9]",
    "<hx>": "[0-9a-f]",
    "<HX>": "[0-9A-Fa-f]",
    "<up>": "[A-Z0-9]",
    "<lo>": "[a-z0-9]",
    "<u64>": "[A-Za-z0-9_-]",
    "<b64>": "[A-Za-z0-9+/]",
}

LEFT_GUARD = (
    r"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf])|(?<=%[0-9A-Fa-f][0-9A-Fa-f])"
    r"|(?<=\\u[0-9A-Fa-f]{4})|(?<=\\x[0-9A-Fa-f]{2})|(?<=[0-9;\[]m))"
)
"""Not after a letter or digit, but after a literal escape, a percent escape or a colour code."""

_TAIL = re.compile(r"(\[(?:[^\]\\]|\\.)+\])(?:\{[^{}]*\}|[+*?])?$")
_BAR = re.compile(r"(?<!\\)\|")
_REPEAT = re.compile(r"\{(\d+)(,?)(\d*)\}")
_CAP = 16
_SIGN = r"[\\\"'`\] \t]{0,17}[:=]"
_QUOTE = r"[=> \t\\\"'`]{0,17}"
"""Wider than `<is>`, and cheaper for the automaton."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One kind of secret."""

    name: str
    provider: str
    flags: str
    anchors: tuple[bytes, ...]
    regex: re.Pattern[bytes]
    probe: bytes
    leads: tuple[int, ...]
    """How far before an anchor a match of the probe begins; empty when that is not known."""
    group: int | str
    named: bool
    """Whether a match has a group `name`."""
    certain: bool
    many_lines: bool
    ignore_case: bool
    checks: tuple[str, ...]
    sample: str


def load_rules(folder: Path = TABLES) -> tuple[Rule, ...]:
    """All rules, or RedactionError: a missing or broken table never means fewer rules."""
    paths = sorted(folder.glob("*.tsv"), key=lambda path: (path.name == "generic.tsv", path.name))
    if not paths:
        raise RedactionError("no redaction rules found", hint="Install the package again")
    rules: list[Rule] = []
    for path in paths:
        try:
            rules += [_rule(row) for row in read_table(path.read_text("utf-8"))]
        except (OSError, ValueError, KeyError, re.error) as error:
            raise RedactionError(
                f"the redaction rules in {path.name} do not load: {error}",
                hint="Install the package again",
            ) from error
    names = [rule.name for rule in rules]
    if len(set(names)) != len(names):
        raise RedactionError("two redaction rules share a name", hint="Install the package again")
    return tuple(rules)


def read_table(text: str) -> Iterable[dict[str, str]]:
    """Rows of a table by column. Raises ValueError for a row of another width."""
    for number, line in enumerate(text.split("\n"), start=1):
        if not line or line.startswith("#"):
            continue
        cells = line.split("\t")
        if len(cells) != len(COLUMNS):
            raise ValueError(f"line {number} has {len(cells)} columns, not {len(COLUMNS)}")
        yield dict(zip(COLUMNS, cells, strict=True))


DECIDING = (
    "across", "boundary", "checks", "confirm", "custom", "frames", "joined", "looks", "names",
    "parse", "scan", "together", "views", "walk",
)  # fmt: skip
"""Modules that decide, beside the tables, what is masked."""


@cache
def code_digest(folder: Path = TABLES.parent) -> bytes:
    """Of the modules in `DECIDING`, without blank lines and lines that are only a comment.

    RedactionError when one cannot be read: what masks is not known then.
    """
    digest = blake2b(digest_size=8)
    for name in DECIDING:
        try:
            lines = (folder / f"{name}.py").read_bytes().splitlines()
        except OSError as error:
            raise RedactionError(
                f"the code of the redaction rules cannot be read: {error.strerror}",
                hint="Install the package again",
            ) from error
        for line in lines:
            if (text := line.strip()) and not text.startswith(b"#"):
                digest.update(line + b"\n")
        digest.update(b"\0")
    return digest.digest()


def rule_set_version(rules: Sequence[Rule], code: bytes | None = None) -> int:
    """A stable number under 2**63 that changes with any rule, and with the code that decides."""
    digest = blake2b(code_digest() if code is None else code, digest_size=8)
    for rule in rules:
        fields = (rule.name, rule.flags, "|".join(map(repr, rule.anchors)))
        digest.update("\0".join(fields).encode() + rule.regex.pattern + b"\1")
    return int.from_bytes(digest.digest(), "big") >> 1


def custom_version(version: int, packed: str) -> int:
    """The number of our rules together with a person's."""
    digest = blake2b(packed.encode("utf-8", "surrogatepass"), digest_size=8)
    digest.update(version.to_bytes(8, "big"))
    return int.from_bytes(digest.digest(), "big") >> 1 or 1


def _rule(row: dict[str, str]) -> Rule:
    flags, *checks = row["flags"].split(",")
    if not row["name"] or not set(flags) <= set("cli1mno") or ("c" in flags) == ("l" in flags):
        raise ValueError(f"rule {row['name'] or '?'} has wrong flags")
    body = _expand(row["pattern"])
    ignore_case = "i" in flags
    anchors = tuple(
        anchor.replace("\\|", "|").encode() for anchor in _BAR.split(row["anchors"]) if anchor
    )
    if not anchors or (ignore_case and any(a != a.lower() for a in anchors)):
        raise ValueError(f"rule {row['name']} has no usable anchor")
    guarded = ("" if "n" in flags else LEFT_GUARD) + body + ("" if "o" in flags else _right(body))
    regex = re.compile(guarded.encode(), re.IGNORECASE if ignore_case else 0)
    probe = _probe(row["probe"] or row["pattern"], bool(row["probe"]))
    return Rule(
        name=row["name"],
        provider=row["provider"],
        flags=row["flags"],
        anchors=anchors,
        regex=regex,
        probe=probe.encode(),
        leads=leads(
            probe.lower() if ignore_case else probe, [anchor.decode() for anchor in anchors]
        ),
        group="v" if "(?P<v>" in body else 1 if "1" in flags else 0,
        named="(?P<name>" in body,
        certain="c" in flags,
        many_lines="m" in flags,
        ignore_case=ignore_case,
        checks=tuple(checks),
        sample=row["sample"],
    )


def _expand(pattern: str) -> str:
    for macro, text in MACROS.items():
        pattern = pattern.replace(macro, text)
    return pattern


def _right(body: str) -> str:
    """Not followed by a letter or digit that the value itself could hold."""
    tail = _TAIL.search(body)
    if tail is None or tail[1].startswith("[^"):
        return ""
    inner = "".join(re.findall(r"[A-Za-z0-9]-[A-Za-z0-9]|[A-Za-z0-9]", tail[1]))
    return f"(?![{inner}])" if inner else ""


def _probe(pattern: str, explicit: bool) -> str:
    """What every match begins with: up to the sign of an assignment, or to a long repeat.

    A bounded gap is any stretch of the line: the automaton counts nothing then, and is twice as
    fast as a whole.
    """
    before, sign, after = re.split(r"(<is>|<eq>|$)", pattern, maxsplit=1)
    if not sign:
        return _loose(pattern) if explicit else _cut(_loose(pattern))
    if explicit and sign == "<is>":
        return _loose(before) + _SIGN + (_QUOTE + _loose(after) if after else "")
    return _loose(before.removesuffix("<near>")) + (_SIGN if "<near>" not in before else "")


def _loose(pattern: str) -> str:
    return _expand(pattern.replace("<near>", r"[^\n\x00]*"))


def _cut(body: str) -> str:
    depth, index = 0, 0
    while index < len(body):
        char = body[index]
        if char == "\\":
            index += 2
            continue
        if char == "[":
            index = _class_end(body, index)
            continue
        depth += (char == "(") - (char == ")")
        repeat = _REPEAT.match(body, index) if char == "{" and depth == 0 else None
        if repeat is not None:
            low = int(repeat[1])
            high = low if not repeat[2] else int(repeat[3] or 9999)
            if low > _CAP or (high > _CAP * 2 and low > 5):
                return f"{body[:index]}{{{min(low, _CAP)}}}"
            index = repeat.end()
            continue
        index += 1
    return body


def _class_end(body: str, index: int) -> int:
    index += 1 + (body[index + 1] == "^")
    if body[index] == "]":
        index += 1
    while body[index] != "]":
        index += 2 if body[index] == "\\" else 1
    return index + 1
