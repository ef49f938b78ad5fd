"""Whether a public name leads into a private network.

Asked by the guard before a request goes out. What it covers: names that resolve to a private
address when we look. What it does not: a name server that answers the browser otherwise than us
(rebinding), and request types that the guard does not look at. Behind a proxy the proxy resolves,
so nothing is looked up here.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from webagent.core.request_rules import GuardPolicy, is_private_host

KEPT_SECONDS = 60.0
LOOKUP_SECONDS = 5.0

Lookup = Callable[[str], Awaitable[tuple[str, ...]]]


async def lookup(host: str) -> tuple[str, ...]:
    """The addresses of a name, () when it has none."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError:
        return ()
    return tuple(dict.fromkeys(str(entry[4][0]).split("%")[0] for entry in found))


class Resolver:
    """Looks names up and keeps the answers for a minute; ``enabled`` is False behind a proxy."""

    def __init__(self, *, enabled: bool = True, look: Lookup = lookup) -> None:
        self._enabled = enabled
        self._look = look
        self._kept: dict[str, tuple[float, tuple[str, ...]]] = {}

    async def refusal(self, policy: GuardPolicy, url: str) -> str | None:
        """The rule by which a URL is refused, or None.

        A name without an address may go: the browser will not find it either.
        """
        host = (urlsplit(url).hostname or "").lower()
        if not self._enabled or not host or policy.allow_private or host in policy.named_hosts:
            return None
        for address in await self._addresses(host):
            if is_private_host(address):
                return f"{host} is on a private network ({address})"
        return None

    async def _addresses(self, host: str) -> tuple[str, ...]:
        now = asyncio.get_running_loop().time()
        if (kept := self._kept.get(host)) is not None and now - kept[0] < KEPT_SECONDS:
            return kept[1]
        try:
            async with asyncio.timeout(LOOKUP_SECONDS):
                addresses = await self._look(host)
        except TimeoutError:
            addresses = ()
        self._kept[host] = (now, addresses)
        return addresses
