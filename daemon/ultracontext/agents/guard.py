"""A third party's agent with a guard around what the sweep asks of it.

Its assigner and its reader need none: capture and the store expect them to fail.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath, PurePosixPath

from ultracontext.formats import AgentSpec, SourceFacts
from ultracontext.redaction import MaskedRecord

Note = Callable[[str], None]
"""Is told what went wrong, at most once for each function."""


def objection(spec: AgentSpec) -> str | None:
    """Why an agent cannot be used, None if it can."""
    if type(spec.slug) is not str or not (spec.slug.isidentifier() and spec.slug.islower()):
        return "its slug is no lower-case identifier"
    for names in (spec.folders, spec.files):
        if isinstance(names, str) or not isinstance(names, Sequence):
            return "its folders and files are no lists of names"
        if not all(type(name) is str for name in names):
            return "its folders and files are no lists of names"
    return None


def guarded(spec: AgentSpec, note: Note) -> AgentSpec:
    """The same agent; where it fails, it has no roots and no sources."""
    told: set[str] = set()

    def tell(what: str) -> None:
        if what not in told:
            told.add(what)
            note(what)

    def roots(environment: Mapping[str, str], home: PurePath) -> Sequence[PurePath]:
        try:
            found = list(spec.roots(environment, home))
        except Exception as error:  # noqa: BLE001  (a third party's code must not stop the others)
            tell(f"its roots cannot be had ({type(error).__name__})")
            return []
        if all(isinstance(root, PurePath) for root in found):
            return found
        tell("its roots are no paths")
        return []

    def classify(path: PurePosixPath) -> SourceFacts | None:
        try:
            found = spec.classify(path)
        except Exception as error:  # noqa: BLE001  (as above)
            tell(f"it fails on a path ({type(error).__name__})")
            return None
        if found is None or isinstance(found, SourceFacts):
            return found
        tell("it says of a path what is no SourceFacts")
        return None

    folder_of = None if spec.folder_of is None else _folder_of(spec.folder_of, tell)
    return replace(spec, roots=roots, classify=classify, folder_of=folder_of)


def _folder_of(
    ask: Callable[[MaskedRecord], str | None], tell: Note
) -> Callable[[MaskedRecord], str | None]:
    def folder_of(record: MaskedRecord) -> str | None:
        try:
            found = ask(record)
        except Exception as error:  # noqa: BLE001  (as above)
            tell(f"it fails on a record's folder ({type(error).__name__})")
            return None
        return found if type(found) is str else None

    return folder_of
