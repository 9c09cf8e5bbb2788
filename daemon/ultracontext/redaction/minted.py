"""The masked record, and how one is made.

Only the redactor fills one; `Redactor.redact` is the only way from a `RawRecord` to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn, final

from ultracontext.redaction.frames import Frame
from ultracontext.redaction.slim import Part


@final
class MaskedRecord:
    """A record in which every secret is masked. Only `Redactor.redact` makes one.

    `native` is shared, not copied: whoever takes a record reads it and leaves it as it is.
    """

    __slots__ = (
        "_seal",
        "agent",
        "body",
        "companions",
        "content",
        "damage",
        "digest",
        "end",
        "frame",
        "masks",
        "native",
        "parts",
        "rule_set",
        "source",
        "start",
        "text",
        "too_large",
    )

    agent: str
    source: str
    """Path of the source, masked."""
    start: int
    end: int
    native: Any
    """Masked JSON object; None for an opaque record."""
    text: str | None
    """Masked text of an opaque record, else None."""
    body: bytes
    """UTF-8 JSON of `native`; the record's own bytes when nothing was masked or taken out."""
    content: bytes | None
    """blake2b-128 of `body` where it was computed on the way, else None."""
    parts: tuple[Part, ...]
    companions: Mapping[str, str]
    damage: str | None
    too_large: tuple[int, str] | None
    masks: Mapping[str, int]
    """Names of rules, with how many masks each put in."""
    rule_set: int
    digest: bytes
    """16 bytes, keyed, over the unmasked bytes; never leaves this machine."""
    frame: Frame | None
    """A framed secret (PEM, PuTTY …) whose end has not come: for the record that follows."""

    def __new__(cls, *_args: object, **_fields: object) -> MaskedRecord:
        raise TypeError("a MaskedRecord is made by Redactor.redact only")

    def __init_subclass__(cls, **_options: object) -> NoReturn:
        raise TypeError("MaskedRecord has no subclasses")

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("a MaskedRecord is frozen")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError("a MaskedRecord is frozen")

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a MaskedRecord is not copied or pickled")

    def __copy__(self) -> NoReturn:
        raise TypeError("a MaskedRecord is not copied or pickled")

    def __deepcopy__(self, memo: object) -> NoReturn:
        raise TypeError("a MaskedRecord is not copied or pickled")

    def __repr__(self) -> str:
        return f"<MaskedRecord {self.agent} {self.start}-{self.end}>"


_SEAL = object()
"""In every record that was minted, and nowhere else."""


def require_masked(value: object) -> MaskedRecord:
    """The value, if it is a masked record that the redactor made. Raises TypeError otherwise."""
    if type(value) is not MaskedRecord or getattr(value, "_seal", None) is not _SEAL:
        raise TypeError(f"a MaskedRecord is needed, not {type(value).__name__}")
    return value


class Open:
    """A record that is being filled, in the shape of a `MaskedRecord`: plain assignments cost a
    third of those that go around a frozen class."""

    __slots__ = MaskedRecord.__slots__


def closed(fields: Any) -> MaskedRecord:
    fields._seal = _SEAL  # noqa: SLF001 - the record's own
    fields.__class__ = MaskedRecord
    record: MaskedRecord = fields
    return record


def mint(**fields: Any) -> MaskedRecord:
    record: Any = Open()
    record.content = None
    record.frame = None
    for name, value in fields.items():
        setattr(record, name, value)
    return closed(record)


@final
class MaskedText:
    """A text in which every secret is masked: a note, a handoff document, a part of an export.

    Only `Redactor.document` makes one. Who writes texts out of this machine takes nothing else.
    """

    __slots__ = ("_seal", "masks", "rule_set", "text")

    text: str
    masks: Mapping[str, int]
    """Names of rules, with how many masks each put in."""
    rule_set: int

    def __new__(cls, *_args: object, **_fields: object) -> MaskedText:
        raise TypeError("a MaskedText is made by Redactor.document only")

    def __init_subclass__(cls, **_options: object) -> NoReturn:
        raise TypeError("MaskedText has no subclasses")

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("a MaskedText is frozen")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError("a MaskedText is frozen")

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a MaskedText is not copied or pickled")

    def __repr__(self) -> str:
        return f"<MaskedText of {len(self.text)} characters>"


def require_masked_text(value: object) -> MaskedText:
    """The value, if it is a text that the redactor masked. Raises TypeError otherwise."""
    if type(value) is not MaskedText or getattr(value, "_seal", None) is not _SEAL:
        raise TypeError(f"a MaskedText is needed, not {type(value).__name__}")
    return value


def mint_text(text: str, masks: Mapping[str, int], rule_set: int) -> MaskedText:
    made: MaskedText = object.__new__(MaskedText)
    fields = {"_seal": _SEAL, "text": text, "masks": masks, "rule_set": rule_set}
    for name, value in fields.items():
        object.__setattr__(made, name, value)
    return made


def fields_of(record: MaskedRecord) -> dict[str, Any]:
    """All but the seal."""
    return {name: getattr(record, name) for name in MaskedRecord.__slots__[1:]}
