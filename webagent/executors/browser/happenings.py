"""What took place in a tab: responses, writes, dialogs, downloads, new tabs, console lines.

`Happenings` listens to every page of one tab (its popups included) and is emptied into the outcome
of each action. It decides nothing, except that no dialog and no download is left hanging.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import deque
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

from playwright.async_api import ConsoleMessage, Dialog, Error, Frame, Page
from playwright.async_api import Download as PageDownload
from playwright.async_api import Request as PageRequest
from playwright.async_api import Response as PageResponse

from webagent.core.page import Download, Happened, Refusal, Response
from webagent.core.request_rules import SAFE_METHODS
from webagent.ports import Artifacts

KEPT_LINES = 50
KEPT_RESPONSES = 1000
SOCKET_MARK = "webagent: refused WebSocket "


class Happenings:
    """The listener of one tab; see the module's text."""

    def __init__(self, run: str, artifacts: Artifacts, redact: Callable[[str], str]) -> None:
        self._run = run
        self._artifacts = artifacts
        self._redact = redact
        self._new = _Fresh()
        self._tasks: set[asyncio.Task[None]] = set()
        self._navigating: dict[PageRequest, Page] = {}
        self.armed: deque[tuple[str, str | None]] = deque()
        self.documents: dict[Page, Response] = {}
        self.frame_errors: dict[Page, dict[Frame, Response]] = {}
        self.all_responses: deque[Response] = deque(maxlen=KEPT_RESPONSES)
        self.all_dialogs: list[str] = []
        self.all_downloads: list[Download] = []
        self.console: deque[str] = deque(maxlen=KEPT_LINES)
        self.pages: list[Page] = []
        self.crashed: set[Page] = set()
        self.loading: set[Page] = set()
        self.stirred = asyncio.Event()
        self.downloads_begun = 0
        self.popups = 0

    def watch(self, page: Page) -> None:
        """Listen to a page of this tab, and to those that it opens."""
        self.pages.append(page)
        page.on("request", lambda request: self._request(page, request))
        page.on("response", lambda response: self._response(page, response))
        page.on("requestfailed", self._ended)
        page.on("domcontentloaded", self._parsed)
        page.on("framenavigated", lambda frame: self._navigated(page, frame))
        page.on("dialog", self._dialog)
        page.on("download", self._download)
        page.on("popup", self._popup)
        page.on("console", self._console)
        page.on("pageerror", lambda error: self._line(f"error: {error}"))
        page.on("crash", self._crash)
        page.on("close", lambda _: self.stirred.set())

    def refused(self, refusal: Refusal) -> None:
        """The guard kept a request back."""
        self._new.refusals.append(refusal)
        self.stirred.set()

    def new_step(self) -> None:
        """Forget what came in the step before; the page and its document stay."""
        self.all_responses.clear()
        self.all_dialogs.clear()
        self.all_downloads.clear()
        self.armed.clear()

    def gave_up(self) -> None:
        """A navigation was refused: of a redirect hop the page tells no end of its own."""
        self._navigating.clear()

    def navigating(self, page: Page) -> bool:
        """Whether the page's own document is being fetched."""
        return any(p is page for p in self._navigating.values())

    def opened(self) -> list[Page]:
        """The pages that the tab's own page opened and that are still there."""
        return [page for page in self.pages[1:] if not page.is_closed()]

    def drain(self) -> Happened:
        """What took place since the last call."""
        fresh, self._new = self._new, _Fresh()
        return Happened(
            responses=tuple(fresh.responses),
            refusals=tuple(fresh.refusals),
            dialogs=tuple(fresh.dialogs),
            downloads=tuple(fresh.downloads),
            tabs=tuple(self._redact(page.url) for page in fresh.tabs),
            documents=fresh.documents,
            writes=tuple(fresh.writes),
        )

    async def finish_downloads(self) -> None:
        """Wait until the downloads that have begun are kept."""
        while self._tasks:
            await asyncio.wait(set(self._tasks))

    # --- listeners -----------------------------------------------------------------------

    def _request(self, page: Page, request: PageRequest) -> None:
        if request.method not in SAFE_METHODS:
            self._new.writes.append(self._redact(f"{request.method} {request.url}"))
        if request.is_navigation_request() and _own_frame(request, page):
            self._navigating[request] = page

    def _response(self, page: Page, response: PageResponse) -> None:
        request = response.request
        document = request.is_navigation_request() and _own_frame(request, page)
        seen = Response(
            method=request.method,
            url=self._redact(response.url),
            status=response.status,
            document=document,
            retry_after=_retry_after(response.headers.get("retry-after")),
        )
        self.all_responses.append(seen)
        if document or request.method not in SAFE_METHODS:
            self._new.responses.append(seen)
        if request.is_navigation_request() and not document:
            self._frame_answered(page, request.frame, seen)
        if document and not 300 <= response.status < 400:
            self.frame_errors.pop(page, None)
            self._new.documents += 1
            self.documents[page] = seen
            if response.status in (204, 205):
                self._navigating.pop(request, None)
        if document or request.resource_type in ("xhr", "fetch"):
            self.stirred.set()

    def _frame_answered(self, page: Page, frame: Frame, seen: Response) -> None:
        """A frame's own document: an error there stands until that frame is loaded well."""
        errors = self.frame_errors.setdefault(page, {})
        errors.pop(frame, None)
        if seen.status >= 500:
            errors[frame] = seen

    def opened_with(self, page: Page, status: int) -> None:
        """The status of a new page's first document, asked of the page itself."""
        seen = Response(method="GET", url=self._redact(page.url), status=status, document=True)
        self.documents[page] = seen
        self._new.responses.append(seen)

    def _ended(self, request: PageRequest) -> None:
        self._navigating.pop(request, None)
        self.stirred.set()

    def _navigated(self, page: Page, frame: Frame) -> None:
        if frame is page.main_frame:
            for request in [r for r, p in self._navigating.items() if p is page]:
                del self._navigating[request]
                self.loading.add(page)
        self.stirred.set()

    def _parsed(self, page: Page) -> None:
        self.loading.discard(page)
        self.stirred.set()

    def _popup(self, page: Page) -> None:
        self._new.tabs.append(page)
        self.popups += 1
        self.watch(page)
        self.stirred.set()

    def _console(self, message: ConsoleMessage) -> None:
        if message.text.startswith(SOCKET_MARK):
            url = self._redact(message.text.removeprefix(SOCKET_MARK))
            self.refused(Refusal(method="GET", url=url, rule="a WebSocket to another host"))
        if message.type in ("error", "warning", "assert"):
            self._line(f"{message.type}: {message.text}")

    def _line(self, text: str) -> None:
        self.console.append(self._redact(text)[:500])

    def _crash(self, page: Page) -> None:
        self.crashed.add(page)
        self.stirred.set()

    def _dialog(self, dialog: Dialog) -> None:
        message = self._redact(dialog.message)
        if dialog.type != "beforeunload":
            self._new.dialogs.append(message)
            self.all_dialogs.append(message)
        self._start(self._answer(dialog))
        self.stirred.set()

    async def _answer(self, dialog: Dialog) -> None:
        """Dismiss at once: an open dialog stops the page. Leaving a page is never held up."""
        try:
            if dialog.type == "beforeunload":
                await dialog.accept()
            elif self.armed:
                answer, text = self.armed.popleft()
                if answer != "accept":
                    await dialog.dismiss()
                elif text is not None and dialog.type == "prompt":
                    await dialog.accept(text)
                else:
                    await dialog.accept()
            else:
                await dialog.dismiss()
        except Error as error:
            # The page closed, or the dialog went away by itself: nothing hangs on it any more.
            self._line(f"dialog: {error.message}")

    def _download(self, download: PageDownload) -> None:
        self.downloads_begun += 1
        self._start(self._keep(download))
        self.stirred.set()

    async def _keep(self, download: PageDownload) -> None:
        try:
            path = await download.path()
            name = self._redact(Path(download.suggested_filename).name) or "download"
            kept = await asyncio.to_thread(self._store, name, Path(path))
            await download.delete()
        except (Error, OSError) as error:
            self._line(f"download failed: {error}")
            return
        finally:
            self.stirred.set()
        self._new.downloads.append(kept)
        self.all_downloads.append(kept)

    def _store(self, name: str, path: Path) -> Download:
        content = path.read_bytes()
        kept = self._artifacts.keep(self._run, f"downloads/{name}", content)
        digest = hashlib.sha256(content).hexdigest()
        return Download(name=name, bytes=len(content), sha256=digest, path=kept)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


class _Fresh:
    """What has not been told yet."""

    def __init__(self) -> None:
        self.responses: list[Response] = []
        self.refusals: list[Refusal] = []
        self.dialogs: list[str] = []
        self.downloads: list[Download] = []
        self.tabs: list[Page] = []
        self.writes: list[str] = []
        self.documents = 0


def _own_frame(request: PageRequest, page: Page) -> bool:
    """Whether a navigation request loads the page's own document."""
    try:
        return request.frame is page.main_frame
    except Error:
        # Playwright raises while the popup of this request has no page yet: it is its own document.
        return True


def _retry_after(header: str | None) -> float | None:
    """Seconds to wait, of a Retry-After header in either of its forms."""
    if header is None:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        when = parsedate_to_datetime(header)
    except (TypeError, ValueError):
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return max(0.0, (when - datetime.now(UTC)).total_seconds())
