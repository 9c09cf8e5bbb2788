"""Recall and precision of masking, as the table in REPORT.md.

`python tests/redaction/measure.py` prints it, with `--write` it is written; the test beside holds
that no figure of the committed one gets worse.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ultracontext.redaction import Redactor, load_redactor

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))

from redaction_corpus import POSITIONS, raw, record, rows, secrets

REPORT = Path(__file__).with_name("REPORT.md")
ENCODED = frozenset(("base64", "base64-url", "percent"))
"""Here a secret's own letters are not to be seen, and its mask is all that tells."""

_ROW = re.compile(r"^\| `([a-z0-9-]+)` \| (\d+) of (\d+) \| (\d+) of (\d+) \|", re.MULTILINE)
_LIBRARY = re.compile(r"^(\d+) of (\d+) files of the standard library", re.MULTILINE)


@dataclass(slots=True)
class Figures:
    """What a run found."""

    masked: dict[str, tuple[int, int]] = field(default_factory=dict)
    """By position: formats masked, formats tried."""
    touched: dict[str, tuple[int, int]] = field(default_factory=dict)
    """By position: look-alikes changed, look-alikes tried."""
    missed: list[str] = field(default_factory=list)
    library: list[str] = field(default_factory=list)
    """Files of the standard library that change, with rule and line."""
    library_files: int = 0
    changed_files: int = 0


def figures(redactor: Redactor, positions: list[str] | None = None) -> Figures:
    """Formats and look-alikes in every position."""
    out = Figures()
    formats, others = list(secrets()), rows("look-alikes.tsv")
    for position in positions or list(POSITIONS):
        missed = [n for n, text, tail in formats if not _is_masked(redactor, position, text, tail)]
        wrong = [row["id"] for row in others if _is_touched(redactor, position, row["text"])]
        out.masked[position] = (len(formats) - len(missed), len(formats))
        out.touched[position] = (len(wrong), len(others))
        out.missed += [f"{position}: {name} is not masked" for name in missed]
        out.missed += [f"{position}: {name} is masked" for name in wrong]
    return out


def library(redactor: Redactor, out: Figures, *, step: int = 1) -> Figures:
    """The standard library's own files, each as one record."""
    for path in library_files()[::step]:
        text = path.read_text("utf-8", "replace")
        name = path.relative_to(Path(json.__file__).parent.parent).as_posix()
        out.library_files += 1
        spans = redactor.scanner.find(text)
        out.changed_files += bool(spans)
        data = text.encode("utf-8", "surrogatepass")
        for span in spans:
            line = data.count(b"\n", 0, span.start) + 1
            out.library.append(f"{name}:{line} {span.rule}")
    return out


def library_files() -> list[Path]:
    root = Path(json.__file__).parent.parent
    return [
        path
        for path in sorted(root.rglob("*.py"))
        if "site-packages" not in path.parts and path.stat().st_size < 1_000_000
    ]


def _is_masked(redactor: Redactor, position: str, text: str, tail: str) -> bool:
    masked = redactor.redact(record(position, text))
    out = masked.body.decode() if masked.native is not None else str(masked.text)
    return bool(masked.masks) and (position in ENCODED or tail not in out)


def _is_touched(redactor: Redactor, position: str, text: str) -> bool:
    before = record(position, text.replace("\\n", "\n"))
    masked = redactor.redact(before)
    return bool(masked.masks) or (masked.native is not None and masked.body != before.data)


def report(found: Figures) -> str:
    """The text of REPORT.md."""
    return "\n".join(_lines(found)) + "\n"


def _lines(found: Figures) -> Iterator[str]:
    yield "# Masking, measured"
    yield ""
    yield "Written by `python tests/redaction/measure.py --write`; `test_report.py` holds that no"
    yield "figure gets worse. Formats: the visible table and a sample of every rule. Look-alikes:"
    yield "texts that must pass. One author made rules and samples, so this is no score against"
    yield "unknown formats."
    yield ""
    yield "| position | formats masked | look-alikes changed | recall | precision |"
    yield "|---|---|---|---|---|"
    for position, (good, tried) in found.masked.items():
        wrong, others = found.touched[position]
        recall, precision = good / tried, good / (good + wrong) if good else 0.0
        yield (
            f"| `{position}` | {good} of {tried} | {wrong} of {others} |"
            f" {recall:.4f} | {precision:.4f} |"
        )
    yield ""
    yield from (f"- {line}" for line in found.missed)
    yield ""
    version = ".".join(map(str, sys.version_info[:2]))
    yield f"{found.changed_files} of {found.library_files} files of the standard library"
    yield f"(Python {version}, its tests too) change. What changes in them:"
    yield ""
    kinds = Counter(line.rpartition(" ")[2] for line in found.library)
    yield f"By rule: {', '.join(f'{name} {n}' for name, n in kinds.most_common()) or 'none'}."
    yield ""
    yield from (f"- {line}" for line in found.library)


def committed() -> tuple[dict[str, tuple[int, int]], tuple[int, int]]:
    """By position: formats not masked, look-alikes changed; and files of the library."""
    text = REPORT.read_text("utf-8")
    table = {m[1]: (int(m[3]) - int(m[2]), int(m[4])) for m in _ROW.finditer(text)}
    whole = _LIBRARY.search(text)
    return table, (int(whole[1]), int(whole[2])) if whole else (0, 0)


def main() -> None:
    redactor = load_redactor(b"k" * 32)
    text = report(library(redactor, figures(redactor)))
    if "--write" in sys.argv[1:]:
        REPORT.write_text(text, "utf-8")
    else:
        sys.stdout.write(text)


__all__ = ["committed", "figures", "library", "raw", "report"]

if __name__ == "__main__":
    main()
