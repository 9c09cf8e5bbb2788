"""All checks in their order. One that fails is a finding itself and never hides the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ultracontext.cli.checks import agents, daemon, program, service, storage
from ultracontext.cli.checks.finding import ERROR, Finding
from ultracontext.cli.workspace import Workspace
from ultracontext.errors import UltraContextError

Check = Callable[[Workspace], Iterable[Finding]]

FIRST: tuple[Check, ...] = (program.settings,)
"""Without settings nothing else can be told."""
CHECKS: tuple[Check, ...] = (
    program.versions, program.on_the_path, program.clock,
    storage.folders, storage.disk, storage.store,
    daemon.running, daemon.watcher,
    agents.present, agents.versions, agents.sources,
    service.installed, service.key, service.remote,
)  # fmt: skip


def all_findings(place: Workspace) -> list[Finding]:
    """What is found now; nothing is changed."""
    broken = list(_run(FIRST, place))
    return broken or list(_unique(_run(CHECKS, place)))


def _run(checks: Iterable[Check], place: Workspace) -> Iterator[Finding]:
    for check in checks:
        try:
            yield from check(place)
        except UltraContextError as error:
            yield Finding(code=error.code, level=ERROR, message=error.message, repair=error.hint)
        except Exception as error:  # noqa: BLE001  # a doctor that dies helps nobody
            yield Finding(
                code="check-failed",
                level=ERROR,
                message=f"the check {check.__module__.rpartition('.')[2]}.{check.__name__} failed"
                f" ({type(error).__name__})",
                repair="Please report it",
            )


def _unique(findings: Iterable[Finding]) -> Iterator[Finding]:
    """`status` and a check of ours may see the same."""
    seen: set[tuple[str, str]] = set()
    for finding in findings:
        if (finding.code, finding.message) not in seen:
            seen.add((finding.code, finding.message))
            yield finding
