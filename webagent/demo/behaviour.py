"""How a site behaves beside its content: late, failing now and then, or hanging up.

The chance in it is seeded, so a test that fails on a flaky face fails again.
"""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

HYDRATION_DELAY_MS = 400

HYDRATION = f"""
<script>
  // A late framework: the page is painted, and some time later its main part is made anew.
  // What was typed until then is lost, and handles to the old nodes are stale.
  document.addEventListener("DOMContentLoaded", () => {{
    const html = document.querySelector("main").outerHTML;
    setTimeout(() => {{
      document.querySelector("main").outerHTML = html;
      document.documentElement.dataset.hydrated = "yes";
    }}, {HYDRATION_DELAY_MS});
  }});
</script>
"""

UNAVAILABLE = (
    "<!doctype html><html lang=en><title>503 Service Unavailable</title>"
    "<h1>503 Service Unavailable</h1><p>The site is busy. Please try again in a moment.</p>"
)


def unavailable(retry_after: int = 1) -> Response:
    """A 503 that says after how many seconds to come back."""
    return HTMLResponse(UNAVAILABLE, status_code=503, headers={"retry-after": str(retry_after)})


@dataclass
class Weather:
    """The slow and the flaky face's state: its chance, and which documents failed already."""

    seed: int = 7
    slow_between: tuple[float, float] = (0.5, 2.0)
    _random: random.Random = field(init=False)
    _seen: int = field(init=False, default=0)
    _failed: set[str] = field(init=False, default_factory=set)

    def __post_init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Start the chance and the counting again."""
        self._random = random.Random(self.seed)
        self._seen = self.seed % 3
        self._failed.clear()

    async def delay(self) -> None:
        """Hold a document back as the slow face does."""
        await asyncio.sleep(self._random.uniform(*self.slow_between))

    def fails(self, url: str) -> bool:
        """Whether the flaky face refuses this document: every third, each at most once.

        A page that failed once always works after, so one retry is enough and a recipe that
        never retries fails for sure.
        """
        if url in self._failed:
            return False
        self._seen += 1
        if self._seen % 3:
            return False
        self._failed.add(url)
        return True


async def hang_up(request: Request) -> Response:
    """Close the connection without an answer; the returned response is never sent.

    Needs the server of `serving`, which puts the connection's transport into the ASGI state.
    """
    transport = request.scope.get("state", {}).get("transport")
    if transport is None:
        raise RuntimeError("cut_after_write needs the server of webagent.demo.serving")
    transport.close()
    while (await request.receive())["type"] != "http.disconnect":
        pass
    return Response(status_code=500)
