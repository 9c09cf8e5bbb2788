"""What agents may read of each other, over the Model Context Protocol.

`tools` is the same for every transport; `stdio` serves it by the official SDK. Each call is bound
to a `Scope`: what lies outside of it does not exist for the client.
"""

from ultracontext.mcp.desk import Desk
from ultracontext.mcp.scope import Everything, Globs, Here, Scope, scope_of

__all__ = ["Desk", "Everything", "Globs", "Here", "Scope", "scope_of"]
