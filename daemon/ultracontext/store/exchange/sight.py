"""What a reader of the wire sees of captured sessions: masked under today's rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from ultracontext.store.contexts import ContextInfo, Difference, StoredMessage
from ultracontext.wire import parse, render
from ultracontext.wire.masking import masked

if TYPE_CHECKING:
    from ultracontext.redaction import Redactor


class Sight:
    """Masks captured rows again that are behind the rules; programs' own rows stay as stored.

    `redactor` is asked for at the first captured row. None: nothing captured can be met here.
    """

    def __init__(self, redactor: Callable[[], Redactor] | None) -> None:
        self._redactor = redactor

    @property
    def redactor(self) -> Redactor | None:
        """For the readers of agents' records."""
        return None if self._redactor is None else self._redactor()

    def message(self, stored: StoredMessage) -> StoredMessage:
        if self._redactor is None or stored.event_id is None:
            return stored
        redactor = self._redactor()
        if stored.rule_set == redactor.rule_set:
            return stored
        return msgspec.structs.replace(
            stored,
            content=render(masked(redactor, parse(stored.content))),
            metadata=masked(redactor, stored.metadata),
        )

    def info(self, found: ContextInfo) -> ContextInfo:
        if self._redactor is None or found.agent is None:
            return found
        return msgspec.structs.replace(found, metadata=masked(self._redactor(), found.metadata))

    def difference(self, found: Difference) -> Difference:
        if self._redactor is None:
            return found
        return msgspec.structs.replace(
            found,
            added=[self.message(m) for m in found.added],
            removed=[self.message(m) for m in found.removed],
            changed=[(self.message(a), self.message(b)) for a, b in found.changed],
        )
