from __future__ import annotations

from ultracontext.runtime.hub import CLIENTS, HELD, WAITING, Hub


def publish(hub: Hub, count: int) -> None:
    hub.publish("committed", [{"n": n} for n in range(count)])


async def test_client_gets_what_comes_after_it() -> None:
    hub = Hub("a")
    publish(hub, 3)
    subscriber, missed, reset = hub.subscribe(None)
    assert subscriber is not None
    assert (missed, reset) == ([], False)
    publish(hub, 2)
    assert [subscriber.queue.get_nowait().number for _ in range(2)] == [4, 5]


async def test_cursor_replays_what_was_missed_once() -> None:
    hub = Hub("a")
    publish(hub, 5)
    _, missed, reset = hub.subscribe(hub.cursor(3))
    assert [event.number for event in missed] == [4, 5]
    assert not reset
    assert hub.subscribe(hub.cursor())[1:] == ([], False)


async def test_cursor_of_another_life_or_too_old_or_odd_is_a_reset() -> None:
    hub = Hub("a")
    publish(hub, HELD + 10)
    for cursor in ("b-3", "a-3", "a-999999", "a-", "a", "a-x", "a-" + "9" * 40, "-1"):
        _, missed, reset = hub.subscribe(cursor)
        assert (missed, reset) == ([], True), cursor
    assert hub.subscribe(hub.cursor(10))[2] is False


async def test_slow_client_is_marked_and_bounded_and_others_go_on() -> None:
    hub = Hub("a")
    slow, _, _ = hub.subscribe(None)
    publish(hub, WAITING + 5)
    fast, _, _ = hub.subscribe(None)
    publish(hub, 1)
    assert slow is not None
    assert fast is not None
    assert slow.lost.is_set()
    assert slow.queue.qsize() == WAITING
    assert not fast.lost.is_set()
    assert fast.queue.qsize() == 1


async def test_number_of_clients_is_bounded() -> None:
    hub = Hub("a")
    clients = [hub.subscribe(None)[0] for _ in range(CLIENTS + 1)]
    assert clients[-1] is None
    assert clients[0] is not None
    hub.unsubscribe(clients[0])
    assert hub.subscribe(None)[0] is not None
