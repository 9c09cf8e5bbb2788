"""What the assembled line does to the process that it runs in."""

from __future__ import annotations

import gc
from pathlib import Path

from ultracontext.paths import resolve_paths
from ultracontext.runtime.assembly import GC_OBJECTS, Setup, capture_line
from ultracontext.settings import load_settings


def test_collections_are_few_while_it_runs(tmp_path: Path) -> None:
    env = {"HOME": str(tmp_path), "ULTRACONTEXT_HOME": str(tmp_path / "home")}
    paths = resolve_paths(env, tmp_path)
    paths.ensure()
    settings = load_settings(paths.config_file, env)
    before = gc.get_threshold()
    with capture_line(Setup(paths=paths, settings=settings, env=env, home=tmp_path)):
        assert gc.get_threshold()[0] == GC_OBJECTS
        assert gc.get_freeze_count() > 1000
    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == 0
