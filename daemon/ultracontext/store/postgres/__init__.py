"""The PostgreSQL backend: contexts of a team. What this machine captures stays in SQLite."""

from ultracontext.store.postgres.store import PostgresStore, open_postgres

__all__ = ["PostgresStore", "open_postgres"]
