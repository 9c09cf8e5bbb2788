"""What both clients share: how they are set up, what they mask, what an answer becomes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ultracontext.sdk.errors import UltraContextHttpError
from ultracontext.wire.link import DEFAULT_SECONDS, RETRIES, Address, Request, Response

if TYPE_CHECKING:
    from ultracontext.redaction import Redactor

DEFAULT_BASE_URL = "http://127.0.0.1:8787"
"""`ultracontext serve` on this machine: nothing is sent elsewhere unless it is said where."""


def address(
    api_key: str | None,
    base_url: str | None,
    timeout: float | None,
    headers: Mapping[str, str] | None,
    retries: int,
) -> Address:
    """Arguments win over `ULTRACONTEXT_API_KEY` and `ULTRACONTEXT_BASE_URL`."""
    if retries < 0:
        raise ValueError("max_retries is negative")
    base = base_url or os.environ.get("ULTRACONTEXT_BASE_URL") or DEFAULT_BASE_URL
    return Address(
        base_url=base.rstrip("/"),
        api_key=api_key or os.environ.get("ULTRACONTEXT_API_KEY") or None,
        timeout_seconds=timeout or DEFAULT_SECONDS,
        headers=dict(headers or {}),
        retries=retries,
    )


def result(request: Request, response: Response) -> Any:
    """The JSON of an answer. Raises UltraContextHttpError."""
    fine = 200 <= response.status < 300 or response.status in request.accepted
    if not fine:
        raise UltraContextHttpError(
            f"HTTP {response.status}: {response.text}",
            status=response.status,
            url=response.url,
            body=response.text,
        )
    return response.json()


class Masker:
    """Masks bodies before they leave the process, where that was asked for."""

    def __init__(self, active: bool) -> None:
        self._active = active
        self._redactor: Redactor | None = None

    def __call__(self, request: Request) -> Request:
        """The request with every secret in its body masked. Ids and places stay."""
        if not self._active or request.body is None:
            return request
        return replace(request, body=self._masked(request.body))

    def _masked(self, body: Any) -> Any:
        from ultracontext.wire.masking import masked

        if self._redactor is None:
            from ultracontext.sdk.local import load_redactor_of_home

            self._redactor = load_redactor_of_home()
        if isinstance(body, list):
            return [self._masked(item) for item in body]
        kept = {name: body[name] for name in KEPT if name in body}
        return {**masked(self._redactor, body), **kept}


KEPT = ("id", "ids", "index", "from", "version", "at", "before", "permanent", "forks")
"""Parts of a body that name something; they are no text."""

__all__ = ["RETRIES", "Masker", "address", "result"]
