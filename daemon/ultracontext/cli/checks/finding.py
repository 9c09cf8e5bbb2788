"""One finding: a stable code, how bad it is, and its repair."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

ERROR, WARNING, INFO = "error", "warning", "info"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """`level`: `error` (something is not captured or lost), `warning`, `info`."""

    code: str
    level: str
    message: str
    repair: str = ""
    fix: Callable[[], None] | None = None
    """What `--fix` does: safe, and right for everybody."""

    def as_json(self) -> dict[str, Any]:
        return {
            "code": self.code,
            "level": self.level,
            "message": self.message,
            "repair": self.repair,
            "fixable": self.fix is not None,
        }


def of_problem(problem: Mapping[str, str], level: str) -> Finding:
    """A problem of `status`."""
    return Finding(
        code=problem["code"],
        level=level,
        message=problem["message"],
        repair=problem.get("hint", ""),
    )
