"""Which requests a step may send: the guard's rules, as a pure function of policy and request.

The guard of the browser asks this for every document request (frames, popups' first request and
redirect hops included), for pings and fetches, for XHR where the policy watches it, and for every
type once a secret stands on the page.
"""

from __future__ import annotations

import ipaddress
import re
from typing import Literal, TypeAlias
from urllib.parse import SplitResult, unquote_plus, urlsplit

from webagent.core.base import Frozen
from webagent.core.effect import EffectKind
from webagent.core.expect import url_matches

ResourceKind: TypeAlias = Literal["document", "xhr", "fetch", "ping", "websocket", "other"]
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
HARMLESS_SCHEMES = frozenset({"about", "blob", "data"})
# How the rule begins by which a healed action's unseen write is held back.
HEALED_RULE = "a healed action sends no"
_BY_SCRIPT = frozenset({"fetch", "xhr", "ping", "websocket"})


class GuardPolicy(Frozen):
    """What one tab may send at this moment.

    ``origins``: allowed origins (``scheme://host[:port]``). ``named_hosts``: hosts that may resolve
    to private networks (tests, the demo). ``in_action``: between an action's dispatch and its
    settling, and in a step of effect none from its first action to its end: a write can be an
    action's own. ``secret_shown``: a secret was typed into the page. ``committing``: the
    commit's input was sent. ``watch_all``: every request type is looked at (a once step runs, or a
    secret is on the page). ``healed``: what is about to be done was not in the recipe (a healed,
    generated or improvised action before the commit): of its writes only those go out that were
    seen before, ``known_writes`` (`write_shape`), or that plainly prepare something.
    """

    origins: tuple[str, ...]
    effect: EffectKind = "none"
    allow_posts: tuple[str, ...] = ()
    allow_private: bool = False
    named_hosts: tuple[str, ...] = ()
    in_action: bool = False
    committing: bool = False
    watch_all: bool = False
    secret_shown: bool = False
    healed: bool = False
    known_writes: tuple[str, ...] = ()


class Request(Frozen):
    """A request that the page is about to send.

    ``top``: it loads the tab's own document. ``background``: the page sent the same before the
    step's first action. ``carries_secret``: a secret stands in its address, in whatever form.
    """

    method: str
    url: str
    kind: ResourceKind
    top: bool = False
    background: bool = False
    carries_secret: bool = False


def url_parts(url: str) -> SplitResult:
    """An address in its parts; empty parts for what is none: pages write anything into a link."""
    try:
        return urlsplit(url)
    except ValueError:
        return urlsplit("")


def origin_of(url: str) -> str:
    """``scheme://host[:port]``, default ports left out, in lower case; "" for what has none."""
    parts = url_parts(url)
    if not parts.hostname:
        return ""
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    default = {"http": 80, "https": 443, "ws": 80, "wss": 443}.get(parts.scheme)
    try:
        port = "" if parts.port in (None, default) else f":{parts.port}"
    except ValueError:
        return ""
    return f"{parts.scheme}://{host}{port}"


def is_private_host(host: str) -> bool:
    """Whether a host names the machine itself or a private, link-local or reserved network."""
    name = host.strip("[]").lower().rstrip(".")
    if name == "localhost" or name.endswith((".localhost", ".local", ".internal")):
        return True
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        # Browsers read 127.1, 0x7f.1 and 2130706433 as addresses; a real host has a letter in
        # its last label.
        last = name.rsplit(".", 1)[-1]
        return bool(last) and (last.isdigit() or last.startswith("0x"))
    return not address.is_global


def refusal(policy: GuardPolicy, request: Request) -> str | None:
    """The rule by which a request is refused, or None when it may go out."""
    parts = url_parts(request.url)
    scheme = parts.scheme.lower()
    origin = origin_of(request.url)
    inside = origin in policy.origins
    if request.kind in ("document", "ping"):
        if scheme in HARMLESS_SCHEMES and not request.top:
            return None
        if request.url in ("about:blank", "about:srcdoc"):
            return None
        if scheme not in ("http", "https", "blob"):
            return f"scheme {scheme or 'unknown'} is not allowed"
        if scheme != "blob" and not inside:
            return f"origin {origin or request.url} is outside the step's scope"
    if scheme in ("http", "https", "ws", "wss") and _unreachable(policy, parts.hostname or ""):
        return f"{parts.hostname} is on a private network"
    if policy.secret_shown and not inside and scheme not in HARMLESS_SCHEMES:
        if request.carries_secret:
            return "it would carry a secret out of the step's scope"
        if request.kind in _BY_SCRIPT:
            return f"a request to {origin or request.url} while a secret is on the page"
    return _write_refusal(policy, request, inside)


def _unreachable(policy: GuardPolicy, host: str) -> bool:
    return not policy.allow_private and host not in policy.named_hosts and is_private_host(host)


def write_shape(method: str, url: str) -> str:
    """A write as it is recognised again: ``POST /orders/#``, digits folded, without its query."""
    return f"{method} {re.sub(r'[0-9]+', '#', url_parts(url).path or '/')}"


# What the address of a write says when it only prepares: a basket, a page of a form. Whatever else
# a healed action sends is held back, because a heal must not commit.
_PREPARES = frozenset(
    [
        "basket",
        "cart",
        "bag",
        "trolley",
        "warenkorb",
        "panier",
        "add",
        "quantity",
        "update",
        "address",
        "addresses",
        "adresse",
        "shipping",
        "delivery",
        "versand",
        "details",
        "step",
        "next",
        "continue",
        "weiter",
        "session",
        "consent",
        "cookie",
        "cookies",
        "preferences",
        "language",
        "locale",
        "filter",
        "search",
        "find",
        "lookup",
        "login",
        "signin",
    ]
)
# Looked for inside words too (placeorder, payments): a write too many held back is the safe side.
_COMMITS = [
    "order",
    "place",
    "pay",
    "purchase",
    "buy",
    "confirm",
    "complet",
    "finish",
    "finali",
    "submit",
    "send",
    "delet",
    "remov",
    "cancel",
    "bestell",
    "kauf",
    "bezahl",
    "zahlung",
    "absenden",
    "abschick",
    "commande",
    "achat",
    "achet",
    "valider",
    "comprar",
    "compra",
    "pagar",
    "pedido",
    "enviar",
    "transfer",
    "book",
    "reserv",
    "subscrib",
    "publish",
]
# Of a page of a form as long as a page of it is named after it: /checkout/address.
_AREAS = frozenset(("checkout", "order", "kasse", "caisse"))
_PAGES = frozenset(
    [
        "address",
        "addresses",
        "adresse",
        "shipping",
        "delivery",
        "versand",
        "details",
        "step",
        "login",
        "signin",
    ]
)


def _words(text: str) -> list[str]:
    """The words of a piece of an address: escapes undone, camelCase taken apart, lower case."""
    for _ in range(3):
        text = unquote_plus(text)
    return re.findall(r"[a-z]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text).lower())


def _prepares(url: str) -> bool:
    """Whether an address tells of preparing and nothing in it tells of committing."""
    parts = url_parts(url)
    path, query = _words(parts.path), _words(parts.query)
    telling = [w for w in path if w in _PREPARES or w in _AREAS]
    if not telling or telling[-1] not in _PREPARES:
        return False
    area = any(w in _AREAS for w in telling)
    if area and telling[-1] not in _PAGES:
        return False
    rest = [w for w in path if w not in _AREAS]
    return not any(act in word for word in (*rest, *query) for act in (*_COMMITS, *_AREAS))


def _write_refusal(policy: GuardPolicy, request: Request, inside: bool) -> str | None:
    if request.method in SAFE_METHODS:
        return None
    if any(url_matches(glob, request.url) for glob in policy.allow_posts):
        return None
    if policy.healed and policy.in_action and inside and not request.background:
        seen = write_shape(request.method, request.url) in policy.known_writes
        if policy.effect != "none" and not seen and not _prepares(request.url):
            path = url_parts(request.url).path
            return f"{HEALED_RULE} {request.method} to {path}, which was not seen before"
    if policy.effect == "none" and request.kind == "document":
        return f"a step of effect none sends no {request.method} (allow_posts names exceptions)"
    if policy.effect == "none" and inside and policy.in_action and not request.background:
        return f"a step of effect none sends no {request.method} (allow_posts names exceptions)"
    if policy.watch_all and not inside:
        return f"a write to {origin_of(request.url)} while secrets or an effect are at stake"
    return None
