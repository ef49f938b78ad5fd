"""A plan drafted by a model from a request in words: what is asked, what came, what is refused.

Everything here is plain data and pure: a draft becomes a recipe's text (`formats.recipe_draft`) and
is proven as any recipe is. What no recipe's check can know stands here: which addresses, secrets
and files the *person* named. A model names none of its own.
"""

from __future__ import annotations

import hashlib
import ipaddress
import re
from collections.abc import Iterator
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

from pydantic import Field

from webagent.core.base import Frozen, Json
from webagent.core.chat import ModelSpec, Usage
from webagent.core.errors import Problem
from webagent.core.plan import InputType, StepKind
from webagent.core.request_rules import origin_of

MOST_STEPS = 50
LONGEST_REQUEST = 8_000

OutputType: TypeAlias = Literal["text", "number", "money", "date", "url", "boolean", "list"]


class StartPage(Frozen):
    """A page that the person named, as it was looked at: it is data, whatever it says."""

    url: str
    title: str = ""
    outline: str = ""


class DraftRequest(Frozen):
    """What a person wants, in words. ``inputs``: values that were given along with them.

    ``models``: what the drafted recipe names as its models ("" where the settings name them).
    """

    words: str
    urls: tuple[str, ...] = ()
    pages: tuple[StartPage, ...] = ()
    inputs: dict[str, Json] = {}
    models: str = ""

    @property
    def recipe_id(self) -> str:
        """An id of the words: the same request has the same, so its effects are remembered."""
        told = "\n".join([" ".join(self.words.split()), *self.urls])
        digest = hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()[:6]
        words = re.findall(r"[a-z0-9]+", _URL.sub(" ", self.words).lower())
        slug = "-".join(words[:4])[:40].strip("-")
        return f"{slug or 'request'}-{digest}"


class DraftedInput(Frozen):
    """An input; ``value`` "" and no ``file``: it must be given. ``file``: a CSV for a list."""

    name: str
    type: InputType
    value: str
    file: str = ""
    help: str = ""


class DraftedSecret(Frozen):
    """A secret: the environment variable that the person named, and where it may be typed."""

    name: str
    env: str
    origin: str


class DraftedField(Frozen):
    """One field of a list's rows."""

    name: str
    type: OutputType


class DraftedOutput(Frozen):
    """What a step has to read. ``fields`` and ``min`` are of a list."""

    name: str
    type: OutputType
    fields: tuple[DraftedField, ...] = ()
    min: int = 0


class DraftedStep(Frozen):
    """A step as a model plans it. Empty texts, lists and zeros say nothing."""

    name: str
    do: StepKind
    goal: str
    why: str
    start: str = ""
    origins: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    when: str = ""
    continues: str = ""
    session: str = ""
    for_each: str = ""
    key: str = ""
    allow_failed: str = ""
    effect: Literal["", "none", "repeatable", "once"] = ""
    once_name: str = ""
    once_key: str = ""
    before_commit: tuple[str, ...] = ()
    expect: tuple[str, ...] = ()
    outputs: tuple[DraftedOutput, ...] = ()
    seconds: int = 0
    pages: int = 0
    source: str = Field(default="", alias="from")
    where: str = ""
    order: tuple[str, ...] = ()
    take: int = 0
    question: str = ""
    options: tuple[str, ...] = ()


class Drafted(Frozen):
    """A model's whole answer."""

    errand: str
    inputs: tuple[DraftedInput, ...] = ()
    secrets: tuple[DraftedSecret, ...] = ()
    steps: tuple[DraftedStep, ...]


class Draft(Frozen):
    """A drafted recipe that passed: its text, by whom, and what it cost.

    ``spec``: the model that drafted it. ``calls``: one, and one for each correction.
    """

    recipe_id: str
    text: str
    spec: ModelSpec | None = None
    calls: int = 1
    usage: Usage = Usage()


# --- what the person named ---------------------------------------------------------------------

_URL = re.compile(r"https?://[^\s<>\"'`]+", re.IGNORECASE)
_HOST = re.compile(
    r"(?<![\w@.:/-])((?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z][a-z0-9-]*[a-z0-9]"
    r"|localhost|\d{1,3}(?:\.\d{1,3}){3})(:\d{1,5})?(?![\w@-])",
    re.IGNORECASE,
)


def named_origins(request: DraftRequest) -> frozenset[str]:
    """The origins of all addresses that stand in the request; a bare host counts for both schemes.

    What a looked-at page says names nothing.
    """
    whole = [*_URL.findall(request.words), *request.urls]
    found = {_origin(url.rstrip(".,;:!?)]}")) for url in whole}
    for host, port in _HOST.findall(_URL.sub(" ", request.words)):
        found |= {_origin(f"{scheme}://{host}{port}") for scheme in ("http", "https")}
    return frozenset(found - {""})


def is_private(origin: str) -> bool:
    """Whether an origin is an address of a private network as it is written."""
    host = urlsplit(origin).hostname or ""
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return host == "localhost"


def origins_of(step: DraftedStep) -> tuple[str, ...]:
    """Where a drafted step goes: what it says, and the origin of its start."""
    told = [_origin(origin) or origin for origin in step.origins]
    start = _origin(step.start)
    return tuple(dict.fromkeys([*told, *([start] if start else [])]))


def _origin(url: str) -> str:
    try:
        return origin_of(url)
    except ValueError:
        return ""


# Statements of a template, and names by which Python's insides are reached.
_REACHING = re.compile(r"\{%|(?:\.|\[\s*['\"]|attr\(\s*['\"])__")

# --- what is refused before it becomes a recipe --------------------------------------------------


def refusals(request: DraftRequest, drafted: Drafted) -> list[Problem]:
    """What a draft may not hold, whatever `check` thinks of it as a recipe."""
    found = list(_shape(drafted))
    found += _strangers(request, drafted)
    found += _unnamed(request, drafted)
    found += _reaching(drafted)
    return found


def _shape(drafted: Drafted) -> Iterator[Problem]:
    if not drafted.steps:
        yield Problem("the plan has no step", path="steps", hint="a small request is one step")
    if len(drafted.steps) > MOST_STEPS:
        yield Problem(
            f"the plan has {len(drafted.steps)} steps: more than {MOST_STEPS}", path="steps",
            hint="what is done for each item of a list is one step with for_each",
        )  # fmt: skip
    for kind in ("inputs", "secrets", "steps"):
        names = [one.name for one in getattr(drafted, kind)]
        for name in dict.fromkeys(n for n in names if names.count(n) > 1):
            yield Problem(f"the name {name!r} is given twice", path=f"{kind}.{name}")


def _strangers(request: DraftRequest, drafted: Drafted) -> Iterator[Problem]:
    named = named_origins(request)
    hint = "the person named: " + (", ".join(sorted(named)) or "no address")
    for step in drafted.steps:
        for origin in origins_of(step):
            if origin not in named:
                yield Problem(
                    f"{origin!r} is no site that the person named", hint=hint,
                    path=f"steps.{step.name}.origins", code="stranger",
                )  # fmt: skip
        if step.start and not _origin(step.start):
            yield Problem(f"{step.start!r} is no whole web address", code="stranger",
                          path=f"steps.{step.name}.start", hint=hint)  # fmt: skip
    for secret in drafted.secrets:
        if _origin(secret.origin) not in named:
            yield Problem(
                f"{secret.origin!r} is no site that the person named", hint=hint,
                path=f"secrets.{secret.name}.origin", code="stranger",
            )  # fmt: skip


def _unnamed(request: DraftRequest, drafted: Drafted) -> Iterator[Problem]:
    """Secrets and files come from this machine: only those that the person named."""
    for secret in drafted.secrets:
        if not _says(request.words, secret.env):
            yield Problem(
                f"the person named no environment variable {secret.env!r}",
                hint="a secret comes from a variable that stands in the request, or not at all",
                path=f"secrets.{secret.name}.env", code="unnamed_secret",
            )  # fmt: skip
    for given in drafted.inputs:
        file = given.file or (given.value if given.type == "file" else "")
        if file and not _says(request.words, file):
            yield Problem(
                f"the person named no file {file!r}", code="unnamed_file",
                hint="leave its value empty: it is given when the recipe is run",
                path=f"inputs.{given.name}",
            )  # fmt: skip


def _reaching(drafted: Drafted) -> Iterator[Problem]:
    """Expressions refer to values; the sandbox would stop what reaches further, in mid-run."""
    for step in drafted.steps:
        for key, value in step.model_dump(by_alias=True, exclude={"why", "outputs"}).items():
            for text in value if isinstance(value, list | tuple) else (value,):
                if isinstance(text, str) and _REACHING.search(text):
                    yield Problem(
                        f"an expression may not hold {'{%' if '{%' in text else '__'}: {text[:80]}",
                        path=f"steps.{step.name}.{key}", code="expression",
                        hint="name a value, such as {{ search.offers }}",
                    )  # fmt: skip


def _says(words: str, name: str) -> bool:
    return bool(name.strip()) and bool(
        re.search(rf"(?<![\w./-]){re.escape(name)}(?![\w/-])", words)
    )
