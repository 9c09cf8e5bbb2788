"""The only door to a writer.

A verdict says what was proven for a pair and a version of the target's program:

    tested     this version was run, with evidence
    expected   it lies between two tested ones of one generation, or is a newer patch of the newest;
               no pre-release; and nothing that the target wrote here is unknown to us
    untested   none of these: only with `force`
    handoff    there is no native way; a document is
    refused    an unknown agent, or a version that is known not to open what we write
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NoReturn, final

from ultracontext.errors import WriteRefusedError
from ultracontext.formats.evidence import Compat, Run
from ultracontext.formats.versions import Version, parse
from ultracontext.formats.writing import Writer

if TYPE_CHECKING:
    from ultracontext.formats.spec import AgentSpec

VerdictName = Literal["tested", "expected", "untested", "handoff", "refused"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    name: VerdictName
    reason: str = ""
    """One clause; empty for `tested`."""
    evidence: tuple[Run, ...] = ()


@final
class Permit:
    """What a writer's factory wants to see. Only this module makes one."""

    __slots__ = ("source", "target", "verdict", "version")

    source: str
    target: str
    version: str
    verdict: Verdict

    def __new__(cls, *_args: object, **_fields: object) -> Permit:
        raise TypeError("a Permit is made by the gate only")

    def __init_subclass__(cls, **_options: object) -> NoReturn:
        raise TypeError("Permit has no subclasses")

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("a Permit is frozen")


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A writer, and on what grounds it was given."""

    writer: Writer
    verdict: Verdict
    forced: bool = False
    """Given although the verdict is `untested`: to be recorded."""


def open_writer(
    source: str,
    target: str,
    installed_version: str | None,
    *,
    agents: Mapping[str, AgentSpec],
    proven: Iterable[Run] = (),
    unknown: Collection[str] = (),
    force: bool = False,
) -> Opened:
    """The writer of `target` for a session of `source`, both slugs of `agents`.

    `proven`: runs of this machine beside those that are shipped. `unknown`: record kinds of the
    target's own sessions here that we do not know. Raises WriteRefusedError (codes `unknown-agent`,
    `no-version`, `handoff`, `untested`, `refused`).
    """
    verdict = judge(
        source, target, installed_version, agents=agents, proven=proven, unknown=unknown
    )
    forced = verdict.name == "untested" and force and installed_version is not None
    if verdict.name not in ("tested", "expected") and not forced:
        _refuse(target, installed_version, verdict, agents)
    factory = agents[target].writer
    if factory is None or installed_version is None:
        raise WriteRefusedError(f"{target} has no writer", code="handoff")
    writer = factory(_permit(source, target, installed_version, verdict))
    return Opened(writer=writer, verdict=verdict, forced=forced)


def judge(
    source: str,
    target: str,
    version: str | None,
    *,
    agents: Mapping[str, AgentSpec],
    proven: Iterable[Run] = (),
    unknown: Collection[str] = (),
) -> Verdict:
    """What is known of a pair, without opening anything."""
    for slug in (source, target):
        if slug not in agents:
            return Verdict(name="refused", reason=f"{slug!r} is no agent that is known here")
    compat = agents[target].compat
    if agents[target].writer is None or compat is None:
        why = compat.handoff if compat is not None else ""
        return Verdict(name="handoff", reason=why or "there is no proven native way")
    if version is None:
        return Verdict(name="untested", reason="no installed version was found")
    runs = [run for run in (*compat.runs, *proven) if run.target == target and run.source == source]
    return _weigh(compat, version, runs, unknown)


def _weigh(compat: Compat, version: str, runs: list[Run], unknown: Collection[str]) -> Verdict:
    parsed = parse(version)
    if parsed is None:
        return Verdict(name="untested", reason=f"{version} is no version that can be compared")
    broken = _broken(compat, parsed)
    if broken is not None:
        return Verdict(name="refused", reason=broken)
    here = tuple(run for run in runs if run.version == version)
    failed = [run for run in here if not run.passed]
    if here and not failed:
        return Verdict(name="tested", evidence=here)
    if failed:
        return Verdict(name="refused", reason=failed[-1].note or "its run failed", evidence=here)
    return _expected(compat, parsed, [run for run in runs if run.passed], unknown)


def _expected(
    compat: Compat, version: Version, runs: list[Run], unknown: Collection[str]
) -> Verdict:
    tested = {found: run for run in runs if (found := parse(run.version)) is not None}
    if not tested:
        return Verdict(name="untested", reason="no version of it was run with this source")
    if not version.final:
        return Verdict(name="untested", reason="it is a pre-release")
    same = sorted(v for v in tested if compat.generation(v) == compat.generation(version))
    below = [v for v in same if v < version]
    above = [v for v in same if v > version]
    patch = bool(below) and below[-1] == max(tested) and below[-1].series == version.series
    if not (below and above) and not patch:
        newest = ".".join(map(str, max(tested).numbers))
        return Verdict(name="untested", reason=f"no tested version is near (newest: {newest})")
    if unknown:
        kinds = ", ".join(sorted(unknown)[:3])
        return Verdict(name="untested", reason=f"it wrote records here that are new to us: {kinds}")
    near = tuple(tested[v] for v in (below[-1:] + above[:1]))
    return Verdict(name="expected", reason="its neighbours were tested", evidence=near)


def _broken(compat: Compat, version: Version) -> str | None:
    for known in compat.breaks:
        first, last = parse(known.first), parse(known.last) if known.last else None
        if first is not None and first <= version and (last is None or version <= last):
            return known.reason
    return None


def _refuse(
    target: str, version: str | None, verdict: Verdict, agents: Mapping[str, AgentSpec]
) -> NoReturn:
    if verdict.name == "refused" and "no agent" in verdict.reason:
        raise WriteRefusedError(
            verdict.reason, code="unknown-agent", hint=f"Known agents: {', '.join(agents)}"
        )
    name = agents[target].name if target in agents else target
    if verdict.name == "untested" and version is None:
        raise WriteRefusedError(
            f"no installed {name} was found", code="no-version",
            hint="Install it, or name the version that will open the file: --target-version",
        )  # fmt: skip
    hints = {
        "untested": "Prove it with `ultracontext compat prove`, or go on with --force",
        "handoff": "Use --handoff: it gets a document",
        "refused": "Use another version, or --handoff",
    }
    named = f"{name} {version}" if version else name
    raise WriteRefusedError(
        f"{named} is {verdict.name} as a target: {verdict.reason}",
        code=verdict.name, hint=hints.get(verdict.name, ""),
    )  # fmt: skip


def _permit(source: str, target: str, version: str, verdict: Verdict) -> Permit:
    permit: Permit = object.__new__(Permit)
    put: Callable[..., None] = object.__setattr__
    for name, value in (
        ("source", source), ("target", target), ("version", version), ("verdict", verdict),
    ):  # fmt: skip
        put(permit, name, value)
    return permit
