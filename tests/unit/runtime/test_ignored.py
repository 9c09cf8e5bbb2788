"""What is said of captured sessions that a new rule leaves out."""

from __future__ import annotations

from typing import Any

from typer.main import get_command

from ultracontext.cli.main import app
from ultracontext.runtime.ignored import HINT


def test_the_hint_offers_a_command_that_exists() -> None:
    command = HINT.split("`ultracontext ", 1)[1].split()[0]
    assert command == "forget"
    group: Any = get_command(app)
    assert command in group.list_commands(
        group.make_context("ultracontext", [], resilient_parsing=True)
    )
