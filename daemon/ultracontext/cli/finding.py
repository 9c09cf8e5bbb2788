"""Looks for secrets in files and folders, and shows them masked only."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

import msgspec

from ultracontext.cli.masking import pieces
from ultracontext.redaction import Redactor

BLOCK_BYTES = 1 << 18
SNIFFED_BYTES = 8192
SHOWN_CHARACTERS = 160


class Find(msgspec.Struct, frozen=True, kw_only=True):
    """One secret, as it may be shown."""

    file: str
    line: int
    kind: str
    fingerprint: str
    text: str
    """The line or lines, masked and cut."""


class Report(msgspec.Struct, kw_only=True):
    """What a check brought."""

    found: list[Find] = []
    files: int = 0
    """That were read."""
    skipped: dict[str, int] = {}
    """`binary`, `git`, `link`, `special`, `unreadable`."""

    def skip(self, reason: str) -> None:
        self.skipped[reason] = self.skipped.get(reason, 0) + 1


def check(redactor: Redactor, places: list[Path]) -> Report:
    """Files as they are named; folders with everything below, links not followed."""
    report = Report(found=[], skipped={})
    for place in places:
        if place.is_dir():
            for file in _below(place, report):
                _check_file(redactor, file, report)
        else:
            _check_file(redactor, place, report)
    return report


def _below(folder: Path, report: Report) -> Iterator[Path]:
    def failed(_error: OSError) -> None:
        report.skip("unreadable")

    for parent, folders, files in os.walk(folder, onerror=failed):
        if ".git" in folders:
            folders.remove(".git")
            report.skip("git")
        folders.sort()
        for name in sorted(files):
            file = Path(parent, name)
            if file.is_symlink():
                report.skip("link")
            elif not file.is_file():
                report.skip("special")
            else:
                yield file


def _check_file(redactor: Redactor, file: Path, report: Report) -> None:
    try:
        with file.open("rb") as opened:
            head = opened.read(SNIFFED_BYTES)
            if b"\0" in head:
                report.skip("binary")
                return
            opened.seek(0)
            blocks = iter(lambda: opened.read(BLOCK_BYTES), b"")
            name, line = redactor.text(os.fsdecode(file)), 1
            for piece, masked in pieces(redactor, blocks):
                if masked != piece:
                    report.found += _finds(redactor, name, line, piece)
                line += piece.count(b"\n")
        report.files += 1
    except OSError:
        report.skip("unreadable")


def _finds(redactor: Redactor, name: str, line: int, piece: bytes) -> Iterator[Find]:
    """Each secret of a piece with the number and the masked text of its line."""
    scanner = redactor.scanner
    text = piece.decode("utf-8", "surrogateescape")
    body = text.encode("utf-8", "surrogatepass")
    starts = list(accumulate((len(part) + 1 for part in body.split(b"\n")), initial=0))
    spans = scanner.find(text)
    for span in spans:
        first, last = bisect_right(starts, span.start) - 1, bisect_right(starts, span.end - 1) - 1
        low, high = starts[first], starts[last + 1] - 1
        out, done = [], low
        for other in spans:
            if low <= other.start and other.end <= high:
                out += [body[done : other.start], scanner.mark(other.rule, other.value).encode()]
                done = other.end
        shown = b"".join([*out, body[done:high]]).decode("utf-8", "replace")
        mark = scanner.fingerprints.mask(span.value)
        yield Find(
            file=name, line=line + first, kind=span.rule, fingerprint=mark,
            text=_around(redactor.text(shown), mark),
        )  # fmt: skip


def _around(text: str, mark: str) -> str:
    """A part of a masked text with the mask in it."""
    place = max(0, text.find(mark) - SHOWN_CHARACTERS // 2)
    start = 0 if len(text) <= SHOWN_CHARACTERS else place
    return text[start : start + SHOWN_CHARACTERS].strip()


def kinds(report: Report) -> dict[str, int]:
    """Finds by kind, the most frequent first."""
    return dict(Counter(find.kind for find in report.found).most_common())
