"""Claude, and every server that speaks the same Messages interface, through the anthropic SDK.

The SDK is loaded by the first question (it takes some two seconds) and does the retries: 408, 409,
429, 5xx and cut connections, when ``retry-after`` says, all within the role's ``seconds``. Each
call opens a connection of its own: calls are seconds apart, and a chat needs no closing. The key is
told to the SDK and to nothing else: messages of errors are searched for it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from webagent.chats.answers import checked
from webagent.chats.messages import countable, reply_of, request, upper_estimate
from webagent.core.chat import ModelSpec, Question, Reply, Role
from webagent.core.errors import ModelError, ModelUnavailable
from webagent.core.redact import Redactor

if TYPE_CHECKING:
    import anthropic

BASE_URL = "https://api.anthropic.com"
RETRIES = 6
_COUNT_SECONDS = 15.0
_CONNECT_SECONDS = 10.0
_UNCOUNTED = frozenset({404, 405, 501})
_PASSING = frozenset({409, 429})

NO_KEY_HINT = (
    "Set ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN), or ANTHROPIC_BASE_URL to another server that "
    "speaks the Messages interface. Without a model still work: every recipe whose steps have "
    "segments, and the repairs of the local planner."
)

# The status of the newest response to the call that is being made: when the time is up while a
# retry waits, it tells that the server is overloaded rather than silent.
_newest: ContextVar[list[int] | None] = ContextVar("_newest", default=None)


class ClaudeChat:
    """The port `Chat` over ``anthropic.AsyncAnthropic``.

    Args:
        specs: the model of each role; a role that is not there cannot be asked.
        api_key: goes as ``x-api-key``; goes before ``auth_token``.
        auth_token: goes as a bearer token.
        base_url: another server of the same interface; one that is named may need no key.
        retries: how often a call that failed in passing is made again at most.
    """

    def __init__(
        self,
        specs: Mapping[Role, ModelSpec],
        *,
        api_key: str | None = None,
        auth_token: str | None = None,
        base_url: str | None = None,
        retries: int = RETRIES,
    ) -> None:
        self._specs = dict(specs)
        self._api_key = api_key or None
        self._auth_token = None if self._api_key else auth_token or None
        self._base_url = base_url or None
        self._retries = retries
        keys = frozenset(key for key in (self._api_key, self._auth_token) if key)
        self._redact = Redactor(lambda: keys).text
        self._client: anthropic.AsyncAnthropic | None = None
        self._counts = True
        self._unforced: set[str] = set()

    async def ask(self, question: Question) -> Reply:
        """One call. Raises ModelError or ModelUnavailable."""
        spec = self._spec(question)
        self._check_key(question.role, spec)
        client = await self._open()
        made = request(question, spec, _sdk().transform_schema)
        began = time.monotonic()
        message = await self._create(client, made, question.role, spec)
        try:
            return checked(question, reply_of(message, time.monotonic() - began))
        except ModelError as error:
            raise _named(error, question.role, spec, self._redact) from None

    async def count(self, question: Question) -> int:
        """Tokens by the server; by `upper_estimate` where it cannot be asked or does not count."""
        spec = self._spec(question)
        estimate = upper_estimate(request(question, spec, dict))
        if not self._signed_in or not self._counts:
            return estimate
        client = await self._open()
        made = request(question, spec, _sdk().transform_schema)
        sdk = _sdk()
        try:
            async with asyncio.timeout(min(spec.seconds, _COUNT_SECONDS)):
                told = await client.with_options(max_retries=1).messages.count_tokens(
                    **countable(made)
                )
            return int(told.input_tokens)
        except sdk.APIStatusError as error:
            self._counts = error.status_code not in _UNCOUNTED
        except (sdk.AnthropicError, TimeoutError, ValueError, TypeError, AttributeError):
            pass
        return estimate

    # -- one call -----------------------------------------------------------------------------

    async def _create(
        self, client: anthropic.AsyncAnthropic, made: dict[str, Any], role: Role, spec: ModelSpec
    ) -> Mapping[str, Any]:
        sdk = _sdk()
        seen: list[int] = []
        token = _newest.set(seen)
        try:
            async with asyncio.timeout(spec.seconds):
                return _plain(await self._forced(client, made, spec))
        except (TimeoutError, sdk.APITimeoutError):
            raise self._late(role, spec, seen) from None
        except sdk.APIConnectionError:
            told = f"No connection to {self._base_url or BASE_URL} for the {role}."
            hint = "Is it reachable, and ANTHROPIC_BASE_URL right? " + NO_KEY_HINT.split(". ")[1]
            raise ModelUnavailable(told, fault="unreachable", hint=hint) from None
        except sdk.APIStatusError as error:
            raise self._refusal(error, role, spec) from None
        except (sdk.AnthropicError, ValueError) as error:
            told = f"{_who(role, spec)}: the server's answer cannot be read: {error}"
            raise ModelError(self._redact(told), fault="malformed") from None
        finally:
            _newest.reset(token)

    async def _forced(
        self, client: anthropic.AsyncAnthropic, made: dict[str, Any], spec: ModelSpec
    ) -> object:
        """Call; a model that thinks and cannot be made to use a tool is asked to, from then on."""
        sdk = _sdk()
        timeout = sdk.Timeout(spec.seconds, connect=min(spec.seconds, _CONNECT_SECONDS))
        choice: dict[str, Any] = made.get("tool_choice", {})
        unforced = made | {"tool_choice": choice | {"type": "auto"}}
        forced = choice.get("type") == "any"
        if forced and spec.model in self._unforced:
            return await client.messages.create(**unforced, timeout=timeout)
        try:
            return await client.messages.create(**made, timeout=timeout)
        except sdk.BadRequestError as error:
            if not forced or "tool_choice" not in _told(error):
                raise
        self._unforced.add(spec.model)
        return await client.messages.create(**unforced, timeout=timeout)

    def _late(self, role: Role, spec: ModelSpec, seen: list[int]) -> ModelError:
        if seen and (seen[-1] in _PASSING or seen[-1] >= 500):
            told = f"{_who(role, spec)} is overloaded: status {seen[-1]} for {spec.seconds:g} s."
            return ModelError(told, fault="overloaded", hint="Try again later.")
        told = f"{_who(role, spec)} gave no answer within {spec.seconds:g} s."
        return ModelError(told, fault="timeout", hint="Give the role more seconds.")

    def _refusal(self, error: anthropic.APIStatusError, role: Role, spec: ModelSpec) -> ModelError:
        status = error.status_code
        said = self._redact(_told(error))
        if status in _PASSING or status >= 500:
            told = f"{_who(role, spec)} is overloaded: status {status}, {said}"
            return ModelError(told, fault="overloaded", hint="Try again later.")
        if status == 408:
            told = f"{_who(role, spec)} gave no answer in time: {said}"
            return ModelError(told, fault="timeout")
        hints = {
            401: "The server does not accept the key: see ANTHROPIC_API_KEY.",
            403: "This key may not use this model.",
            404: "Is there such a model? `webagent doctor --model` tries it.",
            413: "The question is too large.",
        }
        told = f"{_who(role, spec)}: the request was not accepted: status {status}, {said}"
        return ModelError(told, fault="rejected", hint=hints.get(status, ""))

    # -- who, and with which key --------------------------------------------------------------

    def _spec(self, question: Question) -> ModelSpec:
        spec = self._specs.get(question.role)
        if spec is None:
            raise ModelUnavailable(
                f"No model is named for the {question.role}.", fault="no_key",
                hint="Name one: models in the recipe or in webagent.toml, or WEBAGENT_MODEL.",
            )  # fmt: skip
        return spec

    @property
    def _signed_in(self) -> bool:
        return bool(self._api_key or self._auth_token or self._base_url)

    def _check_key(self, role: Role, spec: ModelSpec) -> None:
        if not self._signed_in:
            told = f"There is no key for the {role}'s model {spec.model}."
            raise ModelUnavailable(told, fault="no_key", hint=NO_KEY_HINT)

    async def _open(self) -> anthropic.AsyncAnthropic:
        if self._client is None:
            sdk = await asyncio.to_thread(_sdk)
            token = self._auth_token
            self._client = sdk.AsyncAnthropic(
                # Given here, neither is looked for in the environment: the settings read that.
                api_key=self._api_key or (None if token else "none"),
                auth_token=token,
                base_url=self._base_url or BASE_URL,
                max_retries=self._retries,
                default_headers={"Connection": "close"},
                open_telemetry=False,
                http_client=sdk.DefaultAsyncHttpxClient(event_hooks={"response": [_note]}),
            )
        return self._client


def _sdk() -> Any:
    import anthropic  # noqa: PLC0415 - two seconds, which only those pay who ask a model

    return anthropic


async def _note(response: Any) -> None:
    seen = _newest.get()
    if seen is not None:
        seen.append(response.status_code)


def _plain(message: object) -> Mapping[str, Any]:
    """A response as plain data; the SDK does not check that it is a message."""
    dump = getattr(message, "model_dump", None)
    made = dump(mode="json", warnings=False) if dump is not None else {}
    return made if isinstance(made, dict) else {}


def _told(error: anthropic.APIStatusError) -> str:
    """What the server said of its error, in its own words, cut."""
    body = error.body
    inner = body.get("error") if isinstance(body, dict) else None
    text = inner.get("message") if isinstance(inner, dict) else None
    return " ".join(str(text or error.message).split())[:500]


def _who(role: Role, spec: ModelSpec) -> str:
    return f"The {role}'s model {spec.model}"


def _named(error: ModelError, role: Role, spec: ModelSpec, redact: Any) -> ModelError:
    """The same error, saying whose model it was."""
    told = redact(f"{error.message} (the {role}'s model, {spec.model})")
    return ModelError(told, fault=error.fault, hint=error.hint, usage=error.usage)
