"""The blocks of code of the original's guide to forks, as they are printed there.

`tests/fixtures/guide/fork-guide.txt` is the text of the page. Only two things in a block are
replaced when it is run: the id `ctx_abc123` by a real one, and in one JavaScript block an
apostrophe inside quotes that no JavaScript accepts.
"""

from __future__ import annotations

import re
from pathlib import Path

TEXT = Path(__file__).parents[1] / "fixtures" / "guide" / "fork-guide.txt"

JAVASCRIPT = {
    "forking": (27, 45), "version": (75, 75), "timestamp": (83, 83), "index": (91, 91),
    "metadata-index": (99, 107), "combined": (121, 126), "metadata": (143, 151),
    "prompts": (169, 199), "models": (223, 234), "rollback": (248, 273), "branching": (307, 325),
}  # fmt: skip
PYTHON = {
    "forking": (47, 65), "version": (77, 77), "timestamp": (85, 85), "index": (93, 93),
    "metadata-index": (109, 117), "combined": (128, 133), "metadata": (153, 161),
    "prompts": (201, 217), "models": (236, 242), "rollback": (275, 299), "branching": (327, 344),
}  # fmt: skip
"""First and last line of each block, from 1."""
PRINTED_ID = "ctx_abc123"
BROKEN, MENDED = "'Let's continue from here.'", "'Let\\'s continue from here.'"
CODE = re.compile(r"\buc\.\w+\(|^(const|async|def|import|from|for|try|    )\b|^[})]")


def blocks(places: dict[str, tuple[int, int]]) -> dict[str, str]:
    lines = TEXT.read_text("utf-8").splitlines()
    return {name: "\n".join(lines[a - 1 : b]) for name, (a, b) in places.items()}


def left_out() -> list[str]:
    """Lines that look like code and are in no block."""
    lines = TEXT.read_text("utf-8").splitlines()
    taken = {
        number for a, b in (*JAVASCRIPT.values(), *PYTHON.values()) for number in range(a, b + 1)
    }
    return [line for n, line in enumerate(lines, 1) if n not in taken and CODE.search(line)]
