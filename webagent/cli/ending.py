"""How a command ends: one exit code, one message, and never a traceback in a person's face.

The codes are a promise to scripts (README.md has the same table). A run's own code comes with its
result; an error's comes with its class (`core.errors`).
"""

from __future__ import annotations

import json
import sys
import tempfile
import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from webagent.core.errors import WebagentError

EXIT_FAILED = 1
EXIT_BAD_INPUT = 2
EXIT_PARKED = 130

EPILOG = (
    "Exit codes: 0 met · 1 failed · 2 bad input · 3 waits for a person · 4 a limit was hit · "
    "5 an effect was refused or is unknown · 6 the store · 130 parked (Ctrl-C, stop). "
    "RUN is an id, the beginning of one, or `last`."
)


def wants_json(arguments: list[str]) -> bool:
    """Whether standard output belongs to a program: then an error is a JSON object there."""
    return "--json" in arguments


def of_error(error: WebagentError, *, as_json: bool) -> int:
    """Tell a person (and a program) of an error; the exit code that goes with it."""
    from webagent.cli.showing import plain, to_stderr
    from webagent.wiring import redact_all

    message, hint = redact_all(error.message), redact_all(error.hint)
    if as_json:
        told: dict[str, Any] = {
            "ok": False,
            "error": {"code": error.code, "message": message, "hint": hint},
            "exit_code": error.exit_code,
        }
        if (problems := getattr(error, "problems", None)) is not None:
            told["problems"] = [problem_json(problem) for problem in problems]
        write_json(told)
        return error.exit_code
    to_stderr(plain(message))
    if hint:
        to_stderr(f"    {plain(hint)}")
    return error.exit_code


def problem_json(problem: Any) -> dict[str, Any]:
    """One problem of a recipe for a program."""
    fields = ("file", "line", "column", "path", "message", "hint", "code")
    return {name: getattr(problem, name) for name in fields}


def of_crash(error: BaseException, *, as_json: bool) -> int:
    """Tell of a bug in one line, and keep the traceback where it can be sent from."""
    from webagent.cli.showing import plain, to_stderr
    from webagent.wiring import redact_all

    told = redact_all("".join(traceback.format_exception(error)))
    kept = _keep(told)
    first = redact_all(f"{type(error).__name__}: {error}").splitlines()[0]
    message = f"webagent has a bug: {first}"
    if as_json:
        error_json = {"code": "bug", "message": message, "hint": f"The traceback is in {kept}."}
        write_json({"ok": False, "error": error_json, "exit_code": EXIT_FAILED})
    else:
        to_stderr(plain(message))
        to_stderr(f"    The traceback is in {kept}; please send it with a report.")
    return EXIT_FAILED


def _keep(text: str) -> Path:
    """The file in which a traceback was kept: in the store, else among temporary files."""
    from webagent import wiring
    from webagent.core.errors import WebagentError

    name = f"{datetime.now(UTC):%Y%m%dT%H%M%S%f}.txt"
    try:
        folder = wiring.settings().store
        if folder.is_dir():
            wiring.keep_private(folder / "errors" / name, text.encode("utf-8", "replace"))
            return folder / "errors" / name
    except (OSError, WebagentError):
        pass  # the bug may be in there
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", errors="replace", prefix="webagent-", suffix=".txt", delete=False
    ) as file:
        file.write(text)
    return Path(file.name)


def write_json(value: Any) -> None:
    """One JSON document on standard output, and nothing else with it."""
    _write(json.dumps(value, ensure_ascii=not _speaks_unicode(), indent=2))


def write_json_line(value: Any) -> None:
    """As `write_json`, in one line: for what prints several, or a last line that is looked for."""
    _write(json.dumps(value, ensure_ascii=not _speaks_unicode()))


def _speaks_unicode() -> bool:
    return (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"


def _write(text: str) -> None:
    # A surrogate alone (from a broken page) becomes its JSON escape.
    sys.stdout.write(text.encode("utf-8", "backslashreplace").decode("utf-8") + "\n")
    sys.stdout.flush()
