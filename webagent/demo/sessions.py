"""Who is who on a site: the cookie, the account, the token in the forms.

The cookie and the token are secrets; the ledger and the log show a session's label instead.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field

COOKIE = "sid"


@dataclass
class Session:
    """One browser's state on one site, kept on the server."""

    label: str
    cookie: str
    csrf: str
    user: str | None = None
    data: dict[str, object] = field(default_factory=dict)

    @property
    def owner(self) -> str:
        """Whom baskets and orders belong to: the account if signed in, else the session."""
        return self.user or self.label

    def rotate(self) -> None:
        """A new token, so that forms rendered before are no longer accepted."""
        self.csrf = secrets.token_urlsafe(12)


class SessionBook:
    """All sessions of one site. Touched only in the server's loop, hence without a lock."""

    def __init__(self) -> None:
        self._by_cookie: dict[str, Session] = {}
        self._made = 0

    def of(self, cookie: str | None) -> tuple[Session, bool]:
        """The session of a cookie, and whether it had to be made."""
        if cookie is not None and cookie in self._by_cookie:
            return self._by_cookie[cookie], False
        self._made += 1
        session = Session(
            label=f"s{self._made}",
            cookie=secrets.token_urlsafe(18),
            csrf=secrets.token_urlsafe(12),
        )
        self._by_cookie[session.cookie] = session
        return session, True

    def drop_all(self) -> None:
        """Forget every session, as a site does that was restarted or lost its cache."""
        self._by_cookie.clear()
