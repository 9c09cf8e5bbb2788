"""Masking of what programs append, where that is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ultracontext.errors import RedactionError
from ultracontext.model import RawRecord
from ultracontext.wire.payload import render

if TYPE_CHECKING:
    from ultracontext.redaction import Redactor


def masked(redactor: Redactor, value: Any) -> Any:
    """A JSON value in which every secret is masked, in keys as well. Raises RedactionError."""
    if isinstance(value, Mapping):
        return _masked_object(redactor, value)
    return _masked_object(redactor, {"content": value})["content"]


def _masked_object(redactor: Redactor, value: Mapping[str, Any]) -> Any:
    if not value:
        return {}
    data = render(value)
    raw = RawRecord(agent="", source="", start=0, end=len(data), data=data)
    found = redactor.redact(raw, whole=True).native
    if not isinstance(found, dict):
        raise RedactionError(
            f"a value of {len(data)} bytes cannot be masked", hint="Send it in smaller pieces"
        )
    return found
