"""However a committing path is written, a healed action does not send it."""

import pytest

from webagent.core.request_rules import GuardPolicy, Request, refusal

POLICY = GuardPolicy(
    origins=("http://shop.test",), effect="repeatable", in_action=True, healed=True
)


@pytest.mark.parametrize(
    "path",
    ["/cart/placeOrder", "/cart/createOrder", "/basket/payments", "/cart/purchases", "/orders/add",
     "/cart/submitorder", "/session/buynow", "/cart?action=checkout", "/cart/%70ay"],
)  # fmt: skip
def test_a_committing_path_is_held_back_however_it_is_written(path: str):
    request = Request(method="POST", url=f"http://shop.test{path}", kind="document")
    assert refusal(POLICY, request) is not None
