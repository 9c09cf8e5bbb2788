"""`/v1/keys`: make, list and revoke keys, with the admin key or a key of the role `admin`."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from ultracontext.api.auth import KeyRing, issued, shown
from ultracontext.errors import ConflictError
from ultracontext.store.exchange import Answer, json_answer
from ultracontext.store.keys import ROLES, Key, issue, issue_in_new_space
from ultracontext.wire import bodies
from ultracontext.wire.faults import RequestError, bad, missing


class KeyDesk:
    """Blocks. `who` is the key of the request, None for the server's admin key."""

    def __init__(self, ring: KeyRing, clock: Callable[[], datetime]) -> None:
        self._ring = ring
        self._clock = clock

    def answer(self, method: str, prefix: str | None, body: bytes, who: Key | None) -> Answer:
        """Raises RequestError."""
        match method, prefix:
            case "POST", None:
                return json_answer(self._made(body, who))
            case "GET" | "HEAD", None:
                space = None if who is None else who.space
                return json_answer({"data": [shown(k) for k in self._ring.keys.rows(space)]})
            case "DELETE", str():
                return json_answer(self._revoked(prefix, who))
            case _:
                raise missing("Not found")

    def _made(self, body: bytes, who: Key | None) -> dict[str, Any]:
        """With the admin key a space of its own each time, as in the original."""
        asked = bodies.key_request(body)
        role, redact = asked.get("role", "write"), asked.get("redact_on_ingest", False)
        if role not in ROLES:
            raise bad(f"role must be one of {', '.join(ROLES)}")
        if not isinstance(redact, bool):
            raise bad("redact_on_ingest must be true or false")
        now, keys = self._clock(), self._ring.keys
        try:
            if who is None:
                made = issue_in_new_space(
                    keys, name=asked["name"], role=role, redact=redact, now=now
                )
            else:
                made = issue(
                    keys, name=asked["name"], space=who.space, role=role, new_space=False,
                    redact=redact or who.redact, now=now,
                )  # fmt: skip
        except ConflictError as error:
            raise RequestError(409, "Failed to create key") from error
        self._ring.changed()
        return issued(made)

    def _revoked(self, prefix: str, who: Key | None) -> dict[str, Any]:
        space = None if who is None else who.space
        gone = self._ring.keys.revoke(prefix, space=space, now=self._clock())
        self._ring.changed()
        if gone is None:
            raise missing("Key not found")
        return {"revoked": True, **shown(gone)}
