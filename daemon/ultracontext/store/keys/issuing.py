"""Makes keys: for a new space of a name, or for one that exists."""

from __future__ import annotations

import secrets
from datetime import datetime

import msgspec

from ultracontext.errors import ConflictError
from ultracontext.store.keys.base import Key, Keys, Role
from ultracontext.store.keys.tokens import digest_of, new_key, prefix_of

ATTEMPTS = 5


class Issued(msgspec.Struct, kw_only=True, frozen=True):
    """A key as it is shown, once."""

    key: str
    prefix: str
    space: str
    role: Role
    created_at: datetime


def issue(
    keys: Keys,
    *,
    name: str,
    space: str,
    role: Role = "write",
    new_space: bool,
    redact: bool = False,
    test: bool = False,
    now: datetime,
) -> Issued:
    """Raises ConflictError (`space-exists`) where a new space was asked for and is not new."""
    text = new_key(test=test)
    kept = Key(
        prefix=prefix_of(text),
        digest=digest_of(text),
        space=space,
        name=name,
        role=role,
        redact=redact,
        created_at=now,
    )
    keys.add(kept, new_space=new_space)
    return Issued(key=text, prefix=kept.prefix, space=space, role=role, created_at=now)


def issue_in_new_space(
    keys: Keys, *, name: str, role: Role = "write", redact: bool = False, now: datetime
) -> Issued:
    """A space of its own each time; a suffix makes its name unique."""
    for _ in range(ATTEMPTS):
        space = f"{name}-{secrets.token_hex(6)}"
        try:
            return issue(
                keys, name=name, space=space, role=role, new_space=True, redact=redact, now=now
            )
        except ConflictError as error:
            if error.code != "space-exists":
                raise
    raise ConflictError("no new space could be named")
