"""The Python SDK: a drop-in for the official one, and the embedded store without a server."""

from ultracontext.sdk.async_client import AsyncUltraContext
from ultracontext.sdk.client import UltraContext
from ultracontext.sdk.errors import UltraContextError, UltraContextHttpError
from ultracontext.sdk.types import (
    AppendResponse,
    Context,
    ContextInfo,
    CreateContextResponse,
    DeleteManyResponse,
    DeleteManyResult,
    DeleteResponse,
    Difference,
    GetContextResponse,
    ListContextsResponse,
    LogEntry,
    Message,
    PermanentDeleteResponse,
    UpdateResponse,
    Verification,
    Version,
)

__all__ = [
    "AppendResponse",
    "AsyncUltraContext",
    "Context",
    "ContextInfo",
    "CreateContextResponse",
    "DeleteManyResponse",
    "DeleteManyResult",
    "DeleteResponse",
    "Difference",
    "GetContextResponse",
    "ListContextsResponse",
    "LogEntry",
    "Message",
    "PermanentDeleteResponse",
    "UltraContext",
    "UltraContextError",
    "UltraContextHttpError",
    "UpdateResponse",
    "Verification",
    "Version",
]
