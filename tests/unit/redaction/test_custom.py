"""A person's own rules, keys and exceptions."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from redaction_corpus import POSITIONS, raw, record

from ultracontext.errors import RedactionError, SettingsError
from ultracontext.model import RawRecord
from ultracontext.redaction import Redactor, load_redactor
from ultracontext.redaction.confirm import MASK
from ultracontext.redaction.custom import Custom
from ultracontext.settings import CustomRule, CustomRules

KEY = b"not a real key, 32 bytes long ..."
TOKEN = "gh" + "p_N0tReAl3ahovCJQX4bipwDKRY5cjqxELSZ6d"
ACME = CustomRule(name="acme-key", pattern=r"acme[_-][A-Za-z0-9]{8,}", keywords=("ACME",))
TICKET = CustomRule(name="ticket", pattern=r"\bT-(\d{3})\b", group=1)


def made(engine: str = "aho", **fields: Any) -> Redactor:
    return load_redactor(KEY, engine=engine, custom=CustomRules(**fields))


@pytest.fixture(scope="module", params=["hyperscan", "aho"])
def acme(request: pytest.FixtureRequest, cache_dir: Path) -> Redactor:
    if request.param == "hyperscan":
        pytest.importorskip("hyperscan")
    return load_redactor(
        KEY, engine=request.param, cache_dir=cache_dir, custom=CustomRules(rules=(ACME, TICKET))
    )


@pytest.mark.parametrize("position", POSITIONS)
def test_a_rule_works_in_every_position(acme: Redactor, position: str) -> None:
    masked = acme.redact(record(position, "acme_N0tReAl3ahovCJ"))
    assert b"N0tReAl3ahovCJ" not in masked.body
    assert "N0tReAl3ahovCJ" not in (masked.text or "")
    assert masked.masks["acme-key"] >= 1


def test_only_the_group_goes_and_short_strings_are_searched(acme: Redactor) -> None:
    body = acme.redact(raw({"a": "T-123"})).body
    assert MASK.sub(b"#", body) == b'{"a":"T-#"}'


def test_masking_twice_changes_nothing(acme: Redactor) -> None:
    once = acme.redact(
        raw({"acme_N0tReAl3": ["T-123 acme-N0tReAl3ahé", {"x": "é acme_12345678é"}]})
    )
    again = acme.redact(raw(data=once.body))
    assert again.body == once.body
    assert b"N0tReAl3" not in once.body


def test_ours_are_masked_as_before(acme: Redactor) -> None:
    assert acme.text(f"x {TOKEN} y").startswith("x [redacted:github-token:")


def test_characters_count_not_bytes() -> None:
    redactor = made(rules=(CustomRule(name="accents", pattern="ü.{4}ß"),))
    assert MASK.sub(b"#", redactor.text("aüéé€😀ßb").encode()) == b"a#b"


def test_a_match_does_not_reach_into_the_next_string() -> None:
    redactor = made(rules=(CustomRule(name="all", pattern=r"BEGIN[^z]+"),))
    body = redactor.redact(raw({"a": "BEGIN x", "b": "other text"})).body
    assert json.loads(body)["b"] == "other text"


def test_case_of_keywords_and_of_patterns() -> None:
    loud = CustomRule(name="loud", pattern=r"key-[a-f]{4}", ignore_case=True)
    assert "ABCD" not in made(rules=(loud,)).text("KEY-ABCD")
    assert "KEY-ABCD" in made(rules=(CustomRule(name="x", pattern=r"key-[a-f]{4}"),)).text(
        "KEY-ABCD"
    )


@pytest.mark.parametrize("keywords", [(), ("sec",)])
def test_a_match_in_a_large_text_is_found_where_windows_meet(keywords: tuple[str, ...]) -> None:
    redactor = made(rules=(CustomRule(name="far", pattern=r"sec-[0-9]{300}", keywords=keywords),))
    for before in (0, 1800, 2040, 2048, 3900, 4090, 4096, 10_000):
        text = "x " * (before // 2) + "sec-" + "7" * 300 + " y" * 5000
        assert "777" not in redactor.text(text), before


def test_a_match_that_is_cut_by_its_window_leaves_no_tail() -> None:
    redactor = made(rules=(CustomRule(name="long", pattern=r"sec-[0-9]+"),))
    assert MASK.sub(b"#", redactor.text("a sec-" + "7" * 9000 + " b").encode()) == b"a # b"


@pytest.mark.parametrize(
    ("text", "gone"),
    [
        ('{"door_code": "4711"}', "4711"),
        ('door_code = "open sesame now"', "sesame"),
        ("DOOR_CODE=4711x", "4711x"),
        ("door_code: 4711", "4711"),
        ('{\\"door_code\\": \\"4711\\"}', "4711"),
    ],
)
def test_values_of_extra_keys_in_text(text: str, gone: str) -> None:
    assert gone not in made(keys=("door_code",)).text(text)


@pytest.mark.parametrize(
    "text", ["the door_code: please ask", "door_code = settings.code", "door_codes: 4711"]
)
def test_other_words_stay(text: str) -> None:
    assert made(keys=("door_code",)).text(text) == text


def test_values_of_extra_keys_in_records() -> None:
    redactor = made(keys=("door_code",))
    value = {
        "door_code": "4711",
        "Door_Code": "open sesame",
        "n": {"name": "door_code", "value": "9"},
    }
    native = redactor.redact(raw(value)).native
    assert native["door_code"].startswith("[redacted:secret-field:")
    assert native["Door_Code"].startswith("[redacted:secret-field:")
    assert native["n"]["value"].startswith("[redacted:secret-field:")
    kept = raw({"door_code": 4711, "other": {"door_code": None, "x": "$DOOR_CODE"}})
    assert redactor.redact(kept).body == kept.data


def test_allowed_values_rules_and_paths_are_left() -> None:
    assert made(allow_values=(TOKEN,)).text(TOKEN) == TOKEN
    assert made(allow_values=(TOKEN[:-1],)).text(TOKEN) != TOKEN
    kept = made(allow_values=("N0tReAl9x",))
    assert kept.redact(raw({"password": "N0tReAl9x"})).native == {"password": "N0tReAl9x"}
    assert made(allow_rules=("github-token",)).text(TOKEN) == TOKEN
    named = made(allow_rules=("password-field",))
    assert named.redact(raw({"password": "N0tReAl9x"})).native == {"password": "N0tReAl9x"}


def test_a_source_that_is_allowed_is_not_masked_and_its_path_is() -> None:
    redactor = made(allow_paths=("/home/*/s.jsonl",))
    before = raw({"a": TOKEN})
    masked = redactor.redact(before)
    assert masked.body == before.data
    assert masked.rule_set == redactor.rule_set
    other = made(allow_paths=("/home/s.jsonl",))
    assert other.redact(before).body != before.data


def test_what_it_cannot_be_is_an_error_of_settings() -> None:
    with pytest.raises(SettingsError, match="no rule 'github-tokn'") as caught:
        made(allow_rules=("github-tokn",))
    assert "github-token" in caught.value.hint
    with pytest.raises(SettingsError, match="one of ours"):
        made(rules=(CustomRule(name="github-token", pattern="x[0-9]"),))


def test_the_rule_set_changes_with_everything_a_person_says() -> None:
    numbers = {
        load_redactor(KEY, engine="aho").rule_set,
        load_redactor(KEY, engine="aho", custom=None).rule_set,
        made(rules=(ACME,)).rule_set,
        made(rules=(TICKET,)).rule_set,
        made(keys=("a_key",)).rule_set,
        made(allow_values=("value",)).rule_set,
        made(allow_paths=("/x",)).rule_set,
        made(allow_rules=("github-token",)).rule_set,
    }
    assert len(numbers) == 7
    assert made(rules=(ACME,)).rule_set == made(rules=(ACME,)).rule_set
    assert load_redactor(KEY, engine="aho", custom=CustomRules()).rule_set in numbers


def test_a_rule_that_takes_too_long_stops_the_source(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = iter(range(0, 10_000, 10))
    monkeypatch.setattr("ultracontext.redaction.custom.time.thread_time", lambda: next(ticks))
    with pytest.raises(RedactionError, match="'ticket' takes too long"):
        made(rules=(TICKET,)).redact(raw({"a": "some text"}))


def test_the_slowest_allowed_pattern_is_quick_on_a_text_made_for_it() -> None:
    redactor = made(rules=(CustomRule(name="slow", pattern=r"(?:[a-z]+\.)+internal"),))
    begun = time.process_time()
    redactor.text("a." * 2048)
    redactor.text("a" * 4096)
    assert time.process_time() - begun < 4


def test_ten_rules_over_a_megabyte_take_less_than_a_second() -> None:
    rules = tuple(
        CustomRule(name=f"r{i}", pattern=rf"\bcorp{i}-[a-z0-9]{{20}}\b") for i in range(10)
    )
    text = "def f(x): return x  # lorem ipsum\n" * 30_000
    own = Custom(CustomRules(rules=rules))
    begun = time.process_time()
    assert own.find(text.encode()) == []
    assert time.process_time() - begun < 3


def test_child_and_worker_mask_alike(acme: Redactor, tmp_path: Path) -> None:
    data = json.dumps({"a": "acme_N0tReAl3ahovCJ", "b": "T-123"}).encode()
    place = tmp_path / "s.jsonl"
    place.write_bytes(data + b"\n")
    far = acme.redact_file(
        RawRecord(agent="claude", source=str(place), start=0, end=len(data) + 1, data=b"")
    )
    here = acme.redact(raw(data=data))
    assert far.body == here.body
    assert far.masks == here.masks
