"""What the SDK raises."""

from __future__ import annotations

from ultracontext.errors import UltraContextError


class UltraContextHttpError(UltraContextError):
    """The server refused a request. `str()` is `HTTP <status>: <body>`.

    Faults of the transport (no connection, a timeout) are raised as `httpx` has them.
    """

    code = "http"

    def __init__(self, message: str, status: int, url: str, body: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.url = url
        self.body = body


__all__ = ["UltraContextError", "UltraContextHttpError"]
