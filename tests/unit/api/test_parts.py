"""Parts of the server without a server: hosts, rates, keys."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from ultracontext.api import Options
from ultracontext.api.access import request_id
from ultracontext.api.auth import AdminKey, KeyRing, bearer
from ultracontext.api.hosts import Hosts
from ultracontext.api.limits import RateLimit
from ultracontext.store.keys import Key, issue
from ultracontext.store.keys.memory import MemoryKeys
from ultracontext.store.keys.tokens import MARKS, RANDOM, new_key, prefix_of

NOW = datetime(2026, 11, 30, tzinfo=UTC)


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_rate_limit_lets_a_burst_through_and_then_the_rate() -> None:
    clock = Clock()
    limit = RateLimit(10, clock)
    assert [limit.wait("a") for _ in range(20)] == [0.0] * 20
    assert 0 < limit.wait("a") <= 0.1
    assert limit.wait("b") == 0
    clock.now += 0.1
    assert limit.wait("a") == 0
    assert limit.wait("a") > 0
    clock.now += 1000
    assert [limit.wait("a") for _ in range(20)] == [0.0] * 20
    assert limit.wait("a") > 0


def test_no_rate_is_no_limit() -> None:
    limit = RateLimit(0, Clock())
    assert {limit.wait("a") for _ in range(1000)} == {0.0}


def test_default_rates() -> None:
    assert Options().requests_per_second == 0
    assert Options(host="0.0.0.0").requests_per_second == 100
    assert Options(host="0.0.0.0", rate=0).requests_per_second == 0
    assert Options(rate=5).requests_per_second == 5


@pytest.mark.parametrize(
    ("header", "allowed"),
    [("example.org", True), ("example.org:80", True), ("EXAMPLE.org.", True), ("other.org", False),
     ("localhost", True), ("[fe80::1%eth0]:1", True), ("10.0.0.1", True), (None, True),
     ("example.org.evil", False), ("example.org:port", False)],
)  # fmt: skip
def test_hosts(header: str | None, allowed: bool) -> None:
    hosts = Hosts(Options(host="0.0.0.0", allowed_hosts=("Example.org",)))
    assert hosts.allows(header) is allowed


@pytest.mark.parametrize(
    ("header", "key"),
    [("Bearer k", "k"), ("bearer k more", "k"), ("Basic k", None), ("Bearer", None), ("", None),
     ("Bearer  k", None), (None, None), ("k", None)],
)  # fmt: skip
def test_bearer(header: str | None, key: str | None) -> None:
    assert bearer(header) == key


def test_admin_key() -> None:
    assert AdminKey("secret").is_it("secret")
    assert not AdminKey("secret").is_it("secret2")
    for none in (None, ""):
        assert not AdminKey(none).is_it(none)
        assert not AdminKey(none).is_it("\0" * 32)


def test_keys_have_many_random_characters_and_a_prefix_of_their_own() -> None:
    keys = {new_key() for _ in range(2000)}
    assert len({prefix_of(key) for key in keys}) == 2000
    assert all(len(key) == len(MARKS[0]) + RANDOM for key in keys)
    assert RANDOM * 5.95 - 12 * 5.95 > 192  # of what `keys list` does not show
    assert new_key(test=True).startswith("uc_test_")


class Counting(MemoryKeys):
    def __init__(self) -> None:
        super().__init__()
        self.asked = {"epoch": 0, "find": 0}

    def epoch(self) -> int:
        self.asked["epoch"] += 1
        return super().epoch()

    def find(self, prefix: str) -> Key | None:
        self.asked["find"] += 1
        return super().find(prefix)


def test_the_cache_asks_for_the_epoch_at_most_once_a_second() -> None:
    keys, clock = Counting(), Clock()
    made = issue(keys, name="n", space="s", new_space=True, now=NOW)
    ring = KeyRing(keys, clock)
    for _ in range(50):
        assert (ring.known(made.key) or ring.look_up(made.key)) is not None
    assert keys.asked == {"epoch": 1, "find": 1}
    keys.revoke(made.prefix, now=NOW)
    assert ring.known(made.key) is not None  # another process did it, within this second
    clock.now += 1.0
    assert ring.known(made.key) is None
    assert ring.look_up(made.key) is None


def test_this_process_forgets_at_once() -> None:
    keys, clock = Counting(), Clock()
    made = issue(keys, name="n", space="s", new_space=True, now=NOW)
    ring = KeyRing(keys, clock)
    assert ring.look_up(made.key) is not None
    keys.revoke(made.prefix, now=NOW)
    ring.changed()
    assert ring.known(made.key) is None
    assert ring.look_up(made.key) is None


def test_unknown_keys_are_not_looked_for_in_the_store_unless_they_look_like_keys() -> None:
    keys = Counting()
    ring = KeyRing(keys, Clock())
    for text in ("x", "uc_live_short", "sk-" + "a" * 60, "uc_live_" + "a" * 1000):
        assert ring.look_up(text) is None
    assert keys.asked["find"] == 0


@pytest.mark.parametrize("given", [None, "", "x" * 65, "a\nb", "é"])
def test_request_ids_of_callers_are_plain(given: str | None) -> None:
    assert request_id(given) != given
    assert len(request_id(given)) == 16
    assert request_id("abc-1") == "abc-1"
