"""UltraContext keeps the sessions of coding agents, masked, in a store with history.

    from ultracontext import UltraContext, AsyncUltraContext

is the SDK, loaded when it is named: `import ultracontext` alone costs nothing.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ultracontext.sdk import (
        AppendResponse,
        AsyncUltraContext,
        Context,
        CreateContextResponse,
        DeleteManyResponse,
        DeleteManyResult,
        DeleteResponse,
        GetContextResponse,
        ListContextsResponse,
        Message,
        PermanentDeleteResponse,
        UltraContext,
        UltraContextError,
        UltraContextHttpError,
        UpdateResponse,
        Version,
    )

__version__ = "0.1.0"

__all__ = [
    "AppendResponse",
    "AsyncUltraContext",
    "Context",
    "CreateContextResponse",
    "DeleteManyResponse",
    "DeleteManyResult",
    "DeleteResponse",
    "GetContextResponse",
    "ListContextsResponse",
    "Message",
    "PermanentDeleteResponse",
    "UltraContext",
    "UltraContextError",
    "UltraContextHttpError",
    "UpdateResponse",
    "Version",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module("ultracontext.sdk"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
