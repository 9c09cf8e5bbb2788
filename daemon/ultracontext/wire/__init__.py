"""The shapes of the HTTP API, shared by the server, the SDK and the HTTP store.

Requests are checked in the order and with the texts of the original server (API 0.7.2), so that
its official SDKs work unmodified.
"""

from ultracontext.wire import bodies, queries, shapes
from ultracontext.wire.faults import RequestError
from ultracontext.wire.payload import parse, render
from ultracontext.wire.times import iso, iso_of, parse_instant

__all__ = [
    "RequestError",
    "bodies",
    "iso",
    "iso_of",
    "parse",
    "parse_instant",
    "queries",
    "render",
    "shapes",
]
