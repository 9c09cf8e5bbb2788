"""The tables on a server of the tests' own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from postgres import Cluster, running

from ultracontext.errors import StoreError
from ultracontext.store import open_store
from ultracontext.store.postgres import schema

pytestmark = [pytest.mark.full, pytest.mark.timeout(120)]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with running() as found:
        yield found


@pytest.fixture
def database(cluster: Cluster) -> Iterator[str]:
    name = cluster.fresh()
    yield cluster.url(name)
    cluster.drop(name)


def test_an_empty_database_is_no_store(database: str) -> None:
    with pytest.raises(StoreError) as caught:
        open_store(database)
    assert caught.value.code == "store-missing"


def test_programs_that_migrate_at_once_make_one_store(database: str) -> None:
    with ThreadPoolExecutor(6) as pool:
        stores = list(pool.map(lambda _: open_store(database, migrate=True), range(6)))
    for store in stores:
        assert store.within("x").list_contexts().contexts == []
        store.close()
    open_store(database).close()


@pytest.mark.parametrize(("version", "code"), [(2000, "store-newer"), (1003, None)])
def test_versions(database: str, version: int, code: str | None) -> None:
    open_store(database, migrate=True).close()
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("INSERT INTO versions (space, version) VALUES ('', %s)", (version,))
    if code is None:
        open_store(database).close()
        return
    with pytest.raises(StoreError) as caught:
        open_store(database)
    assert caught.value.code == code


def test_every_key_starts_with_the_space(database: str) -> None:
    open_store(database, migrate=True).close()
    with psycopg.connect(database) as connection:
        found = connection.execute(
            "SELECT c.relname, a.attname FROM pg_index i"
            " JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_class t ON t.oid = i.indrelid"
            " JOIN pg_namespace n ON n.oid = t.relnamespace"
            " JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = i.indkey[0]"
            " WHERE n.nspname = 'public'"
        ).fetchall()
    assert len(found) > 15
    assert {column for _, column in found} == {"space"}


def test_nothing_is_used_that_a_pooler_or_another_engine_lacks() -> None:
    text = "".join(statements for _, statements in schema.MIGRATIONS)
    assert not re.search(r"(?i)serial|sequence|trigger|function|plpgsql|listen|extension", text)
