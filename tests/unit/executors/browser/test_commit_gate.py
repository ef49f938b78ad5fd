"""The gate lets the commit's request out once."""

from __future__ import annotations

import pytest

from webagent.executors.browser.commit_gate import RULE, CommitGate

URL = "http://a.test/order"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def test_the_first_write_goes_and_the_same_again_does_not() -> None:
    gate = CommitGate(None)
    assert gate.refusal("POST", URL, FORM, "n=1") is None
    assert gate.refusal("POST", URL, FORM, "n=1") == RULE
    assert gate.passed == [f"POST {URL}"]


@pytest.mark.parametrize(
    "method, url, body",
    [
        ("PUT", URL, "n=1"),
        ("POST", URL + "/2", "n=1"),
        ("POST", "https://a.test/order", "n=1"),
        ("POST", URL + "?x=1", "n=1"),
        ("POST", URL, "n=2"),
    ],
)
def test_another_write_passes(method: str, url: str, body: str) -> None:
    gate = CommitGate(None)
    gate.refusal("POST", URL, FORM, "n=1")
    assert gate.refusal(method, url, FORM, body) is None


def test_reads_pass_as_often_as_they_like() -> None:
    gate = CommitGate(None)
    assert [gate.refusal("GET", URL, {}, "") for _ in range(3)] == [None, None, None]


def test_the_boundary_of_a_multipart_form_does_not_count() -> None:
    gate = CommitGate(None)
    for boundary, wanted in (("xyz", None), ("abc", RULE)):
        headers = {"content-type": f"multipart/form-data; boundary={boundary}"}
        body = f"--{boundary}\r\nn=1\r\n--{boundary}--"
        assert gate.refusal("POST", URL, headers, body) == wanted


def test_a_named_request_goes_once_whatever_it_carries() -> None:
    gate = CommitGate("post **/order*")
    assert gate.refusal("POST", "http://a.test/log", FORM, "1") is None
    assert gate.refusal("POST", "http://a.test/log", FORM, "1") is None
    assert gate.refusal("POST", URL, FORM, "1") is None
    assert gate.refusal("POST", URL + "?again", FORM, "2") == RULE
    assert gate.refusal("GET", URL, {}, "") is None
