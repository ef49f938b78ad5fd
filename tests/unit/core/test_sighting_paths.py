"""An address comes back as it was written: a plus is a space in a query only."""

import pytest

from webagent.core.sighting import filled_url, holed_url


@pytest.mark.parametrize("url", ["http://a.test/p/usb%20cable", "http://a.test/f?q=usb+cable"])
def test_an_address_comes_back_with_the_value_of_the_same_day(url: str):
    values = {"query": "usb cable"}
    assert filled_url(holed_url(url, values), values) == url
