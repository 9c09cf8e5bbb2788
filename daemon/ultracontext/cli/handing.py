"""`switch --handoff`: a document for an agent that cannot be written natively."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ultracontext.cli.desk import Desk

if TYPE_CHECKING:
    from ultracontext.cli.switching import Order
    from ultracontext.formats import AgentSpec
    from ultracontext.switch.session import MaskedSession


def hand_off(at: Desk, order: Order, session: MaskedSession, spec: AgentSpec) -> int:
    raise NotImplementedError
