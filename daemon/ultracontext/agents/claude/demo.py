"""The session that `demo` plays: `demo.jsonl`, by hand, in the format of 2.1."""

from __future__ import annotations

from pathlib import PurePath

from ultracontext.agents.claude.layout import slug
from ultracontext.formats import Demo, DemoPlace


def _file(place: DemoPlace) -> PurePath:
    return place.home / ".claude" / "projects" / slug(place.project) / f"{place.session}.jsonl"


DEMO = Demo(package="ultracontext.agents.claude", data="demo.jsonl", file=_file)
