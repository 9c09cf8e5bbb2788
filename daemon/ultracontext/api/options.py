"""How a server is to be."""

from __future__ import annotations

from dataclasses import dataclass

LOOPBACK = ("127.0.0.1", "::1", "localhost")
DEFAULT_PORT = 8787
BODY_BYTES = 64 << 20
AUTO_RATE = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Where a server listens and what it lets through."""

    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    allowed_hosts: tuple[str, ...] = ()
    """Names in `Host` besides the one it is bound to, loopback and plain addresses."""
    admin_key: str | None = None
    """Opens `/v1/keys`; None: nothing does but keys of the role `admin`."""
    rate: int | None = None
    """Requests a second of one key, with a burst of twice as many; 0 = no limit; None: none on
    loopback, else `AUTO_RATE`."""
    redact_on_ingest: tuple[str, ...] = ()
    """Spaces in which what is appended is masked first; `*` = all."""
    body_bytes: int = BODY_BYTES
    body_seconds: float = 60.0
    """How long a body may take to arrive."""
    answer_seconds: float = 60.0
    """How long the store may take over a request."""
    write_seconds: float = 30.0
    """How long a client may take over one piece of an answer."""
    stop_seconds: float = 20.0
    """How long accepted requests may take once a stop was asked for."""
    threads: int = 8

    @property
    def on_loopback(self) -> bool:
        return self.host in LOOPBACK

    @property
    def requests_per_second(self) -> int:
        if self.rate is None:
            return 0 if self.on_loopback else AUTO_RATE
        return self.rate

    def masks(self, space: str) -> bool:
        return "*" in self.redact_on_ingest or space in self.redact_on_ingest
