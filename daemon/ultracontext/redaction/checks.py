"""The named checks of rules: what a match must pass besides its pattern.

A check gets the match and the span that would be masked and answers with that span, a smaller one,
or None. `likely` rules without a check of their own need a value that looks random.
"""

from __future__ import annotations

import re
from binascii import Error, a2b_base64, crc32
from collections.abc import Callable

from ultracontext.redaction import looks
from ultracontext.redaction.names import nature

Match = re.Match[bytes]
Spot = tuple[int, int]
Check = Callable[[Match, Spot], "Spot | None"]

_BLOB = re.compile(rb"[A-Za-z0-9+/=]*")
_BLOB_BYTES = 600
"""A run of base64 longer than this around a find is data, not a key."""


def accept(certain: bool, checks: tuple[str, ...], match: Match, spot: Spot) -> Spot | None:
    """The span to mask of a match, or None when it is no secret."""
    for name in checks:
        checked = CHECKS[name](match, spot)
        if checked is None:
            return None
        spot = checked
    value = match.string[spot[0] : spot[1]]
    if certain:
        doubtful = looks.is_filler(value) or _in_blob(match, spot)
        return spot if not doubtful or proved(checks, value) else None
    if not checks and not (looks.is_random(value) and not _in_other(match, spot)):
        return None
    return spot


def _in_blob(match: Match, spot: Spot) -> bool:
    """Whether the match lies inside a long run of base64 that is far larger than it."""
    data = match.string
    if spot[1] - spot[0] > 200 or spot[0] == 0 or data[spot[0] - 1 : spot[0]] not in b"+/":
        return False
    run = _BLOB.match(data, spot[1])
    after = run.end() - spot[1] if run else 0
    return after > _BLOB_BYTES


def _word(name: str) -> Check:
    def check(match: Match, spot: Spot) -> Spot | None:
        kind = nature(match["name"].decode("ascii", "replace"))
        if not kind or (name == "password" and kind != "password"):
            return None
        return spot

    return check


def _bare_name(match: Match, spot: Spot) -> Spot | None:
    """`PASS: a test` is the result of a test, `arn:…:secret:name` the name of a secret."""
    place = match.start("name")
    if (
        match.string[place - 1 : place] == b":"
        and b"arn:" in match.string[max(0, place - 120) : place]
    ):
        return None
    if match["name"] == b"PASS" and match.string[match.end("name") :][:1] == b":":
        return None
    return spot


def _in_other(match: Match, spot: Spot) -> bool:
    """Whether a short prefix stands inside a longer random text: a hash in base64, a blob."""
    data, place = match.string, spot[0]
    if b"AAAAAA" in data[place : spot[1]]:
        return True
    if data[place - 1 : place] not in (b"-", b"_", b"+", b"/") or not place:
        return False
    run = _LAST_RUN.search(data, max(0, place - 80), place)
    return run is not None and len(run[0]) >= 12 and looks.is_random(run[0])


_LAST_RUN = re.compile(rb"[A-Za-z0-9+/_-]+\Z")


def _pgpass(match: Match, spot: Spot) -> Spot | None:
    """A line of a .pgpass is no name of a cloud's resource."""
    line = match.string.rfind(b"\n", 0, match.start()) + 1
    return None if b"arn:" in match.string[line : match.start()] else spot


def _trimmed(match: Match, spot: Spot) -> Spot | None:
    """Signs that end a clause, a list or a call do not belong to a bare value."""
    start, end = spot
    data = match.string
    while end > start and data[end - 1 : end] in (b",", b";", b")", b"}", b"]", b".", b":", b"|"):
        end -= 1
    return (start, end) if end > start else None


def _secret(match: Match, spot: Spot) -> Spot | None:
    return spot if looks.is_secret(match.string[spot[0] : spot[1]]) else None


def _bare(match: Match, spot: Spot) -> Spot | None:
    """An unquoted value: it looks random, or is a password with a sign that no name has."""
    value = match.string[spot[0] : spot[1]]
    if _repeats(value, match["name"]):
        return None
    if looks.is_secret(value):
        return spot
    kind = nature(match["name"].decode("ascii", "replace"))
    signs = re.search(rb"[!@#$%^&*+=?~]", value) is not None
    return spot if kind == "password" and signs and looks.is_password(value) else None


def _password(match: Match, spot: Spot) -> Spot | None:
    return spot if looks.is_password(match.string[spot[0] : spot[1]]) else None


def _quoted(match: Match, spot: Spot) -> Spot | None:
    """A quoted value: a password's may be weaker than another secret's."""
    value = match.string[spot[0] : spot[1]]
    kind = nature(match["name"].decode("ascii", "replace"))
    good = looks.suits(kind, value)
    foreign = _FOREIGN.search(value) is not None or _repeats(value, match["name"])
    return spot if kind and good and not foreign else None


_FOREIGN = re.compile(rb"(?:\\+u[0-9A-Fa-f]{4}){2}")
"""Words of another alphabet, escaped."""


def _repeats(value: bytes, name: bytes) -> bool:
    """`Socks5Auth = Socks5Auth`: a value that is its own name is a variable or a type."""
    return value.lower() == name[-len(value) :].lower()


def _told(match: Match, spot: Spot) -> Spot | None:
    """A password in prose must look like nothing else: mixed case or a sign besides the digit."""
    value = match.string[spot[0] : spot[1]]
    if _KEY_ID.fullmatch(value) is not None:
        return None
    mixed = value.lower() != value and value.upper() != value
    signs = re.search(rb"[!@#$%^&*+=?~]", value) is not None
    return spot if (mixed or signs) and looks.is_secret(value) else None


def _strong(match: Match, spot: Spot) -> Spot | None:
    """Said after the word alone: mixed case, two numbers, and no path, name or version."""
    value = match.string[spot[0] : spot[1]]
    mixed = value.lower() != value and value.upper() != value
    if not mixed or len(re.findall(rb"\d+", value)) < 2 or re.search(rb"[/():;,|<>]|\.\w", value):
        return None
    return spot if looks.is_secret(value) else None


def _kube_secret(match: Match, spot: Spot) -> Spot | None:
    """A value of `data` or `stringData` in a manifest of kind Secret."""
    data, place = match.string, match.start()
    low = max(0, place - 6000, data.rfind(b"\n---", 0, place))
    around = data[low : place + 6000].split(b"\n---")[0]
    block = max(_KUBE_DATA.finditer(data, low, place + 1), key=re.Match.start, default=None)
    if block is None or _KUBE_KIND.search(around) is None:
        return None
    between = data[block.end() : place]
    if block["json"] is not None:
        return spot if b"}" not in between else None
    indent = len(block["indent"])
    lines = [line for line in between.split(b"\n") if line.strip()]
    inside = all(len(line) - len(line.lstrip()) > indent for line in lines)
    return spot if inside and data[place : place + 1] == b"\n" else None


_KUBE_KIND = re.compile(rb"(?:^|[\s{,\"'])kind[\"']?[ \t]*:[ \t]*[\"']?Secret\b")
_KUBE_DATA = re.compile(
    rb"(?:\n|^)(?P<indent>[ \t]*)(?:data|stringData):[ \t]*(?=\r?\n)"
    rb"|(?P<json>\"(?:data|stringData)\"\s*:\s*)(?=\{)"
)
_KEY_ID = re.compile(rb"(?:0x)?[0-9A-Fa-f]{8,40}")
"""The name of a public key."""


def _url_password(match: Match, spot: Spot) -> Spot | None:
    """The password of a URL: anything but a reference or a placeholder."""
    value = match.string[spot[0] : spot[1]]
    if looks.is_reference(value) or re.match(rb"\d{1,5}(?:,|$)", value):
        return None
    if b"[" in match[0][: spot[0] - match.start()] and value.endswith(b"]"):
        return None  # the syntax of a URL: `ftp://[[user][:pass]@]host`
    if match[0][:4].lower() == b"http" and re.fullmatch(rb"[a-z]{1,6}|[A-Z_]+", value):
        return None
    return spot if value.lower() not in _URL_WORDS else None


_URL_WORDS = frozenset(
    b"password pass passwd pwd secret user pw pswd passwort token kennwort wachtwoord senha"
    b" contrasena motdepasse lozenord haslo parol".split()
)


def _basic(match: Match, spot: Spot) -> Spot | None:
    """Basic credentials decode to `user:password`."""
    value = match.string[spot[0] : spot[1]].replace(b"-", b"+").replace(b"_", b"/").rstrip(b"=")
    try:
        plain = a2b_base64(value[: len(value) - (len(value) % 4 == 1)] + b"=" * (-len(value) % 4))
    except Error:
        return None
    if match.string[spot[1] : spot[1] + 1] == b"=":
        return None
    named = re.search(rb"auth\\{0,7}\"", match[0]) is not None
    readable = plain.isascii() and plain.decode("ascii").isprintable()
    if readable and b":" in plain:
        return spot
    return spot if named and looks.is_random(value) else None


def _pem(match: Match, spot: Spot) -> Spot | None:
    """A private key holds a body, and is not the words of a text about one."""
    body = re.sub(rb"\\+[nrt]|-----[A-Z0-9 ]*-----", b" ", match.string[spot[0] : spot[1]])
    return spot if re.search(rb"[A-Za-z0-9+/=]{24}", body) else None


def _pem_tail(match: Match, spot: Spot) -> Spot | None:
    """The lines of base64 before a footer whose header was cut off."""
    data, start = match.string, spot[0]
    lines = 0
    for _ in range(400):
        end = start
        while end and data[end - 1] in _PEM_GAP:
            end -= 1
        begin = end
        while begin and data[begin - 1] in _PEM_BODY:
            begin -= 1
        line = data[begin:end]
        if len(line) < 20 and not ((lines and line.isdigit()) or (not lines and line)):
            break
        lines += len(line) >= 20
        start = begin
    return (start, spot[1]) if lines else None


_PEM_GAP = frozenset(b" \t\r\n\"',|>\xe2\x86\x92:")
_PEM_BODY = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=")


def _akid(match: Match, spot: Spot) -> Spot | None:
    return None if b"EXAMPLE" in match.string[spot[0] : spot[1]] else spot


def _pair(match: Match, spot: Spot) -> Spot | None:
    value = match.string[spot[0] : spot[1]]
    mixed = value.lower() != value and value.upper() != value
    return spot if mixed and looks.has_digit(value) and looks.entropy(value) >= 3.5 else None


def _cookie(match: Match, spot: Spot) -> Spot | None:
    """A cookie header in which at least one value looks like a secret."""
    pairs = match.string[spot[0] : spot[1]].split(b";")
    values = [pair.partition(b"=")[2] for pair in pairs]
    return spot if any(looks.is_secret(value) for value in values) else None


def _passed(_match: Match, spot: Spot) -> Spot:
    """A checksum only adds to what a pattern says: a token that fails it is masked as well."""
    return spot


def proved(checks: tuple[str, ...], value: bytes) -> bool:
    """Whether a token bears the checksum that its provider puts into it."""
    if "grafana" in checks:
        return _has_grafana(value)
    return "crc32" in checks and _has_crc32(value)


def _has_crc32(value: bytes) -> bool:
    """GitHub's and npm's: the last six are the CRC32 of what stands after the prefix, in base 62.

    GitHub's article on its token formats (2021-04) gives an example, which is a test here.
    """
    body = value[value.find(b"_") + 1 :]
    left, digits = crc32(body[:-6]), bytearray()
    for _ in range(6):
        left, digit = divmod(left, 62)
        digits.append(_BASE62[digit])
    return len(body) > 12 and body[-6:] == digits[::-1]


def _has_grafana(value: bytes) -> bool:
    """A service account's: the last eight are the CRC32 of all before `_`, least byte first, in
    hex (grafana, pkg/components/apikeygenprefixed, 2026-11)."""
    body, _, digits = value.rpartition(b"_")
    return digits == crc32(body).to_bytes(4, "little").hex().encode()


_BASE62 = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


FIELD_KINDS = ("password-field", "secret-field")
"""Names of masks that no rule of the tables makes."""


def field_kind(name: str, value: str) -> str:
    """The kind of secret that a JSON member is by its key, or nothing."""
    kind = nature(name)
    data = value.encode("utf-8", "surrogatepass")
    if not kind or len(data) > 8192:
        return ""
    if kind != "password" and b" " in data:
        return ""
    return f"{kind if kind == 'password' else 'secret'}-field" if looks.suits(kind, data) else ""


CHECKS: dict[str, Check] = {
    "name": _word(""),
    "password-name": _word("password"),
    "barename": _bare_name,
    "pgpass": _pgpass,
    "trim": _trimmed,
    "secret": _secret,
    "bare": _bare,
    "password": _password,
    "quoted": _quoted,
    "told": _told,
    "strong": _strong,
    "kubesecret": _kube_secret,
    "url": _url_password,
    "basic": _basic,
    "pem": _pem,
    "pemtail": _pem_tail,
    "akid": _akid,
    "pair": _pair,
    "cookie": _cookie,
    "crc32": _passed,
    "grafana": _passed,
}
