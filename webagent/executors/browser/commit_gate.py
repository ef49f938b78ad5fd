"""Lets the commit's request out once.

A page may send its order twice: a double click handler, a retry in its script, a second tab. While
the gate is armed the first write of its kind goes out and the same one again is kept back. Pure:
the guard asks, the guard answers the browser.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from webagent.core.expect import url_matches
from webagent.core.request_rules import SAFE_METHODS, origin_of

RULE = "the commit's request had gone out already"


class CommitGate:
    """Armed right before a commit's input is sent.

    ``request`` is the recipe's ``METHOD url-glob``, or None: then any write counts, and a repeat is
    one of the same method, path and body. Where it is named, body and query may differ.
    """

    def __init__(self, request: str | None) -> None:
        self._method, self._glob = _named(request)
        self._gone: set[tuple[str, ...]] = set()
        self.passed: list[str] = []

    def refusal(self, method: str, url: str, headers: Mapping[str, str], body: str) -> str | None:
        """The rule by which this request is kept back, or None; a request let out is noted."""
        if self._glob is not None:
            if method != self._method or not url_matches(self._glob, url):
                return None
            key: tuple[str, ...] = (method,)
        elif method in SAFE_METHODS:
            return None
        else:
            parts = urlsplit(url)
            key = (method, origin_of(url), parts.path, parts.query, _digest(headers, body))
        if key in self._gone:
            return RULE
        self._gone.add(key)
        self.passed.append(f"{method} {url}")
        return None


def _named(request: str | None) -> tuple[str, str | None]:
    if request is None:
        return "", None
    method, _, glob = request.strip().partition(" ")
    return method.upper(), glob.strip()


def _digest(headers: Mapping[str, str], body: str) -> str:
    """A hash of the body; the boundary of a multipart form is made anew for each submission."""
    kind = next((v for k, v in headers.items() if k.lower() == "content-type"), "")
    if found := re.search(r'boundary="?([^";]+)', kind):
        body = body.replace(found[1], "")
    return hashlib.sha256(body.encode("utf-8", "surrogatepass")).hexdigest()
