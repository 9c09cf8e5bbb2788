"""Results of edits, whose messages are fetched when they are looked at."""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterator, KeysView, ValuesView
from typing import Any


class EditResult(dict[str, Any]):
    """`version` and `affected` as the server answered; `data`, all messages of that version, is
    asked for at the first look at it, since most callers of an edit never look."""

    def __init__(self, answer: dict[str, Any], fetch: Callable[[], list[Any]]) -> None:
        super().__init__(answer)
        self._fetch = fetch

    def __missing__(self, key: str) -> Any:
        if key != "data":
            raise KeyError(key)
        return self._filled()["data"]

    def _filled(self) -> EditResult:
        if not super().__contains__("data"):
            super().__setitem__("data", self._fetch())
        return self

    def get(self, key: str, default: Any = None) -> Any:
        return self[key] if key in self else default  # noqa: SIM401  (`get` is this)

    def __contains__(self, key: object) -> bool:
        return key == "data" or super().__contains__(key)

    def __iter__(self) -> Iterator[str]:
        return dict.__iter__(self._filled())

    def __len__(self) -> int:
        return dict.__len__(self._filled())

    def keys(self) -> KeysView[str]:  # type: ignore[override]
        return KeysView(self._filled())

    def items(self) -> ItemsView[str, Any]:  # type: ignore[override]
        return ItemsView(self._filled())

    def values(self) -> ValuesView[Any]:  # type: ignore[override]
        return ValuesView(self._filled())

    def __eq__(self, other: object) -> bool:
        return dict.__eq__(self._filled(), other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None
