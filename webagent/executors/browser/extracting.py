"""What the browser needs of the extractors, as a protocol: adapters do not import each other.

Wiring passes `webagent.extractors.Extractor`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from webagent.core.action import ListRead, ReadType, TableRead
from webagent.core.base import Json


class Extract(Protocol):
    """Reads values from texts and regions of HTML; pure, the clock is given when it is made.

    1. A row that cannot be read is in the second list, with its reason and its raw text. 2. Invalid
    selectors and types raise ValueError.
    """

    def value(self, text: str, type_: ReadType) -> Json:
        """One typed value of a text. Raises ValueError: it holds none."""
        ...

    def rows(
        self, spec: ListRead, regions: Sequence[str], base_url: str
    ) -> tuple[list[Json], list[Json]]:
        """Good and bad rows of a list, one region of HTML a row."""
        ...

    def table(self, spec: TableRead, region: str, base_url: str) -> tuple[list[Json], list[Json]]:
        """Good and bad rows of one table."""
        ...

    def unique(self, key: str, rows: Sequence[Json]) -> tuple[list[Json], list[Json]]:
        """Rows told apart by a field; the second and later of one key are bad."""
        ...
