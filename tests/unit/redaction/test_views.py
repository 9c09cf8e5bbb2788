"""Views decode, and map back to the bytes that they came from."""

from __future__ import annotations

import base64

from hypothesis import given, settings
from hypothesis import strategies as st

from ultracontext.redaction import views

ESCAPED = st.lists(
    st.sampled_from(
        ["\\n", '\\"', "\\\\", "\\/", "\\u0041", "\\u20ac", "\\d", "\\", "é", "ab", "\n"]
    ),
    max_size=12,
).map("".join)


@given(text=ESCAPED)
@settings(deadline=None)
def test_the_quick_and_the_exact_reading_agree(text: str) -> None:
    data = text.encode()
    exact = views._ESCAPE.sub(lambda match: views._undo(match[0]), data)
    assert views.unescape(data) == exact


@given(text=ESCAPED)
@settings(deadline=None)
def test_every_byte_of_a_view_maps_into_the_text(text: str) -> None:
    data = b"x" + text.encode() + b"SECRET" + text.encode()
    for view, back in views.escape_views(data):
        place = view.index(b"SECRET")
        start, end = back(place, place + 6)
        assert data[start:end] == b"SECRET"
        assert back(0, len(view)) == (0, len(data))


def test_percent_escapes_map_back() -> None:
    data = b"a%20b%3Ac"
    view, back = views.percent_view(data) or (b"", None)
    assert view == b"a b:c"
    assert back is not None
    assert back(1, 4) == (1, 8)
    assert views.percent_view(b"100% sure") is None


def test_a_base64_run_is_found_and_stands_for_itself() -> None:
    run = base64.b64encode(b"user = someone, and more text").rstrip(b"=")
    data = b"data: " + run + b"; next"
    positions = [match.end() - 1 for match in views.BASE64_PATTERN.finditer(data)]
    (view, back), *_ = views.base64_views(data, positions)
    assert b"someone" in view
    assert back(3, 5) == (6, 6 + len(run))


def test_images_are_no_base64_text() -> None:
    data = b"iVBORw0KGgo" + base64.b64encode(b"plain text in an image " * 4)
    positions = [match.end() - 1 for match in views.BASE64_PATTERN.finditer(data)]
    assert list(views.base64_views(data, positions)) == []
