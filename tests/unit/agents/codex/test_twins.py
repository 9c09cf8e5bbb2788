from __future__ import annotations

from ultracontext.agents.codex.twins import ITEM, LEGACY, OPEN_LIMIT, PAGED, SAME_LIMIT, Twins


def test_item_and_event_are_one_in_either_order() -> None:
    twins = Twins()
    assert twins.meet("user", ITEM, "hi", "m1") is None
    assert twins.meet("user", LEGACY, "hi", "m2") == "m1"
    assert twins.meet("assistant", PAGED, "yo", "m3") is None
    assert twins.meet("assistant", ITEM, "yo", "m4") == "m3"


def test_the_same_text_said_again_is_new() -> None:
    twins = Twins()
    found = [
        twins.meet("user", channel, "go on", str(n)) for n, channel in enumerate([ITEM, LEGACY] * 3)
    ]
    assert found == [None, "0", None, "2", None, "4"]


def test_three_channels_beside_each_other_are_one() -> None:
    twins = Twins()
    assert twins.meet("user", ITEM, "hi", "m1") is None
    assert twins.meet("user", LEGACY, "hi", "m2") == "m1"
    assert twins.meet("user", PAGED, "hi", "m3") == "m1"


def test_a_change_of_style_does_not_swallow_a_repeated_answer() -> None:
    twins = Twins()
    twins.meet("assistant", LEGACY, "Done.", "m1")
    twins.meet("assistant", ITEM, "Done.", "m2")
    twins.meet("user", ITEM, "again", "m3")
    twins.meet("user", PAGED, "again", "m4")
    assert twins.meet("assistant", PAGED, "Done.", "m5") is None
    assert twins.meet("assistant", ITEM, "Done.", "m6") == "m5"


def test_all_items_first_then_all_events() -> None:
    twins = Twins()
    texts = ["a", "b", "a", "c"]
    assert [twins.meet("user", ITEM, text, f"i{n}") for n, text in enumerate(texts)] == [None] * 4
    met = [twins.meet("user", LEGACY, text, f"e{n}") for n, text in enumerate(texts)]
    assert sorted(map(str, met)) == ["i0", "i1", "i2", "i3"]


def test_the_items_own_id_binds_texts_that_differ() -> None:
    twins = Twins()
    twins.meet("assistant", PAGED, "short", "m1", "msg_1")
    twins.meet("assistant", PAGED, "other", "m2", "msg_2")
    assert twins.meet("assistant", ITEM, "short [cited]", "m3", "msg_1") == "m1"


def test_an_answers_item_right_after_its_event_may_differ() -> None:
    twins = Twins()
    twins.meet("assistant", LEGACY, "Use it.", "m1")
    assert twins.meet("assistant", ITEM, "Use it. <oai-mem-citation>", "m2") == "m1"


def test_an_event_after_an_unspoken_item_is_no_twin() -> None:
    twins = Twins()
    twins.meet("assistant", ITEM, "SUMMARY", "m1")
    assert twins.meet("assistant", PAGED, "Answer", "m2") is None


def test_pause_parts_neighbours() -> None:
    twins = Twins()
    twins.meet("assistant", LEGACY, "Use it.", "m1")
    twins.pause()
    assert twins.meet("assistant", ITEM, "Other", "m2") is None


def test_an_event_does_not_join_injected_text_that_differs() -> None:
    twins = Twins()
    twins.meet("user", ITEM, "<environment_context>", "m1", typed=False)
    assert twins.meet("user", LEGACY, "hello", "m2") is None
    assert twins.meet("user", LEGACY, "<environment_context>", "m3") == "m1"


def test_memory_is_bounded() -> None:
    twins = Twins()
    for number in range(OPEN_LIMIT + 500):
        twins.meet("user", ITEM, f"t{number}", f"m{number}", f"id{number}")
    for number in range(SAME_LIMIT * 3):
        twins.meet("user", ITEM, "same", f"s{number}")
    assert len(twins._by_text) <= OPEN_LIMIT
    assert len(twins._by_id) <= OPEN_LIMIT
    assert max(len(same) for same in twins._by_text.values()) <= SAME_LIMIT


def test_whole_pairs_leave_nothing_behind() -> None:
    twins = Twins()
    for number in range(1000):
        twins.meet("assistant", PAGED, f"t{number}", f"e{number}", f"id{number}")
        twins.meet("assistant", ITEM, f"t{number}", f"i{number}", f"id{number}")
    assert not twins._by_text
    assert not twins._by_id
