"""What the commands that write sessions share: agents, their folders, versions, the ledger."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ultracontext.cli.workspace import Workspace
from ultracontext.errors import NotFoundError, StoreError, WriteRefusedError

if TYPE_CHECKING:
    from ultracontext.formats import AgentSpec, Run
    from ultracontext.formats.gate import Opened
    from ultracontext.redaction import Redactor
    from ultracontext.runtime.installed import Installed
    from ultracontext.runtime.machine import LocalMachine
    from ultracontext.switch.fit import Place, Wish
    from ultracontext.switch.ledger import Ledger
    from ultracontext.switch.plan import Planned
    from ultracontext.switch.session import MaskedSession


@dataclass(frozen=True, slots=True)
class Found:
    """An installed program."""

    version: str
    path: str | None


@dataclass(frozen=True, kw_only=True)
class Desk:
    """The surroundings of one command that writes."""

    place: Workspace

    @cached_property
    def agents(self) -> dict[str, AgentSpec]:
        from ultracontext.agents import known

        return known()

    def spec(self, slug: str) -> AgentSpec:
        spec = self.agents.get(slug)
        if spec is None:
            raise WriteRefusedError(
                f"{slug!r} is no agent that is known here", code="unknown-agent",
                hint=f"Known agents: {', '.join(self.agents)}",
            )  # fmt: skip
        return spec

    @cached_property
    def roots(self) -> dict[str, list[Path]]:
        from ultracontext.capture.roots import agent_roots

        return agent_roots(self.place.settings, self.place.env, self.place.home, self.agents)

    @cached_property
    def redactor(self) -> Redactor:
        """Masks, whatever the settings say of capture."""
        from ultracontext.redaction.opening import masking_redactor

        self.place.paths.ensure()
        return masking_redactor(self.place.paths, self.place.settings)

    @cached_property
    def machine(self) -> LocalMachine:
        from ultracontext.runtime.machine import LocalMachine

        return LocalMachine(self.agents, self.roots, self.redactor)

    @cached_property
    def open_machine(self) -> LocalMachine:
        """Reads without masking: only after consent."""
        from ultracontext.runtime.machine import LocalMachine
        from ultracontext.switch.consent import open_redactor

        redactor = open_redactor(self.place.paths.secret_file)
        return LocalMachine(self.agents, self.roots, redactor, masked=False)

    @cached_property
    def ledger(self) -> Ledger:
        """Opened with what a writer that died left behind already taken back."""
        from ultracontext.switch.commit import clean_up
        from ultracontext.switch.ledger import Ledger

        self.place.paths.ensure()
        ledger = Ledger(self.place.paths.state_dir / "switch.db")
        clean_up(ledger, datetime.now(UTC))
        return ledger

    @property
    def keep(self) -> Path:
        return self.place.paths.state_dir / "switch"

    @cached_property
    def proven(self) -> list[Run]:
        """Runs that `compat prove` made on this machine."""
        from ultracontext.switch.proof import local_runs

        return local_runs(self.place.paths.state_dir)

    def root(self, spec: AgentSpec) -> Path:
        roots = self.roots.get(spec.slug) or []
        if not roots:
            raise WriteRefusedError(f"{spec.name} has no folder on this machine", code="no-root")
        return roots[0]

    def installed(self, spec: AgentSpec, given: str | None = None) -> Found | None:
        """The version that the person named, that of the package, or what the program says."""
        from ultracontext.switch.program import version_of

        program = self.program(spec)
        if given is not None:
            return Found(given, program)
        packages = self.packaged(spec)
        if program is not None:
            real = os.path.realpath(program)
            mine = [one for one in packages if real.startswith(one.path.rstrip("/") + "/")
                    or real == one.path]  # fmt: skip
            if mine:
                return Found(mine[0].version, program)
            told = version_of(program, self.place.env)
            if told is not None:
                return Found(told, program)
        return Found(packages[0].version, program) if packages else None

    def program(self, spec: AgentSpec) -> str | None:
        """The one that the person's shell would run."""
        from ultracontext.switch.program import path_of

        names = spec.opening("")[:1] if spec.opening is not None else ()
        return path_of(names[0], self.place.env) if names else None

    def packaged(self, spec: AgentSpec) -> list[Installed]:
        """By package files alone, the one on the PATH first."""
        from ultracontext.runtime.installed import installed, of_program

        found = installed(spec, self.place.env, self.place.home)
        program = self.program(spec)
        first = of_program(spec, program) if program is not None else None
        if first is not None:
            return [first, *(one for one in found if one != first)]
        real = os.path.realpath(program or "")
        return sorted(found, key=lambda one: not real.startswith(one.path.rstrip("/")))

    def unknown(self, spec: AgentSpec, version: str) -> list[str]:
        """Record kinds new to us in what this version wrote here last."""
        found: dict[str, None] = {}
        for file in self.machine.files([spec.slug])[:5]:
            for session in self.machine.read(file):
                if session.facts.agent_version in (version, None):
                    found |= dict.fromkeys(session.facts.unknown)
        return list(found)

    def open(self, source: str, spec: AgentSpec, version: str | None, *, force: bool) -> Opened:
        """Through the gate."""
        from ultracontext.formats.gate import judge, open_writer

        verdict = judge(source, spec.slug, version, agents=self.agents, proven=self.proven)
        expected = verdict.name == "expected" and version is not None
        unknown = self.unknown(spec, version) if expected and version is not None else []
        return open_writer(
            source, spec.slug, version, agents=self.agents, proven=self.proven,
            unknown=unknown, force=force,
        )  # fmt: skip

    def prepare(
        self, session: MaskedSession, spec: AgentSpec, found: Found | None, wish: Wish,
        place: Place, *, force: bool,
    ) -> Planned:  # fmt: skip
        from ultracontext.switch.plan import Surroundings, prepare

        opened = self.open(
            session.spec.slug, spec, found.version if found is not None else None, force=force
        )
        now = datetime.now(UTC)
        around = Surroundings(
            home=self.place.home, environment=self.place.env, root=self.root(spec),
            version=found.version if found is not None else "", now=now, local=now.astimezone(),
            program=found.path if found is not None else None,
        )  # fmt: skip
        machine = self.machine if session.masked else self.open_machine
        redactor = self.redactor if session.masked else None
        return prepare(session, spec, opened, wish, place, around, machine, redactor)

    def where(self, cwd: str) -> Place:
        """What git says of the folder."""
        from ultracontext.switch import git
        from ultracontext.switch.fit import Place

        root = git.root_of(cwd)
        branch, commit = git.head(root) if root is not None else (None, None)
        return Place(cwd=cwd, git_branch=branch, commit=commit)

    def find(self, name: str, agents: Collection[str], *, unmasked: bool = False) -> MaskedSession:
        """By path, native id, or context id of the store; a file goes before the store, because it
        is read to its end. Raises NotFoundError."""
        from ultracontext.switch import choose

        machine = self.open_machine if unmasked else self.machine
        if os.sep in name or Path(name).is_file():
            return choose.by_path(machine, Path(self.place.absolute(name)), agents)
        row = self._row(name)
        native = row.session_id if row is not None else name
        found = choose.by_name(machine, native, agents) if "~" not in native else None
        if found is not None:
            return found
        if row is None:
            raise NotFoundError(
                f"no session named {name!r}", hint="`ultracontext sessions --all` lists them",
                code="no-session",
            )  # fmt: skip
        if unmasked:
            raise WriteRefusedError(
                f"the file of {row.session_id} is gone, and the store holds masks only",
                code="unmasked", hint="Leave out --unmasked",
            )  # fmt: skip
        return self.stored(row.context_id)

    def stored(self, name: str, version: int | None = None) -> MaskedSession:
        """As the store has it. Raises NotFoundError, VersionNotFoundError."""
        from ultracontext.switch.stored import stored_session

        with self.place.reading() as space:
            if space is None:
                raise NotFoundError(f"no session named {name!r}", code="no-session")
            return stored_session(space, space.find(name), self.redactor, version=version)

    def _row(self, name: str) -> Any:
        with self.place.reading() as space:
            if space is None:
                return None
            try:
                return space.find(name)
            except NotFoundError:
                return None
            except StoreError as error:
                if error.code == "ambiguous":
                    raise
                return None


def terminal() -> bool:
    """Whether a person can be asked."""
    from ultracontext.cli import output

    return output.is_terminal(sys.stdin) and output.is_terminal(sys.stderr)


def desk() -> Desk:
    from ultracontext.cli.workspace import workspace

    return Desk(place=workspace())
