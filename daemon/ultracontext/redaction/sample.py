"""Synthetic values of a rule's form, made at run time so that no file holds a whole one.

A sample of the tables is text with `{alphabet:length}` in it. Every body starts with a NOT-REAL
marker and then walks its alphabet in fixed strides.
"""

from __future__ import annotations

import base64
import json
import re
import string

_ALPHABETS = {
    "an": string.ascii_uppercase + string.ascii_lowercase + string.digits,
    "al": string.ascii_uppercase + string.ascii_lowercase,
    "hx": "0123456789abcdef",
    "up": string.ascii_uppercase + string.digits,
    "lo": string.ascii_lowercase + string.digits,
    "u64": string.ascii_uppercase + string.ascii_lowercase + string.digits + "-_",
    "b64": string.ascii_uppercase + string.ascii_lowercase + string.digits + "+/",
    "b32": string.ascii_uppercase + "234567",
    "b32l": string.ascii_lowercase + "234567",
    "HX": "0123456789ABCDEFabcdef",
    "b32u": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
    "b32n": "023456789acdefghjklmnpqrstuvwxyz",
    "d": "0123456789",
}
_MARKERS = {
    "an": "N0tReAl3",
    "al": "NotReal",
    "hx": "0bad0bad",
    "up": "N0TREAL3",
    "lo": "n0treal3",
    "u64": "N0tReAl3",
    "b64": "N0tReAl3",
    "b32": "NOTREAL7",
    "b32l": "notreal7",
    "HX": "0Bad0bAD",
    "b32u": "N0TREA7",
    "b32n": "n0trea7",
    "d": "00030741",
}
_FIELD = re.compile(r"\{([A-Za-z0-9]+)(?::(\d+))?\}")


def sample(template: str, salt: int = 0) -> str:
    """The text of a template; another `salt` gives other bodies."""
    made = iter(range(1, 1000))

    def fill(match: re.Match[str]) -> str:
        name, length = match[1], match[2]
        if length is None:
            return _block(name, salt)
        return body(name, int(length), salt + next(made) * 3)

    return _FIELD.sub(fill, template).replace("\\n", "\n")


def body(alphabet: str, length: int, salt: int = 0) -> str:
    """`length` characters of an alphabet after the marker."""
    letters = _ALPHABETS[alphabet]
    marker = _MARKERS[alphabet]
    out = list(marker[: max(0, length - 1)])
    out += [
        letters[(place * place * 3 + place * 7 + salt * 5) % len(letters)]
        for place in range(len(out), length)
    ]
    return "".join(out[:length])


def _block(name: str, salt: int) -> str:
    if name == "uuid":
        digits = body("hx", 32, salt)
        return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
    if name == "basic":
        return base64.b64encode(f"app:{body('an', 18, salt)}".encode()).decode()
    if name == "jwt":
        parts = ({"alg": "none"}, {"sub": "not-real", "n": salt})
        heads = [
            base64.urlsafe_b64encode(json.dumps(p).encode()).decode().rstrip("=") for p in parts
        ]
        return ".".join((*heads, body("u64", 43, salt)))
    lines = "\n".join(body("b64", 64, salt + i) for i in range(3))
    kind = "PRIVATE KEY"
    if name == "pem":
        last = body("b64", 30, salt) + "=="
        return f"-----BEGIN RSA {kind}-----\n{lines}\n{last}\n-----END RSA {kind}-----"
    if name == "pemcut":
        return f"-----BEGIN {kind}-----\n{lines}"
    if name == "ppk":
        return (
            "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nComment: x\n"
            f"Public-Lines: 1\n{lines}\n"
            f"Private-Lines: 1\n{lines}\nPrivate-MAC: {body('hx', 64, salt)}"
        )
    raise KeyError(name)
