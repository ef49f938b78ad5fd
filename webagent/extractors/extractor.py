"""The extractors as one object, as the browser executor is given it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from webagent.core.action import ListRead, ReadType, TableRead
from webagent.core.base import Json
from webagent.extractors import fields, tables
from webagent.extractors.typed import DateOrder, Reading, parse

_MONTH_FIRST = frozenset({"US", "PH", "PR", "GU", "AS"})
_YEAR_FIRST = frozenset({"zh", "ja", "ko", "hu", "lt", "mn"})


def date_order(locale: str | None) -> DateOrder | None:
    """What ``03/04/2026`` means in a locale such as ``en-GB``; None without one."""
    if not locale:
        return None
    language, _, region = locale.replace("_", "-").partition("-")
    if language in _YEAR_FIRST:
        return "YMD"
    if region.upper() in _MONTH_FIRST or (language == "en" and not region):
        return "MDY"
    return "DMY"


class Extractor:
    """Reads values, rows and tables; ``now`` gives the moment from which "yesterday" counts."""

    def __init__(self, now: Callable[[], datetime], locale: str | None = None) -> None:
        self._now = now
        self._order = date_order(locale)
        own = locale.replace("_", "-").split("-")[0] if locale else ""
        self._languages = tuple(dict.fromkeys((own, "en"))) if own else ()

    def _reading(self, base_url: str = "") -> Reading:
        return Reading(self._now(), self._order, self._languages, base_url)

    def value(self, text: str, type_: ReadType) -> Json:
        """One typed value of a text. Raises ValueError: it holds none."""
        return parse(text, type_, self._reading())

    def rows(
        self, spec: ListRead, regions: Sequence[str], base_url: str
    ) -> tuple[list[Json], list[Json]]:
        """Good and bad rows of a list. Raises ValueError for a selector that does not work."""
        return fields.read_rows(spec, regions, self._reading(base_url))

    def table(self, spec: TableRead, region: str, base_url: str) -> tuple[list[Json], list[Json]]:
        """Good and bad rows of a table. Raises ValueError without the header that is asked for."""
        return tables.read_table(spec, region, self._reading(base_url))

    def unique(self, key: str, rows: Sequence[Json]) -> tuple[list[Json], list[Json]]:
        """Rows told apart by a field."""
        return fields.unique(key, rows)
