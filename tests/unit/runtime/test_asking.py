"""A question to a person: made of what was read, parked until it is answered."""

from pathlib import Path

from tests.unit.runtime.stage import Stage, stage
from webagent.core.event import PersonAsked
from webagent.runtime.runner import answer

ASKING = """
webagent: 1
id: asking
steps:
  search:
    do: search
    segment:
      - goto: http://a.test/
      - read: {offers: {each: article, key: link, fields: {title: h2, link: {css: a, attr: href}}}}
    expect: {output: {offers: {min: 1}}}
  which:
    do: ask
    question: "Take {{ search.offers[0].title }}, or which of {{ search.offers | length }}?"
    options: ["{{ search.offers[0].title }}", "{{ search.offers | length }}", none of them]
  chosen:
    do: compare
    from: "{{ search.offers }}"
    where: title == which.answer
    take: 1
"""


def asking(folder: Path) -> Stage:
    ours = stage(ASKING, folder)
    rows = [{"title": t, "link": f"http://a.test/{t}"} for t in ("oak", "ash")]
    ours.site.values = {"search": {"offers": rows}}
    return ours


async def test_a_question_and_its_options_are_made_of_what_was_read(tmp_path: Path) -> None:
    ours = asking(tmp_path)
    result = await ours.run()
    assert (result.status, result.exit_code) == ("waiting", 3)
    (asked,) = [e.event for e in await ours.entries() if isinstance(e.event, PersonAsked)]
    assert asked.question.text == "Take oak, or which of 2?"
    assert asked.question.options == ("oak", "2", "none of them")


async def test_an_answer_lets_the_run_go_on_without_what_was_met(tmp_path: Path) -> None:
    ours = asking(tmp_path)
    await ours.run()
    await answer(ours.deps(), "r1", "which", "ash", "ann@here")
    result = await ours.resume()
    assert (result.status, result.exit_code) == ("met", 0)
    assert result.outputs["chosen"]["link"] == "http://a.test/ash"
    assert result["search"].executions == 1


async def test_a_question_that_cannot_be_made_fails_its_step_with_the_reason(
    tmp_path: Path,
) -> None:
    text = ASKING.replace("search.offers[0].title }}, or", "search.offers[5].title.upper() }}, or")
    ours = stage(text, tmp_path)
    ours.site.values = {"search": {"offers": [{"title": "oak", "link": "http://a.test/oak"}]}}
    result = await ours.run()
    assert (result.status, result.exit_code) == ("failed", 1)
    assert result["which"].state == "unmet"
    assert result["which"].reason.startswith("question:")
    assert result["chosen"].state == "blocked"
