"""What the executor saw and how a move of it ended."""

from __future__ import annotations

from typing import Literal, TypeAlias

from webagent.core.base import Frozen, Json
from webagent.core.sighting import Element
from webagent.core.target import Target

Drift: TypeAlias = Literal[
    "target_missing",
    "target_ambiguous",
    "page_moved",
    "wrong_page",
    "slow",
    "server_error",
    "blocked_by_site",
    "signed_out",
    "output_invalid",
    "value_differs",
    "precondition_unmet",
    "stale_input",
    "unexpected_event",
    "page_lost",
    "effect_unknown",
]

FailureKind: TypeAlias = Literal[
    "target_missing",  # nothing matches
    "target_ambiguous",  # several match and there is no nth
    "not_actionable",  # matches, but stayed disabled or moving till the deadline
    "in_the_way",  # matches, but stayed hidden, or covered by something else, till the deadline
    "timeout",  # what was waited for did not come
    "navigation",  # the document did not load (refused connection, reset, name not found)
    "refused",  # the guard refused the request that this action caused
    "unexpected",  # a dialog, tab or download that nothing expected
    "invalid_read",  # a value is not of its type
    "secret_refused",  # the field is not on the secret's origin
    "page_lost",  # tab, browser or context is gone
    "invalid",  # the action cannot be done as written (bad selector, missing file)
]


class Failure(Frozen):
    """Why an action failed.

    ``dispatched``: whether the input had reached the page: no, yes, or unknown (treated as yes for
    writes). ``names``: up to a few candidates that a person may have meant.
    """

    kind: FailureKind
    message: str
    dispatched: Literal["no", "yes", "unknown"] = "no"
    candidates: tuple[str, ...] = ()


class Response(Frozen):
    """One response of interest: documents and what answers to writes."""

    method: str
    url: str
    status: int
    document: bool = False
    retry_after: float | None = None


class Refusal(Frozen):
    """A request that the guard did not let out, and by which rule."""

    method: str
    url: str
    rule: str


class Download(Frozen):
    """A file that the page gave: kept under its hash, never overwritten."""

    name: str
    bytes: int
    sha256: str
    path: str


class Happened(Frozen):
    """What took place in a tab since the last look: the side effects of an action."""

    responses: tuple[Response, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    dialogs: tuple[str, ...] = ()
    downloads: tuple[Download, ...] = ()
    tabs: tuple[str, ...] = ()
    documents: int = 0
    writes: tuple[str, ...] = ()


class Outcome(Frozen):
    """How one action ended. ``values`` are the outputs of a read, with ``NAME_bad`` rows apart.

    ``sighted``: for each target of the action that was found, the bound target's own text, what it
    looked like and the URL of its page. It goes into the sightings when the step is met, and not
    into the journal.
    """

    failure: Failure | None = None
    values: dict[str, Json] = {}
    sighted: tuple[tuple[str, Element, str], ...] = ()
    happened: Happened = Happened()
    ms: float = 0.0
    note: str = ""


class Pointed(Frozen):
    """An element that was pointed at in an outline, and a target that finds it alone."""

    element: Element
    target: Target


class PointedRow(Frozen):
    """How a list is read of which one row was pointed at.

    ``each`` finds ``count`` rows; ``parts`` are targets inside a row (None: the row itself).
    """

    each: Target
    count: int
    parts: tuple[Target | None, ...] = ()


class Observation(Frozen):
    """What the page looked like: the facts that drift is told from.

    ``status`` is the document's HTTP status (0: none); ``loading``: the document or a navigation is
    still under way. ``sign_in`` says that a password field is shown. ``frame_error``: a frame in
    the page whose own document is a server's error, and which. ``remade``: fields that were filled
    before the last input are there again and empty, so the page was made anew around that input and
    it may have met nothing. ``outline`` is the AI snapshot, redacted, cut to a length; artifacts
    are names of files kept with the run.
    """

    url: str = ""
    title: str = ""
    status: int = 0
    alive: bool = True
    loading: bool = False
    sign_in: bool = False
    captcha: bool = False
    frame_error: str = ""
    remade: bool = False
    retry_after: float | None = None
    outline: str = ""
    dialogs: tuple[str, ...] = ()
    tabs: tuple[str, ...] = ()
    console: tuple[str, ...] = ()
    requests: tuple[str, ...] = ()
    screenshot: str | None = None
    outline_file: str | None = None
