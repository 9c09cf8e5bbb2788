"""Whether a value looks like a secret, and not like prose, code, a reference or a placeholder."""

from __future__ import annotations

import math
import re
from collections import Counter

_REFERENCE = re.compile(
    rb"^(?:[$<{&*!?#|>]|%[({A-Za-z]|@[{(]|[./~]{1,2}/|~|[A-Za-z]:[\\/]|arn:|op://|ssm:|env[:.]|file:|vault:"
    rb"|secrets?[:.]|ref\+|enc\[|kms:|projects/|sha\d{1,3}[:-]|md5[:-]|process\.|os\.|self\.|this\.|var\."
    rb"|local\.|data\.|config\.|settings\.|params?\.|github\.|steps\."
    rb"|inputs\.|env\[|import\.|exports\.|module\.|new |await |\.[A-Za-z_]|\[[a-z-]{2,20}[=\]]"
    rb"|MFkwEwYHKoZIzj|MCowBQYDK2Vw|MII[BC]IjANBgkqhkiG|ssh-(?:rsa|ed25519) |AAAA[BCE][23][NV])"
    rb"|\$\{|\$\(|\{\{|<%|%>|\(\)|\w\(|\w\[|://|\[redacted|\*{3}|\.{3}|\xe2\x80\xa6|=>|->|::|&&|\|\||\?\.|===?[a-z]|[,;(!]this\.|=null|=void|=function"
)
_PLACEHOLDER = re.compile(
    rb"your|example|placeholder|change[-_ ]?me|replace|dummy|redacted|(?i:x{4})|insert|todo|fixme"
    rb"|<[a-z]|sample|lorem|foo[-_]?bar|not[-_]?set|undefined|no[-_]?token|(?:^|[-_ ])here$|blank"
    rb"|\.\.\.|^(?:test|password|passwd|secret|token|key|admin|user|pass)[-_]?\d{0,3}$|abcdefgh|0123456789|1234567890|^(?:test|fake|mock|stub|abc|qwerty|null|none|nil|true|false|string|str|int|bytes)\b",
    re.IGNORECASE,
)
_PLAIN = re.compile(
    rb"^(?:[\d.,:/_+-]+|0x[0-9a-f]{1,8}|#[0-9a-f]{3,8}"
    rb"|\d{4}-\d\d-\d\d[T ].*|v?\d+(?:\.\d+)+[\w.+-]{0,30}"
    rb"|[\w./-]+\.(?:json|ya?ml|pem|key|crt|cer|p12|txt|env|py|js|tsx?|go|rs|rb|java|md|toml|cfg|ini|log"
    rb"|html?|sh|png|svg|jpe?g|css|xml|lock|sql|csv|conf|ipynb|exe|zip|gz|tar|local|svc|com|org|net|io))$",
    re.IGNORECASE,
)
_PIECE = re.compile(rb"[A-Za-z0-9]+")
_WORDY = re.compile(
    rb"^(?:\d{1,8}|[A-Z]?[a-z]+(?:[A-Z]{1,5}[a-z]*)*\d{0,3}|[A-Z]+(?:[a-z]+(?:[A-Z][a-z]*)*)?\d{0,3}"
    rb"|[A-Za-z]{1,4}\d{1,4}[A-Za-z]{0,12}|\d{1,4}[A-Za-z]{1,12}|(?:[A-Z]?[a-z]{2,}\d{1,2}){1,3}[a-z]*)$"
)
_TERMS = re.compile(
    rb"(?:x|ed)(?:25519|448)|pkcs\d+|p(?:256|384|521)|oauth2?|sha\d+(?:_\d+)?|md[45]|aes\d*|rsa\d+|base\d\d"
    rb"|utf\d+|ml(?:kem|dsa)\d+|secp\d+[kr]\d|k8s|ec2|s3|i18n|http2|win32|x86|x64|arm64|amd64|ipv[46]"
    rb"|x509|hmac\d*|h26[45]|web3|py3|go1|es\d{1,4}|v\d{1,3}(?![0-9a-z])",
    re.IGNORECASE,
)
_JUMPY = re.compile(rb"[a-z][A-Z][a-z][A-Z]|[A-Z][a-z][A-Z][a-z][A-Z]")
_NUMBERS = re.compile(rb"\d+")
_CONSONANTS = re.compile(rb"[bcdfghjklmnpqrstvwxzBCDFGHJKLMNPQRSTVWXZ]{5}")
_CHOSEN = re.compile(
    rb"^(?=[^\d]*\d)(?=[^a-z]*[a-z])(?=[^A-Z]*[A-Z])(?=[^!^*~]*[!^*~])[^\s/@<>{}()\[\]\"'`\\]{8,64}$"
)
"""Digit, both cases and a sign that no name has: however wordy it reads, somebody chose it."""
_TECHNICAL = re.compile(
    rb"^(?:base(?:64|32|16|58)(?:url)?|sha\d{1,3}|md[45]|utf-?(?:8|16)|oauth2?|argon2(?:id|i|d)?|x509"
    rb"|ed25519|(?:rs|hs|es|ps)(?:256|384|512)|aes-?\d*.*|rsa-?\d*|http\d?|ipv[46]|h2|s3|ec2|k8s|v\d+)$",
    re.IGNORECASE,
)


def entropy(value: bytes) -> float:
    """Bits per byte of a value."""
    size = len(value)
    return -sum(n / size * math.log2(n / size) for n in Counter(value).values()) if size else 0.0


def is_reference(value: bytes) -> bool:
    """Names a secret instead of being one, or stands where one would be."""
    return _REFERENCE.search(value) is not None or _PLACEHOLDER.search(value) is not None


def is_secret(value: bytes) -> bool:
    """A value in a place where a secret may stand looks like one: mixed, long enough, no words."""
    if len(value) < 8 or len(set(value)) < 5 or is_reference(value) or _PLAIN.match(value):
        return False
    return has_digit(value) and not is_wordy(value) and entropy(value) >= 2.2


def is_password(value: bytes) -> bool:
    """The same for a quoted value under a password's name: words with a digit or sign count."""
    if len(value) < 6 or is_reference(value) or _PLAIN.match(value) or value.startswith(b"-"):
        return False
    if _TECHNICAL.match(value) or len(set(value)) < 4 or b" " in value:
        return False
    if has_digit(value) and any(chr(c).isalpha() for c in value):
        return not re.match(rb"^[a-z]+(?:[-_.][a-z]+)+[-_.]?v?\d{0,2}$", value)
    return re.search(rb"[!@#$%^&*+=?~]", value) is not None and _PIECE.search(value) is not None


def suits(kind: str, value: bytes) -> bool:
    """A value that stands quoted, or as a JSON member, under a name of this kind is a secret."""
    if kind == "password" or _CHOSEN.match(value) is not None:
        return is_password(value)
    return is_secret(value)


def is_random(value: bytes) -> bool:
    """The body of a key with a short prefix: digits and letters mixed, no words."""
    return (
        has_digit(value)
        and any(chr(c).isalpha() for c in value)
        and not is_wordy(value)
        and _PLACEHOLDER.search(value) is None
        and entropy(value) >= 2.2
    )


def is_filler(value: bytes) -> bool:
    """A form filled with one or two characters or with dots: `ghp_xxxxxxxx`."""
    if len(set(value[-12:])) < 4 or value.lstrip(b"A").count(b"AAA") > 1:
        return True
    return b"xxxxxx" in value.lower() or b"......" in value


def is_wordy(value: bytes) -> bool:
    """Every piece between signs reads as a word, a number, or a word with a number."""
    if _JUMPY.search(value) is not None and has_digit(value):
        return False
    plain = _TERMS.sub(b"-", value)
    return all(
        _WORDY.match(piece) is not None and not _is_unspeakable(piece)
        for piece in _PIECE.findall(plain)
    )


def _is_unspeakable(piece: bytes) -> bool:
    """Letters and digits of no word that people write: three numbers in it, or a long run of
    consonants in a long one."""
    size = len(piece)
    if size < 14 or piece.isalpha() or piece.isdigit():
        return False
    return len(_NUMBERS.findall(piece)) >= 3 or (
        size >= 20 and _CONSONANTS.search(piece) is not None
    )


def has_digit(value: bytes) -> bool:
    return any(48 <= char <= 57 for char in value)
