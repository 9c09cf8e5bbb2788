"""UltraContext dashboard: a client of the daemon's control socket and of the SDK, nothing more.

It imports no other part of ``ultracontext``; import-linter holds that.
"""
