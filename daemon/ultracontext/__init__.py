"""UltraContext keeps the sessions of coding agents, masked, in a store with history."""

__version__ = "0.1.0"
