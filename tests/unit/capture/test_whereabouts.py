"""Where captured sessions are: what is read, and which of several sources counts."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from capture_lab import TOY

from ultracontext.capture.whereabouts import OUTSIDE, UNKNOWN, Places, Whereabouts
from ultracontext.formats import AgentSpec, Listing, ListingFacts, Lookup, SourceFacts
from ultracontext.model import SessionFacts

SOON = datetime(2030, 1, 1, tzinfo=UTC)
LATER = datetime(2031, 1, 1, tzinfo=UTC)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "toy/logs").mkdir(parents=True)
    return tmp_path / "toy"


def asked(root: Path, spec: AgentSpec, *paths: Path | str) -> Whereabouts:
    places = Places({"toy": spec}, {"toy": [root]})
    return places.of("toy", "s1", SessionFacts(), [str(path) for path in paths])


def judging(answers: dict[str, Listing], *lookups: Lookup, seen: list[Any] | None = None) -> Any:
    def listing(found: ListingFacts) -> Listing:
        if seen is not None:
            seen.append(found)
        return answers.get(found.path.name, Listing())

    def wanted(source: SourceFacts, path: PurePosixPath) -> list[Lookup]:
        return list(lookups)

    return replace(TOY, listing=listing, lookups=wanted)


def log(root: Path, name: str) -> Path:
    path = root / "logs" / name
    path.touch()
    return path


def test_a_source_that_is_there_is_listed_and_a_missing_one_gone(root: Path) -> None:
    assert asked(root, TOY, log(root, "a.log")).place == "listed"
    assert asked(root, TOY, root / "logs/b.log").place == "gone"
    assert asked(root, TOY, root / "logs").place == "gone"


def test_without_a_source_that_can_be_looked_for_nothing_is_said(root: Path) -> None:
    assert asked(root, TOY) == UNKNOWN
    assert asked(root, TOY, "/w/[redacted:key:1]/a.log") == UNKNOWN
    assert Places({}, {}).of("toy", "s1", SessionFacts(), ["/x"]) == UNKNOWN


def test_a_file_outside_the_agents_folders_is_hidden(root: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "copy.log"
    elsewhere.touch()
    assert asked(root, TOY, elsewhere) == Whereabouts(place="hidden", reason=OUTSIDE)


def test_the_best_of_several_sources_counts(root: Path) -> None:
    paths = [log(root, f"{name}.log") for name in ("hidden", "gone", "soon", "later")]
    answers = {
        "hidden.log": Listing(hidden="why"),
        "gone.log": Listing(gone=True),
        "soon.log": Listing(expires_at=SOON),
        "later.log": Listing(expires_at=LATER),
    }
    spec = judging(answers)
    assert asked(root, spec, *paths) == Whereabouts(place="listed", expires_at=LATER)
    assert asked(root, spec, *paths[:2]) == Whereabouts(place="hidden", reason="why")
    assert asked(root, spec, paths[1]).place == "gone"
    assert asked(root, spec, paths[1], root / "logs/missing.log").place == "gone"


def test_lookups_are_read_once_and_missing_ones_are_none(root: Path, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.json"
    real.write_text("{}")
    (root / "settings.json").symlink_to(real)
    (root / "a.db").write_bytes(b"no database")
    seen: list[ListingFacts] = []
    spec = judging(
        {}, Lookup(name="text", path="settings.json"), Lookup(name="none", path="none.json"),
        Lookup(name="db", path="a.db", sql="SELECT 1 FROM sqlite_master"),
        Lookup(name="nodb", path="b.db", sql="SELECT 1 FROM sqlite_master"), seen=seen,
    )  # fmt: skip
    asked(root, spec, log(root, "a.log"))
    assert seen[0].found == {"text": "{}", "none": None, "db": None, "nodb": None}
    assert not (root / "b.db").exists()
    assert seen[0].path == PurePosixPath("logs/a.log")


def test_an_agent_that_fails_hides_no_session(root: Path) -> None:
    def broken(found: ListingFacts) -> Listing:
        raise ValueError

    assert asked(root, replace(TOY, listing=broken), log(root, "a.log")) == UNKNOWN
