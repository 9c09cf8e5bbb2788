"""The HTTP server: speaks to the official SDKs of the original."""

from ultracontext.api.access import AccessLog
from ultracontext.api.options import DEFAULT_PORT, LOOPBACK, Options
from ultracontext.api.server import serve, serving
from ultracontext.api.service import Service

__all__ = [
    "DEFAULT_PORT",
    "LOOPBACK",
    "AccessLog",
    "Options",
    "Service",
    "serve",
    "serving",
]
