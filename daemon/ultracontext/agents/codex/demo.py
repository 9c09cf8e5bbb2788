"""The session that `demo` plays: `demo.jsonl`, by hand, in the format of 0.125."""

from __future__ import annotations

from pathlib import PurePath

from ultracontext.formats import Demo, DemoPlace


def _file(place: DemoPlace) -> PurePath:
    name = f"rollout-{place.local:%Y-%m-%dT%H-%M-%S}-{place.session}.jsonl"
    return place.home / ".codex" / "sessions" / f"{place.local:%Y/%m/%d}" / name


DEMO = Demo(package="ultracontext.agents.codex", data="demo.jsonl", file=_file)
