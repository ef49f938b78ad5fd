"""The simulated model as a planner: a plan out of the words of a request, one segment anew.

What it writes comes from the request's lines and, for a repair, from the page that is shown. A
plan says nothing of a page's looks: it was made without looking at one.
"""

from __future__ import annotations

import json
import re
from typing import Any

from fixtures.messages import Blocks, text
from tests.bench.errands import goals
from tests.bench.errands.goals import Goal
from tests.bench.errands.look import Look
from tests.bench.errands.moves import BUTTONS

DRAFTS = "You write an errand down as a recipe"
LISTS = "You write an errand down as a list of steps"
REPAIRS = "You repair one step of an errand"

DRAFT_PROMPT = f"""\
{DRAFTS}: a plan that a program works in a browser, each step by somebody who is told that step and
nothing else. Answer with the recipe in YAML, under `recipe`.

- A recipe has: webagent: 1, id, errand, sites (origins that may be visited), secrets, steps.
- A step has: do (sign_in, read, submit, compare), goal (in words, with every fact that the step
  takes), scope (the origins it works at), session (the sign_in step that it works under), expect
  (what must hold when it is done).
- What one step gives and another takes stands in the goal as {{{{ step_3.code }}}}: that also says
  which step has to come first. Steps that take nothing of each other are worked side by side.
- What a step has to give is an expectation: - output: {{code: {{matches: "[0-9]+"}}}}.
- A step that may be done once only is `do: submit` with `once` (a key; the input `round` in it
  tells one time from another), `before_commit` (what has to stand on the page right before) and a
  `probe` (where one can look up whether it was done).
- compare chooses without a page: from (a list), order, take.
- A password is a secret, never a part of a goal.
"""
LIST_PROMPT = f"""\
{LISTS}: each step in one line, with every fact that it takes, in the order in which they are to be
done. Answer with the list under `steps`, as number and goal.
"""
DRAFT_SCHEMA: dict[str, Any] = {
    "type": "object", "properties": {"recipe": {"type": "string"}}, "required": ["recipe"],
    "additionalProperties": False,
}  # fmt: skip
LIST_SCHEMA: dict[str, Any] = {
    "type": "object", "properties": {"steps": {"type": "array", "items": {"type": "string"}}},
    "required": ["steps"], "additionalProperties": False,
}  # fmt: skip


def answer(system: str, said: str, page: Look) -> Blocks | None:
    """The answer to a planner's question; None where no plan was asked for."""
    if DRAFTS in system:
        return [text(json.dumps({"recipe": recipe(said)}))]
    if LISTS in system:
        steps = goals.steps_of(said)
        known = goals.values_read(said)
        if stale := _AGAIN.search(said):
            known = {n: v for n, v in known.items() if f"ticket {stale[1]} " not in steps[n]}
        left = [f"{n}. {words}" for n, words in sorted(steps.items()) if n not in known]
        return [text(json.dumps({"steps": left}))]
    if REPAIRS in system:
        return [text(json.dumps(repair(said, page)))]
    return None


# -- a recipe out of a request ----------------------------------------------------------------


def recipe(said: str) -> str:
    """The recipe of a request, in YAML. Lines that are no steps are left out."""
    steps = goals.steps_of(said)
    parsed = {n: goal for n, words in steps.items() if (goal := goals.parse(words)) is not None}
    desks = [goal.url for goal in parsed.values() if goal.kind == "sign_in"]
    listed = re.search(r"listed at\s+(\S+), in\s+the table (\w+)", said)
    lines = [
        "webagent: 1", "id: desk-errand", "errand: What was asked for at the desk",
        f"sites: [{', '.join(_origins(parsed.values()))}]",
        "inputs:", "  round: {type: string, default: first}",
        "secrets:", f"  password: {{env: DESK_PASSWORD, for: {_origin(desks[0])}}}", "steps:",
    ]  # fmt: skip
    for number, goal in sorted(parsed.items()):
        lines.append(f"  step_{number}:")
        lines += [f"    {line}" for line in _step(number, goal, parsed, steps, listed)]
    return "\n".join(lines) + "\n"


def _origin(url: str) -> str:
    return "/".join(url.split("/")[:3])


def _origins(all_of: Any) -> list[str]:
    return list(dict.fromkeys(_origin(goal.url) for goal in all_of if goal.url))


def _step(
    number: int,
    goal: Goal,
    parsed: dict[int, Goal],
    steps: dict[int, str],
    listed: re.Match[str] | None,
) -> list[str]:
    codes = [f"{{{{ step_{n}.code }}}}" for n in goal.needs]
    access = f"code{'s' if len(codes) > 1 else ''} {' and '.join(codes)}"
    words = re.sub(r"codes? from steps? [\d and]+(?=\.$)", access, steps[number])
    session = [f"session: step_{n}" for n, g in parsed.items() if g.kind == "sign_in"]
    scope = f"scope: {{origins: [{_origin(goal.url)}]}}"
    match goal.kind:
        case "sign_in":
            words = words.replace(goal.password, "that is kept as a secret")
            return ["do: sign_in", f'goal: "{words}"', scope, "expect:", f'  - text: "{goal.user}"']
        case "choose":
            rows = ", ".join(
                f"{{'item': '{parsed[n].item}', 'price': step_{n}.price}}" for n in goal.needs
            )
            return ["do: compare", f'from: "{{{{ [{rows}] }}}}"', "order: [price]", "take: 1"]
        case "price":
            more = _expects(goal.item, "price: {min: 0.01}")
            return ["do: read", f'goal: "{words}"', scope, *session, *more]
        case "ticket":
            shown = f"Ticket {goal.item} is open"
            return ["do: read", f'goal: "{words}"', scope, *session, *_expects(shown, _CODE)]
        case "booking":
            return _booking(number, goal, words, parsed, listed)


_CODE = 'code: {matches: "[A-Z]-[0-9]+"}'


def _expects(shown: str, output: str) -> list[str]:
    return ["expect:", f'  - text: "{shown}"', f"  - output: {{{output}}}"]


def _booking(
    number: int, goal: Goal, words: str, parsed: dict[int, Goal], listed: re.Match[str] | None
) -> list[str]:
    item, checks = goal.item, [goal.item, goal.price]
    if goal.url.endswith("/ID"):
        choose = next(n for n, g in parsed.items() if g.kind == "choose")
        item = f"{{{{ step_{choose}.item }}}}"
        words = words.replace("the chosen item", item).replace("/ID", f"/{item}")
        checks = [item]
    lines = ["do: submit", f'goal: "{words}"', f"scope: {{origins: [{_origin(goal.url)}]}}"]
    lines.append(f'once: {{name: book, key: "{{{{ round }}}} {item}"}}')
    lines += ["before_commit:", *(f'  - text: "{check}"' for check in checks if check)]
    lines += _expects(f"Slot {item} is booked", _CODE)
    if listed is not None:
        lines += [
            "probe:", f"  - goto: {listed[1].rstrip(',')}",
            f"  - read: {{booked: {{table: 'table \"{listed[2]}\"', key: code, "
            "columns: {Code: code, Slot: slot}}}",
        ]  # fmt: skip
    return lines


# -- one segment anew -------------------------------------------------------------------------

_ACTION = re.compile(r"^(\d+): (.*?)(   <- failed)?$", re.MULTILINE)
_GOAL = re.compile(r"^Goal: (.+)$", re.MULTILINE)
_AGAIN = re.compile(r"no longer valid: open ticket (\S+) again")
_STALE = re.compile(r"[Cc]ode (\S+) is no longer valid")


def repair(said: str, page: Look) -> dict[str, Any]:
    """What to do about a failing step: its actions as they are told, changed where the page is."""
    goal = goals.parse(_GOAL.findall(said)[-1]) if _GOAL.search(said) else None
    actions = [json.loads(found[1]) for found in _ACTION.findall(said)]
    if stale := _STALE.search(page.alert):
        name = goals.values_listed(said).get(stale[1], "")
        if name:
            return _said("reopen", step=name.split(".")[0], reason=page.alert)
    if goal is None or page.alert:
        return _said("cannot", reason=page.alert or "I do not know what the step is for")
    if page.heading in ("A notice for everybody", "This page has moved"):
        link = page.link_to(goal.item)
        at = _after_goto(actions)
        if link is not None and goal.item:
            return _segment(actions, at, [{"click": f'link "{link.name}"'}])
    changed = [_renamed(action, goal, page) for action in actions]
    if changed != actions:
        first = next(i for i, (a, b) in enumerate(zip(actions, changed, strict=True)) if a != b)
        return _said("segment", first=first, segment=[_written(a) for a in changed],
                     reason="the page names it otherwise")  # fmt: skip
    other = page.find("combobox", "Ticket")
    if other is not None and page.chosen(other) != goal.item:
        right = [a for a in actions if not _leads_elsewhere(a, goal)]
        return _segment(right, _after_goto(right), [{"select": {'combobox "Ticket"': goal.item}}])
    return _said("cannot", reason="nothing on this page gets the step to its goal")


def _leads_elsewhere(action: Any, goal: Goal) -> bool:
    """Whether an action opens the page of another item than the goal's."""
    items = re.findall(r"\b[TIB]-\d+", str(action.get("goto", "")))
    return any(item != goal.item for item in items)


def _after_goto(actions: list[Any]) -> int:
    return next((i + 1 for i, a in enumerate(actions) if "goto" in a), 0)


def _segment(actions: list[Any], at: int, more: list[Any]) -> dict[str, Any]:
    new = [*actions[:at], *more, *actions[at:]]
    return _said("segment", first=at, segment=[_written(a) for a in new],
                 reason="the page asks for one thing more")  # fmt: skip


def _written(action: Any) -> str:
    [(verb, what)] = action.items()
    return f"{verb}: {what if isinstance(what, str) else json.dumps(what, ensure_ascii=False)}"


def _renamed(action: Any, goal: Goal, page: Look) -> Any:
    """An action with the names that the page has now."""
    told = json.dumps(action, ensure_ascii=False)
    for name in BUTTONS.get(goal.kind, ()):
        now = page.any_of("button", BUTTONS[goal.kind])
        if now is not None and now.name != name:
            told = told.replace(f'button \\"{name}\\"', f'button \\"{now.name}\\"')
    for old, new in (("Access code", "Entry code"), ("Second access code", "Second entry code")):
        if page.find("textbox", new) is not None:
            told = told.replace(f'textbox \\"{old}\\"', f'textbox \\"{new}\\"')
    return json.loads(told)


def _said(
    kind: str, *, first: int = 0, segment: list[str] | None = None, step: str = "", reason: str = ""
) -> dict[str, Any]:
    return {
        "answer": kind, "first_wrong": first, "segment": segment or [], "step": step,
        "question": "", "reason": reason,
    }  # fmt: skip
