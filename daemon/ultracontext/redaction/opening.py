"""The redactor that the settings ask for, and which rules that would be without loading it."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from ultracontext import redaction
from ultracontext.paths import Paths
from ultracontext.redaction.boundary import Redactor
from ultracontext.redaction.fingerprint import load_secret
from ultracontext.redaction.loading import load_redactor
from ultracontext.redaction.off import NO_RULES, unmasking_redactor
from ultracontext.settings import Settings

_FILE = "rule-set.json"


def open_redactor(paths: Paths, settings: Settings, secret: bytes | None = None) -> Redactor:
    """RedactionError when it cannot be had: nothing passes then."""
    if not settings.redaction.enabled:
        return unmasking_redactor(load_secret(paths.secret_file) if secret is None else secret)
    return masking_redactor(paths, settings, secret)


def masking_redactor(paths: Paths, settings: Settings, secret: bytes | None = None) -> Redactor:
    """One that masks, whatever the settings say of capture."""
    key = load_secret(paths.secret_file) if secret is None else secret
    redactor = load_redactor(
        key, cache_dir=paths.cache_dir, engine=settings.engine, custom=settings.redaction.custom
    )
    _remember(paths.cache_dir / _FILE, _seal(settings), redactor.rule_set)
    return redactor


def known_rule_set(paths: Paths, settings: Settings) -> int | None:
    """The rule set that `open_redactor` would give; None when none was loaded from these files."""
    if not settings.redaction.enabled:
        return NO_RULES
    with suppress(OSError, ValueError, KeyError, TypeError):
        found = json.loads((paths.cache_dir / _FILE).read_bytes())
        if found["seal"] == _seal(settings):
            return int(found["rule_set"])
    return None


def _seal(settings: Settings) -> str:
    """Digest of all that makes a rule set: our rules and code, the person's settings."""
    digest = blake2b(repr(settings.redaction).encode("utf-8", "surrogatepass"), digest_size=16)
    folder = Path(redaction.__file__).parent
    for path in sorted((*folder.glob("*.py"), *folder.glob("tables/*.tsv"))):
        data = path.read_bytes()
        digest.update(f"\0{path.name}\0{len(data)}\0".encode() + data)
    return digest.hexdigest()


def _remember(path: Path, seal: str, rule_set: int) -> None:
    """Best effort: without the file the rules are loaded to know their number."""
    text = json.dumps({"seal": seal, "rule_set": rule_set})
    with suppress(OSError):
        if path.exists() and path.read_text() == text:
            return
        temporary = path.with_name(f".{path.name}.{os.getpid()}")
        temporary.write_text(text)
        temporary.chmod(0o600)
        temporary.replace(path)
