"""Names that make a value a secret, and those that only sound like it."""

from __future__ import annotations

import pytest

from ultracontext.redaction.names import nature


@pytest.mark.parametrize(
    "name",
    [
        "password",
        "DB_PASSWORD",
        "userPassword",
        "db-password",
        "PGPASSWORD",
        "MYSQL_ROOT_PASSWORD",
        "passphrase",
        "rootpw",
        "db_pass",
    ],
)
def test_passwords(name: str) -> None:
    assert nature(name) == "password"


@pytest.mark.parametrize(
    "name",
    [
        "token",
        "API_KEY",
        "apiKey",
        "x-api-key",
        "clientSecret",
        "SECRET_KEY_BASE",
        "GITHUB_TOKEN",
        "accessToken",
        "aws_secret_access_key",
        "private_key",
        "authorization",
        "AUTH_TOKEN_PROD",
        "credentials",
        "webhook_secret",
        "OPENAI_API_KEY",
        "signing-key",
        "bot_token",
    ],
)
def test_other_secrets(name: str) -> None:
    assert nature(name) == "secret"


@pytest.mark.parametrize(
    "name",
    [
        "max_tokens",
        "token_count",
        "tokenizer",
        "input_tokens",
        "next_token",
        "pageToken",
        "key",
        "primary_key",
        "public_key",
        "publicKeyToken",
        "password_reset_url",
        "tokenType",
        "secret_name",
        "keyboard",
        "author",
        "authority",
        "passed",
        "monkey",
        "session_key",
        "sessionId",
        "api_key_id",
        "token_limit",
        "has_password",
        "idempotency_key",
        "compass",
        "path",
        "pattern",
        "x" * 200,
        "MY_TOKEN=[redacted:github-token:00000000]",
    ],
)
def test_other_names(name: str) -> None:
    assert nature(name) == ""
