"""The errands of the benches: their wording, their sites, and what a fault does to them."""

from collections.abc import Iterator
from typing import Self

import httpx
import pytest

from tests.bench.errands.faults import FAULTS, WRITE_FAULTS, Fault
from tests.bench.errands.faulty import fault_at
from tests.bench.errands.served import DeskServer
from tests.bench.errands.task import (
    BOOK,
    DESK,
    PASSWORD,
    SHAPES,
    USER,
    Errand,
    Shape,
    make_errand,
    request,
)


@pytest.fixture(scope="module")
def server() -> Iterator[DeskServer]:
    with DeskServer() as found:
        yield found


class Clerk:
    """Somebody who does the steps of an errand without a browser, knowing the pages."""

    def __init__(self, server: DeskServer, errand: Errand, fault: Fault | None = None) -> None:
        self.books = server.begin(errand, fault)
        self.errand = errand
        self.codes: dict[int, str] = {}
        base = f"http://127.0.0.1:{server.port}"
        self.desk = httpx.Client(base_url=base, headers={"Host": DESK}, follow_redirects=True)
        self.book = httpx.Client(base_url=base, headers={"Host": BOOK})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.desk.close()
        self.book.close()

    def sign_in(self) -> None:
        self.desk.post("/login", data={"user": USER, "password": PASSWORD})

    def do(self, number: int) -> httpx.Response:
        """One step of a chain; what it gives is noted."""
        task = self.errand.task(number)
        given = {"department": task.choice}
        if task.needs:
            given["code"] = self.codes[task.needs[0]]
        if task.kind == "booking":
            answer = self.book.post(f"/slots/{task.item}", data=given)
            self.codes[number] = answer.headers.get("location", "").rpartition("/")[2]
            return answer
        self.desk.get(f"/tickets/{task.item}")
        answer = self.desk.get(f"/tickets/{task.item}/open", params=given)
        self.codes[number] = answer.text.partition('"Next code">')[2][:7]
        return answer


def test_an_errand_has_as_many_steps_as_asked_for_and_every_fifth_writes() -> None:
    for shape in SHAPES:
        errand = make_errand(shape, 20)
        assert len(errand.tasks) == 20
        assert {t.number for t in errand.bookings} >= {5, 10, 15}


@pytest.mark.parametrize("shape", SHAPES)
def test_no_step_needs_a_later_one(shape: Shape) -> None:
    assert all(max(t.needs, default=0) < t.number for t in make_errand(shape, 50).tasks)


def test_the_request_says_every_step_and_no_code() -> None:
    said = request(make_errand("chain", 10))
    assert [f"\n{n}. " in said for n in range(1, 11)] == [True] * 10
    assert "C-" not in said


def test_the_next_step_takes_the_code_of_the_one_before(server: DeskServer) -> None:
    with Clerk(server, make_errand("chain", 5)) as clerk:
        clerk.sign_in()
        for number in range(2, 6):
            clerk.do(number)
        assert [slot for slot, _, _ in clerk.books.bookings] == server.desk.wanted()


def test_a_wrong_code_opens_nothing(server: DeskServer) -> None:
    with Clerk(server, make_errand("chain", 5)) as clerk:
        clerk.sign_in()
        clerk.do(2)
        clerk.codes[2] = "C-00000"
        assert "The access code is wrong." in clerk.do(3).text


def test_nobody_sees_a_ticket_who_is_not_signed_in(server: DeskServer) -> None:
    with Clerk(server, make_errand("chain", 5)) as clerk:
        assert "Sign in to the desk" in clerk.do(2).text


def test_a_value_that_went_stale_is_valid_again_once_its_ticket_is_opened_again(
    server: DeskServer,
) -> None:
    with Clerk(server, make_errand("chain", 5), Fault("value gone upstream", 4)) as clerk:
        clerk.sign_in()
        for number in (2, 3):
            clerk.do(number)
        assert "no longer valid" in clerk.do(4).text
        clerk.do(3)
        assert "is open" in clerk.do(4).text


def test_a_write_that_answers_503_was_applied(server: DeskServer) -> None:
    with Clerk(server, make_errand("chain", 5), Fault("write applied, then 503", 5)) as clerk:
        clerk.sign_in()
        for number in (2, 3, 4):
            clerk.do(number)
        assert clerk.do(5).status_code == 503
        assert len(clerk.books.bookings) == 1


def test_a_fault_strikes_where_it_can() -> None:
    errand = make_errand("chain", 20)
    for kind in FAULTS:
        for place in (10, 50, 90):
            task = errand.task(fault_at(errand, kind, place).number)
            assert (task.kind == "booking") == (kind in WRITE_FAULTS)
