"""Which session of one key came after which.

A reset gives a key (`agent:main:main`) a new session, and the file generation writes nowhere which
one was before: the sessions of one key are kin, and the later one goes on from the earlier.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from ultracontext.agents.openclaw.values import mapping, moment
from ultracontext.redaction import MaskedRecord

HEAD_RECORDS = 8


def relate(first: Iterable[MaskedRecord], second: Iterable[MaskedRecord]) -> str | None:
    """`a` when the first began after the second, `b` when before."""
    one, two = _begin(first), _begin(second)
    if one is None or two is None or one == two:
        return None
    return "a" if one > two else "b"


def _begin(records: Iterable[MaskedRecord]) -> str | None:
    for record in islice(records, HEAD_RECORDS):
        native = mapping(record.native)
        found = moment(mapping(native.get("value")).get("timestamp") or native.get("timestamp"))
        if found is not None:
            return found
    return None
