"""A step that fails under a session: the session is looked at before anything else is blamed."""

from tests.unit.runtime.stage import Stage
from webagent.core.action import FieldRead, Read
from webagent.core.event import Judged, SessionRenewed
from webagent.core.expect import Bounds, OutputIs
from webagent.core.page import Failure
from webagent.core.target import parse_target
from webagent.executors.scripted import Fault

MISSING = Failure(kind="target_missing", message='nothing matches button "Add to basket"')


async def drifts(ours: Stage) -> list[str | None]:
    return [
        e.event.drift
        for e in await ours.entries()
        if isinstance(e.event, Judged) and e.event.step == "order" and e.event.drift is not None
    ]


async def test_a_page_that_forgot_who_one_is_is_signed_in_at_again(ordering: Stage) -> None:
    """The scripted site shows nobody as signed in before they sign in."""
    ordering.site.faults = {"order": [Fault(at=1, failure=MISSING)]}
    result = await ordering.run()
    assert (result.status, result["order"].rungs) == ("met", {"renew": 1})
    assert result["sign_in"].executions == 1
    renewed = [e.event for e in await ordering.entries() if isinstance(e.event, SessionRenewed)]
    assert [(event.by, event.ok) for event in renewed] == [("order", True)]
    assert await drifts(ordering) == ["signed_out"]
    assert ordering.site.ledger == ["order"]


async def test_what_a_new_session_does_not_cure_keeps_its_name(ordering: Stage) -> None:
    ordering.site.faults = {"order": [Fault(at=1, failure=MISSING, times=9)]}
    result = await ordering.run()
    assert (result["order"].state, result["order"].drift) == ("unmet", "target_missing")
    assert await drifts(ordering) == ["signed_out", "target_missing"]


async def test_a_step_without_a_session_is_not_suspected(ordering: Stage) -> None:
    ordering.site.faults = {"search_b": [Fault(at=1, failure=MISSING)]}
    result = await ordering.run()
    assert result["search_b"].drift == "target_missing"
    assert "SessionRenewed" not in await ordering.types()


async def test_a_sign_in_that_gives_an_output_stands_by_what_its_page_shows(
    ordering: Stage,
) -> None:
    sign_in = ordering.plan.by_path["sign_in"]
    read = Read(outputs={"who": FieldRead(target=parse_target(".who"))})
    more = {
        "segment": (*(sign_in.segment or ()), read),
        "expect": (*sign_in.expect, OutputIs(name="who", bounds=Bounds(type="string"))),
    }
    steps = tuple(
        s.model_copy(update=more) if s.path == "sign_in" else s for s in ordering.plan.steps
    )
    ordering.plan = ordering.plan.model_copy(update={"steps": steps})
    ordering.site.plan = ordering.plan
    ordering.site.faults = {"order": [Fault(at=1, failure=MISSING)]}
    result = await ordering.run()
    assert (result.status, result["order"].rungs) == ("met", {"renew": 1})
