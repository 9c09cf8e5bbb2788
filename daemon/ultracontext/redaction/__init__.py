"""Masking: the only way from a raw record to a masked one."""

from ultracontext.redaction.boundary import MaskedRecord, Part, Redactor, join_parts, load_redactor
from ultracontext.redaction.fingerprint import load_secret, without_fingerprints
from ultracontext.redaction.parse import dump_json, load_json

__all__ = [
    "MaskedRecord",
    "Part",
    "Redactor",
    "dump_json",
    "join_parts",
    "load_json",
    "load_redactor",
    "load_secret",
    "without_fingerprints",
]
