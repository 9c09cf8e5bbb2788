"""All formats in all positions are masked; none of the look-alikes is."""

from __future__ import annotations

import pytest
from redaction_corpus import POSITIONS, raw, record, rows, secrets

from ultracontext.redaction import Redactor
from ultracontext.redaction.confirm import MASK

ENCODED = {"base64", "base64-url", "percent"}


@pytest.mark.parametrize("position", POSITIONS)
def test_every_format_is_masked(hyperscan_redactor: Redactor, position: str) -> None:
    missed = []
    for name, text, tail in secrets():
        masked = hyperscan_redactor.redact(record(position, text))
        out = masked.body.decode() if masked.native is not None else str(masked.text)
        if not masked.masks or (position not in ENCODED and tail in out):
            missed.append(name)
    assert missed == []


@pytest.mark.parametrize("position", POSITIONS)
def test_no_look_alike_is_touched(hyperscan_redactor: Redactor, position: str) -> None:
    touched = []
    for row in rows("look-alikes.tsv"):
        before = record(position, row["text"].replace("\\n", "\n"))
        masked = hyperscan_redactor.redact(before)
        if masked.masks or (masked.native is not None and masked.body != before.data):
            touched.append((row["id"], dict(masked.masks)))
    assert touched == []


def test_there_are_rules_for_the_large_providers(hyperscan_redactor: Redactor) -> None:
    assert hyperscan_redactor.rules >= 300


def test_a_mask_names_the_kind_of_the_provider(hyperscan_redactor: Redactor) -> None:
    text = hyperscan_redactor.text("x gh" + "p_N0tReAl3ahovCJQX4bipwDKRY5cjqxELSZ6d y")
    mask = MASK.search(text.encode())
    assert mask is not None
    assert mask[0].startswith(b"[redacted:github-token:")


def test_one_secret_has_one_mask_in_every_encoding(hyperscan_redactor: Redactor) -> None:
    name, text, _ = next(s for s in secrets() if s[0] == "rule:github-token")
    masks = set()
    for position in POSITIONS:
        masked = hyperscan_redactor.redact(record(position, text))
        out = masked.body or str(masked.text).encode()
        masks |= set(MASK.findall(out))
    assert len(masks) == 1, name


@pytest.mark.parametrize(
    "text",
    [
        "the token is a word and the password is required",
        "password = getpass.getpass()",
        'api_key = os.environ["OPENAI_API_KEY"]',
        "export TOKEN=$(vault read -field=token secret/ci)",
        '"max_tokens": 4096, "input_tokens": 18233, "tokenizer": "o200k_base"',
        "def test_password_reset_token_v2(client):",
        "Authorization: Bearer ${TOKEN}",
        "Authorization: Basic realm",
        "SECRET_KEY=changeme",
        "password: str = Field(min_length=8)",
        "private_key: ed25519.Ed25519PrivateKey",
        "next_token=abCDe12FGhi3JKlmn4OPqrs",
        "git commit 3f9c2ab75e8d10467b2c9fa3d81e04b6a5c7d290",
        "https://example.com:8443/a/b@2x.png",
        "-----BEGIN PRIVATE KEY-----\nyour key here\n-----END PRIVATE KEY-----",
        "sessionId=923a7369-94e3-4f91-9a61-dbe22e44158b phase=start",
        "12:30:45:user:group:thing",
        "curl -u $USER:$PASS https://example.com",
        'type="password" name="password" placeholder="Password1"',
    ],
)
def test_prose_and_code_about_secrets_pass(redactor: Redactor, text: str) -> None:
    assert redactor.text(text) == text


@pytest.mark.parametrize(
    ("text", "gone", "kept"),
    [
        ("postgres://admin:F4KEpass@10.0.0.5/prod", "F4KEpass", "@10.0.0.5/prod"),
        ("postgres://admin:F4K%40p%2Fss9@10.0.0.5/prod", "F4K%40p", "@10.0.0.5/prod"),
        ("curl -u bot:N0tReAl9x https://h.example.invalid", "N0tReAl9x", "-u bot:"),
        ("DB_PASSWORD=N0tRe@l#9xQ\nNEXT=1", "N0tRe@l#9xQ", "NEXT=1"),
        ('db:\n  password: "N0tReAl-9x Q"\n', "", 'password: "'),
        ("machine h login bot password N0tReAl9xyz", "N0tReAl9xyz", "login bot"),
        ("mysql -u root -pN0tReAl9xyz app", "N0tReAl9xyz", "mysql -u root"),
        ("PGPASSWORD='N0tReAl9xyz' psql", "N0tReAl9xyz", "psql"),
        ("Cookie: theme=dark; sid=N0tReAl9xyzAAbb11", "N0tReAl9xyz", "Cookie: "),
        ("my password is N0tReAl!9xyz, please use it", "N0tReAl!9xyz", ", please use it"),
        (
            "aws AKIA" + "NOTREAL7GNU3DKRY / N0tReAl3wXyZaB4cD5eF6gH7iJ8kL9mN0oPqRsTu",
            "N0tReAl3wXy",
            "aws",
        ),
        ("--api-key=N0tReAl9xyzAA11 --verbose", "N0tReAl9xyz", "--verbose"),
    ],
)
def test_only_the_secret_of_a_line_goes(
    redactor: Redactor, text: str, gone: str, kept: str
) -> None:
    out = redactor.text(text)
    assert not gone or gone not in out
    assert kept in out


def test_a_nested_document_stays_valid(redactor: Redactor) -> None:
    import json

    _, pem, _ = next(s for s in secrets() if s[0] == "rule:private-key")
    inner = json.dumps({"type": "service_account", "private_key": pem, "client": "x"})
    native = redactor.redact(raw({"content": json.dumps({"file": inner})})).native
    again = json.loads(json.loads(native["content"])["file"])
    assert again["client"] == "x"
    assert again["private_key"].startswith("[redacted:private-key:")


@pytest.mark.parametrize(
    "form", ["real", "escaped", "twice", "numbered", "one-line", "cut", "tail"]
)
def test_every_form_of_a_private_key_goes(redactor: Redactor, form: str) -> None:
    _, pem, _ = next(s for s in secrets() if s[0] == "rule:private-key")
    lines = pem.split("\n")
    text = {
        "real": pem,
        "escaped": pem.replace("\n", "\\n"),
        "twice": pem.replace("\n", "\\\\n"),
        "numbered": "\n".join(f"{i:6}\t{line}" for i, line in enumerate(lines, 1)),
        "one-line": " ".join(lines),
        "cut": "\n".join(lines[:3]),
        "tail": "\n".join(lines[2:]),
    }[form]
    out = redactor.text(f"before {text} after")
    assert not any(line[:20] in out for line in lines[1:-1] if line in text)
    assert out.startswith("before ")


def test_a_public_key_and_a_certificate_stay(redactor: Redactor) -> None:
    body = "\n".join(["MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE" * 2] * 3)
    for kind in ("PUBLIC KEY", "CERTIFICATE"):
        text = f"-----BEGIN {kind}-----\n{body}\n-----END {kind}-----"
        assert redactor.text(text) == text
