"""Keeps every tab inside its policy, at request level.

One CDP session on the browser itself sees the first request of popups, frames of both kinds and
every redirect hop (FACTS.md: sessions per page and ``context.route`` do not). A paused request is
mapped to its tab by its frame; `core.request_rules` decides. It fails closed: an unknown frame gets
every tab's rules at once, and a decision that raises is a refusal.

Not seen here: WebSockets, WebRTC and speculation rules (shut by init scripts, which do not reach
into workers), name look-ups, and, as long as no secret was typed, types that carry no navigation
(images, styles, scripts: their addresses can carry data out by GET). After that every type is seen.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import BrowserContext, CDPSession, Error, Page

from webagent.core.page import Refusal
from webagent.core.request_rules import (
    SAFE_METHODS,
    GuardPolicy,
    Request,
    ResourceKind,
    origin_of,
    refusal,
)
from webagent.executors.browser.commit_gate import CommitGate
from webagent.executors.browser.resolving import Resolver
from webagent.ports import MaySend

_KINDS: dict[str, ResourceKind] = {
    "Document": "document",
    "Ping": "ping",
    "CSPViolationReport": "ping",
    "Fetch": "fetch",
    "XHR": "xhr",
    "EventSource": "fetch",
}
_ALWAYS = ("Document", "Ping", "Fetch", "CSPViolationReport")
_TREE_SECONDS = 0.5
_EVERY = ("*",)


class TabGuard:
    """The rules of one tab at this moment, and where its refusals are told.

    ``acting``: between an action's dispatch and its settling. ``acted``: the step has sent input
    that a page may answer late, by a timer. ``noise``: the writes that the page sent before that,
    by method, origin and path. ``secret``: a secret was typed into its page. ``gate``: armed by the
    commit. ``popups``: the pages that it opened, less those whose first request was refused.
    ``fatal``: refusals by which the action in hand has failed; ``refused``: set when there is one.
    """

    def __init__(
        self,
        policy: GuardPolicy,
        told: Callable[[Refusal], None],
        redact: Callable[[str], str] = str,
    ) -> None:
        self.policy = policy
        self.told = told
        self.redact = redact
        self.popups: set[str] = set()
        self.acting = False
        self.acted = False
        self.noise: set[tuple[str, str, str]] = set()
        self.secret = False
        self.gate: CommitGate | None = None
        self.may_send: MaySend | None = None
        self.fatal: list[Refusal] = []
        self.refused = asyncio.Event()

    def begin(self) -> None:
        """Another action begins: what was refused before is not its doing."""
        self.fatal.clear()
        self.refused.clear()

    @property
    def watches_xhr(self) -> bool:
        """Whether XHR is looked at: it can be a write where none may be, or the commit's twin."""
        policy = self.policy
        return (
            policy.watch_all
            or policy.committing
            or policy.healed
            or self.secret
            or self.gate is not None
            or policy.effect == "none"
        )

    @property
    def looks_only(self) -> bool:
        """Whether the tab is a planner's second one, in which no write at all is anybody's own."""
        return self.policy.effect == "none" and self.policy.in_action

    def effective(self) -> GuardPolicy:
        """The policy with what the tab itself knows."""
        update = {
            "in_action": self.policy.in_action or self.acting or self.acted,
            "watch_all": (
                self.policy.watch_all or self.looks_only or self.secret or self.gate is not None
            ),
            "secret_shown": self.policy.secret_shown or self.secret,
        }
        return self.policy.model_copy(update=update)

    def known(self, request: Request) -> Request:
        """The request with what the tab itself knows of it.

        Noise counts as such between actions only: while one settles, a write may be its own.
        """
        update = {
            "background": not self.acting and _place(request) in self.noise,
            "carries_secret": self.secret and self.redact(request.url) != request.url,
        }
        return request.model_copy(update=update)

    def passed(self, request: Request) -> None:
        """A request goes out: a write before the step's first input is the page's own."""
        quiet = not (self.acting or self.acted)
        if quiet and self.policy.effect == "none" and request.method not in SAFE_METHODS:
            self.noise.add(_place(request))


@dataclass(frozen=True, slots=True)
class Blank:
    """A page that has loaded nothing yet, with what the guard must know of it."""

    page: Page
    session: CDPSession
    info: Mapping[str, Any]


async def blank(context: BrowserContext) -> Blank:
    """A new page. Raises Playwright's Error."""
    page = await context.new_page()
    session = await context.new_cdp_session(page)
    info = (await session.send("Target.getTargetInfo"))["targetInfo"]
    return Blank(page, session, info)


class Guard:
    """The request rules of a whole browser; see the module's text."""

    def __init__(self, session: CDPSession, resolver: Resolver) -> None:
        self._session = session
        self._resolver = resolver
        self._frames: dict[str, TabGuard] = {}
        self._tops: set[str] = set()
        self._pages: dict[CDPSession, TabGuard] = {}
        self._tabs: list[TabGuard] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._types: tuple[str, ...] = ()
        self._context: str | None = None
        self._sticky = False
        self._secret = False
        self.faults: list[str] = []

    async def start(self) -> None:
        """Begin to look; nothing has been loaded before."""
        self._session.on("Fetch.requestPaused", self._paused)
        await self.refresh()

    async def refresh(self) -> None:
        """Look at the request types that the tabs' policies now need."""
        # Once on, XHR stays on while a tab is open: switching costs more than it saves.
        self._sticky = bool(self._tabs) and (
            self._sticky or any(tab.watches_xhr for tab in self._tabs)
        )
        self._secret = bool(self._tabs) and (self._secret or any(tab.secret for tab in self._tabs))
        types: tuple[str, ...] = (*_ALWAYS, "XHR") if self._sticky else _ALWAYS
        if self._secret:
            types = _EVERY
        if types == self._types:
            return
        self._types = types
        patterns = [{"requestStage": "Request"}]
        if types != _EVERY:
            patterns = [{"resourceType": kind, "requestStage": "Request"} for kind in types]
        await self._session.send("Fetch.enable", {"patterns": patterns})

    async def adopt(self, blank: Blank, tab: TabGuard) -> None:
        """Put a page under a tab's rules, before it has asked for anything."""
        page, session, info = blank.page, blank.session, blank.info
        self._context = info.get("browserContextId", self._context)
        self._frames[info["targetId"]] = tab
        self._tops.add(info["targetId"])
        self._pages[session] = tab

        def closed(_: Page) -> None:
            self._pages.pop(session, None)

        page.on("close", closed)
        if tab not in self._tabs:
            self._tabs.append(tab)
        await self.refresh()

    def forget(self, tab: TabGuard) -> None:
        """A tab is closed. Its frames keep its rules: a request may still be on its way."""
        if tab in self._tabs:
            self._tabs.remove(tab)
        self._pages = {session: owner for session, owner in self._pages.items() if owner is not tab}

    # --- deciding ------------------------------------------------------------------------

    def _paused(self, event: dict[str, Any]) -> None:
        task = asyncio.get_running_loop().create_task(self._handle(event))
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self.faults.append(f"{type(error).__name__}: {error}")

    async def _handle(self, event: dict[str, Any]) -> None:
        """Answer in every case: what raises in between is refused, and shows in ``faults``."""
        go = False
        try:
            go = await self._may_go(event)
        finally:
            if go:
                await self._send("Fetch.continueRequest", {"requestId": event["requestId"]})
            else:
                # Aborted keeps the page as it was; BlockedByClient would show an error page.
                await self._send(
                    "Fetch.failRequest",
                    {"requestId": event["requestId"], "errorReason": "Aborted"},
                )

    async def _send(self, method: str, params: dict[str, Any]) -> None:
        try:
            await self._session.send(method, params)
        except Error as error:
            # The request, its page or the browser went away meanwhile: there is nothing to answer.
            self.faults.append(error.message)

    async def _may_go(self, event: dict[str, Any]) -> bool:
        frame = event.get("frameId", "")
        owner = self._frames.get(frame) or await self._find(frame)
        if owner is _FOREIGN:
            return True
        owners = [owner] if owner is not None else list(self._tabs)
        request = _request(event, top=frame in self._tops)
        rule: str | None = None if owners else "the request belongs to no tab"
        for tab in owners:
            rule = await self._rule(tab, tab.known(request), event)
            if rule is not None:
                break
        if rule is None:
            for tab in owners[:1]:
                tab.passed(request)
            return True
        for tab in owners[:1]:
            told = Refusal(
                method=request.method, url=tab.redact(request.url), rule=tab.redact(rule)
            )
            tab.popups.discard(frame)
            tab.told(told)
            if _is_fatal(request, rule, late=not tab.acting, looks_only=tab.looks_only):
                tab.fatal.append(told)
                tab.refused.set()
        return False

    async def _rule(self, tab: TabGuard, request: Request, event: Mapping[str, Any]) -> str | None:
        policy = tab.effective()
        rule = refusal(policy, request)
        if rule is None:
            rule = await self._resolver.refusal(policy, request.url)
        # A redirect hop is the same sending going on, not a second one.
        if rule is None and tab.gate is not None and "redirectedRequestId" not in event:
            raw = event["request"]
            body = raw.get("postData") or "".join(
                entry.get("bytes", "") for entry in raw.get("postDataEntries", ())
            )
            sent = len(tab.gate.passed)
            rule = tab.gate.refusal(request.method, request.url, raw.get("headers", {}), body)
            ours = len(tab.gate.passed) > sent
            if ours and tab.may_send is not None and not await tab.may_send():
                rule = "another runner has taken this run over"
        return rule

    async def _find(self, frame: str) -> TabGuard | None:
        """The tab of a frame not seen before: a popup by its opener, a frame by its page's tree."""
        targets = (await self._session.send("Target.getTargets"))["targetInfos"]
        by_id = {target["targetId"]: target for target in targets}
        target = by_id.get(frame)
        if target is not None:
            if self._context and target.get("browserContextId") not in (None, self._context):
                return _FOREIGN
            self._tops.add(frame)
            opener = target.get("openerId")
            owner = self._frames.get(opener) if opener else None
            if owner is not None:
                self._frames[frame] = owner
                owner.popups.add(frame)
            return owner
        looks = [self._tree(session, tab) for session, tab in list(self._pages.items())]
        await asyncio.gather(*looks)
        return self._frames.get(frame)

    async def look_for_popups(self, tab: TabGuard) -> None:
        """Note the pages that a tab has just opened, before their first request is seen.

        The browser makes the new page while the click is handled, so that it is there when the
        click has been answered; its first request comes some time after.
        """
        with suppress(Error):  # the browser died: there is nothing to look for
            for target in (await self._session.send("Target.getTargets"))["targetInfos"]:
                ident, opener = target["targetId"], target.get("openerId")
                if ident in self._frames or opener is None or target["type"] != "page":
                    continue
                if self._frames.get(opener) is tab:
                    self._frames[ident] = tab
                    self._tops.add(ident)
                    tab.popups.add(ident)

    async def _tree(self, session: CDPSession, tab: TabGuard) -> None:
        """Note the frames of a page; one that does not answer (an alert is open) is passed over."""
        try:
            async with asyncio.timeout(_TREE_SECONDS):
                tree = (await session.send("Page.getFrameTree"))["frameTree"]
        except (TimeoutError, Error):
            return
        todo = [tree]
        while todo:
            node = todo.pop()
            self._frames.setdefault(node["frame"]["id"], tab)
            todo.extend(node.get("childFrames", ()))


# Stands for "another context of a browser that is not ours alone".
_FOREIGN = TabGuard(GuardPolicy(origins=()), lambda _: None)


def _request(event: Mapping[str, Any], *, top: bool) -> Request:
    raw = event["request"]
    kind = _KINDS.get(event.get("resourceType", ""), "other")
    headers = {name.lower(): value for name, value in raw.get("headers", {}).items()}
    if "prefetch" in headers.get("sec-purpose", headers.get("purpose", "")):
        kind = "document"  # what is fetched ahead is a navigation made early
    return Request(
        method=raw["method"], url=raw["url"] + raw.get("urlFragment", ""), kind=kind, top=top
    )


def _place(request: Request) -> tuple[str, str, str]:
    return request.method, origin_of(request.url), urlsplit(request.url).path


def _is_fatal(request: Request, rule: str, *, late: bool, looks_only: bool) -> bool:
    """Whether the action that caused this did not do what it was there for.

    No page waits for what a late beacon comes to: keeping it back is enough. So it is with all that
    a page sends by itself where it is only looked at.
    """
    if late and request.kind == "ping":
        return False
    if request.kind == "document" and request.top:
        return True
    return "effect none" in rule and not looks_only
