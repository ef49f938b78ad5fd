"""What makes an effect safe: a key, one commit, a probe that only looks, and nothing weakened."""

from __future__ import annotations

from collections.abc import Sequence

from webagent.core.action import Action, ListRead, TableRead
from webagent.core.scopes import Draft, Faults, safe_references

# What a probe may do: look, never act.
READ_ONLY = frozenset({"goto", "back", "wait", "scroll", "hover", "read", "tab"})


def check_effect(draft: Draft, faults: Faults) -> None:
    """The rules of once steps, and what only they may have."""
    step, recipe, at = draft.step, draft.place.recipe, draft.at
    if step.effect == "once":
        _once(draft, faults)
    else:
        _not_once(draft, faults)
    if step.reset is not None:
        if step.effect == "none":
            faults.add(recipe, f"{at}.reset", "reset undoes writes, and this step makes none",
                       "say effect: repeatable if it writes", "effect")  # fmt: skip
        _no_commit(draft, "reset", step.reset, "reset", faults)
        _begins_on_a_page(draft, "reset", step.reset, "reset", faults)
    for index, glob in enumerate(step.allow_posts):
        if not (glob.startswith(("http://", "https://", "/", "*"))):
            faults.add(
                recipe, f"{at}.allow_posts[{index}]", f"{glob!r} is no URL glob",
                f'such as "**/{glob}"', "glob",
            )  # fmt: skip
        elif not glob.strip("*/"):
            faults.add(recipe, f"{at}.allow_posts[{index}]", "this glob allows every write",
                       'name the form\'s path, such as "**/search"', "glob")  # fmt: skip


def _once(draft: Draft, faults: Faults) -> None:
    step, recipe, at = draft.step, draft.place.recipe, draft.at
    if step.once is None:
        faults.add(
            recipe, at, f"a {step.do} step needs once: the key of its effect",
            'such as once: "{{ query }} {{ run.date }}"', "no_key",
        )  # fmt: skip
    elif step.for_each is not None and not any(
        path[0] == "item" for path in safe_references(step.once.key)
    ):
        faults.add(
            recipe, f"{at}.once", "the once key ignores item: all items would have one effect",
            'put what tells the items apart into it, such as "{{ item.id }}"', "no_item_in_key",
        )  # fmt: skip
    commits = [i for i, action in enumerate(step.segment or ()) if action.verb == "commit"]
    if step.segment is not None and not commits:
        faults.add(
            recipe, f"{at}.segment", "a once step has exactly one commit, this one has none",
            'mark the action that causes the effect: commit: {click: button "…"}', "commit",
        )  # fmt: skip
    for index in commits[1:]:
        faults.add(recipe, f"{at}.segment[{index}]", "a second commit in one step",
                   "make it a step of its own", "commit")  # fmt: skip
    for index in commits:
        if step.segment is not None and step.segment[index].optional:
            faults.add(recipe, f"{at}.segment[{index}].optional", "a commit is never optional", "",
                       "commit")  # fmt: skip
    if step.probe is not None:
        _probe(draft, step.probe.segment, faults)


def _not_once(draft: Draft, faults: Faults) -> None:
    step, recipe, at = draft.step, draft.place.recipe, draft.at
    _no_commit(draft, "segment", step.segment or (), f"a step of effect {step.effect}", faults)
    if step.once is not None:
        faults.add(recipe, f"{at}.once", f"once does not go with effect {step.effect}", "",
                   "effect")  # fmt: skip
    for name, there in (
        ("before_commit", bool(step.before_commit)),
        ("probe", step.probe is not None),
        ("approve", step.approve),
    ):
        if there:
            faults.add(recipe, f"{at}.{name}", f"{name} goes with a once step only",
                       "this step has no commit", "effect")  # fmt: skip


def _no_commit(
    draft: Draft, part: str, segment: Sequence[Action], what: str, faults: Faults
) -> None:
    for index, action in enumerate(segment):
        if action.verb == "commit":
            faults.add(
                draft.place.recipe, f"{draft.at}.{part}[{index}]", f"{what} has no commit",
                "a commit stands in the segment of a submit step", "commit",
            )  # fmt: skip


def _begins_on_a_page(
    draft: Draft, part: str, segment: Sequence[Action], what: str, faults: Faults
) -> None:
    if segment and segment[0].verb != "goto":
        faults.add(draft.place.recipe, f"{draft.at}.{part}[0]", f"a {what} begins with goto",
                   "it may have to start on any page", "no_entry")  # fmt: skip


def _probe(draft: Draft, segment: Sequence[Action], faults: Faults) -> None:
    recipe = draft.place.recipe
    part = "probe.segment" if f"{draft.at}.probe.segment[0]" in recipe.places else "probe"
    _begins_on_a_page(draft, part, segment, "probe", faults)
    lists = []
    for index, action in enumerate(segment):
        here = f"{draft.at}.{part}[{index}]"
        if action.verb not in READ_ONLY:
            faults.add(recipe, here, f"a probe only reads: {action.verb} acts",
                       "it may " + ", ".join(sorted(READ_ONLY)), "probe")  # fmt: skip
        if action.verb == "read":
            lists += [s for s in action.outputs.values() if isinstance(s, ListRead | TableRead)]
    if len(lists) != 1:
        found = "none" if not lists else f"{len(lists)}"
        faults.add(
            recipe, f"{draft.at}.probe", f"a probe reads exactly one list, this one reads {found}",
            "such as read: {orders: {each: …, key: …, fields: {…}}}", "probe",
        )  # fmt: skip
    elif lists[0].key is None:
        faults.add(recipe, f"{draft.at}.probe", "the probe's list needs a key",
                   "what tells one from another, such as the order number", "probe")  # fmt: skip
