"""Where an agent's sources lie."""

from __future__ import annotations

from pathlib import PurePosixPath, PureWindowsPath

import pytest
from recordings import files, spec_of

from ultracontext.agents import known

ODD_PATHS = [
    "x",
    ".",
    "..",
    "../../etc/passwd",
    "a/b/c/d/e/f/g",
    "x.jsonl",
    ".jsonl",
    "a\nb.jsonl",
    "é/日本/🎉",
]


def test_slug_is_the_name_of_the_folder() -> None:
    for slug, spec in known().items():
        assert spec.slug == slug
        assert slug.isidentifier()
        assert slug == slug.lower()


def test_without_settings_the_roots_lie_below_the_home_folder(agent: str) -> None:
    home = PurePosixPath("/home/somebody")
    found = spec_of(agent).roots({}, home)
    assert found
    assert all(root.is_relative_to(home) and root != home for root in found)


def test_roots_on_windows_are_windows_paths(agent: str) -> None:
    found = spec_of(agent).roots({}, PureWindowsPath("C:/Users/somebody"))
    assert all(isinstance(root, PureWindowsPath) for root in found)


def test_recording_has_sources_where_the_sweep_looks(agent: str, recording: str) -> None:
    spec = spec_of(agent)
    sources = [p for p, _ in files(agent, recording) if spec.classify(PurePosixPath(p)) is not None]
    assert sources
    for path in sources:
        below = any(PurePosixPath(path).is_relative_to(folder) for folder in spec.folders)
        assert below or path in spec.files


@pytest.mark.parametrize("path", ODD_PATHS)
def test_odd_paths_are_no_sources_and_never_raise(agent: str, path: str) -> None:
    assert spec_of(agent).classify(PurePosixPath(path)) is None


def test_companions_and_leftovers_are_no_sources(agent: str, recording: str) -> None:
    spec = spec_of(agent)
    for path, _ in files(agent, recording):
        if spec.classify(PurePosixPath(path)) is not None:
            for leftover in (f"{path}.tmp", f"{path}.bak", f"{path}~", f"{path}.lock"):
                assert spec.classify(PurePosixPath(leftover)) is None
