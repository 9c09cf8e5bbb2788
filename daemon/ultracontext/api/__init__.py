"""The HTTP server: speaks to the official SDKs of the original."""

from ultracontext.api.access import AccessLog
from ultracontext.api.options import DEFAULT_PORT, LOOPBACK, Options
from ultracontext.api.server import serving, stop_signal
from ultracontext.api.service import Service

__all__ = [
    "DEFAULT_PORT",
    "LOOPBACK",
    "AccessLog",
    "Options",
    "Service",
    "serving",
    "stop_signal",
]
