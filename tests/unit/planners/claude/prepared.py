"""What a good model would draft for the goal of each recipe: requests in words, and the answers."""

from __future__ import annotations

from typing import Any

Answer = dict[str, Any]


def step(name: str, do: str, goal: str, /, *expect: str, **more: Any) -> Answer:
    """A step of an answer; only what it needs is said."""
    return {"name": name, "do": do, "goal": goal, "why": f"the part {name}",
            "expect": list(expect), **more}  # fmt: skip


def given(name: str, value: str = "", type_: str = "string", file: str = "") -> Answer:
    """An input of an answer."""
    return {"name": name, "type": type_, "value": value, "file": file, "help": ""}


def output(name: str, type_: str = "text", least: int = 0, /, **fields: str) -> Answer:
    """An output of an answer; a list's fields with their types."""
    rows = [{"name": field, "type": kind} for field, kind in fields.items()]
    return {"name": name, "type": type_, "fields": rows, "min": least}


def secret(name: str, env: str, origin: str) -> Answer:
    """A secret of an answer."""
    return {"name": name, "env": env, "origin": origin}


def answer(errand: str, *parts: Answer) -> Answer:
    """An answer: its inputs, secrets and steps in any order."""
    return {
        "errand": errand,
        "inputs": [part for part in parts if "help" in part],
        "secrets": [part for part in parts if "env" in part],
        "steps": [part for part in parts if "do" in part],
    }


_OFFER = {"title": "text", "price": "money", "stock": "text", "link": "url"}
_KEY = "{{ query }} {{ run.date }}"


def _order(shop: str) -> Answer:
    return step(
        f"order_{shop}", "submit", "Order {{ choose.title }} at {{ choose.link }} for "
        "{{ name }}, {{ address }}, {{ email }}",
        "text: Thank you", when=f'"shop-{shop}" in choose.link',
        origins=[f"http://shop-{shop}.test"], once_name="order", once_key=_KEY,
        before_commit=["text: {{ choose.title }}"], outputs=[output("order_number")],
    )  # fmt: skip


def _sign_in(origin: str, at: str, name: str = "kim") -> Answer:
    return step(
        "sign_in", "sign_in", f"Be signed in as {name} with the secret password",
        'element: button "Sign out"', start=f"{origin}{at}", origins=[origin],
    )  # fmt: skip


# By the recipe's name: what a person would say, and what comes of it.
PREPARED: dict[str, tuple[str, Answer]] = {
    "compare_and_order": (
        "Search http://shop-a.test and http://shop-b.test for a usb-c cable up to 20 and order the "
        "cheapest that is in stock, once, for Kim Doe. I am kim at shop A, the password is in "
        "SHOP_PASSWORD.",
        answer(
            "Order the cheaper of two offers",
            given("query", "usb-c cable"),
            given("max_price", "20", "number"),
            given("name", "Kim Doe"),
            given("address", "1 Alder Street, Springfield"),
            given("email", "kim@example.org"),
            secret("password", "SHOP_PASSWORD", "http://shop-a.test"),
            _sign_in("http://shop-a.test", "/login"),
            *(
                step(
                    f"search_{shop}",
                    "search",
                    f"Find offers for {{{{ query }}}} in shop {shop}",
                    "url: **/search?*",
                    start=f"http://shop-{shop}.test/",
                    outputs=[output("offers", "list", 1, **_OFFER)],
                )
                for shop in "ab"
            ),
            step(
                "choose",
                "compare",
                "Take the cheapest that is in stock",
                take=1,
                order=["price.amount", "title"],
                **{"from": "{{ search_a.offers + search_b.offers }}"},
                where="price.amount <= max_price and 'sold out' not in stock.lower()",
            ),
            _order("a"),
            _order("b"),
        ),
    ),
    "sign_in_shop_a": (
        "Sign in at http://shop-a.test/login as kim; the password is in SHOP_PASSWORD",
        answer(
            "Sign in at shop A",
            secret("password", "SHOP_PASSWORD", "http://shop-a.test"),
            _sign_in("http://shop-a.test", "/login"),
        ),
    ),
    "sign_in_ledger_bank": (
        "Sign in at http://login.test as kim with the password of BANK_PASSWORD",
        answer(
            "Sign in at Ledger Bank",
            secret("password", "BANK_PASSWORD", "http://login.test"),
            _sign_in("http://login.test", "/login"),
        ),
    ),
    "download_invoice": (
        "Fetch the newest invoice from http://login.test, user kim, password in BANK_PASSWORD",
        answer(
            "Fetch the newest invoice",
            secret("password", "BANK_PASSWORD", "http://login.test"),
            _sign_in("http://login.test", "/login"),
            step(
                "documents",
                "read",
                "Read the list of invoices",
                session="sign_in",
                start="http://login.test/account",
                outputs=[output("invoices", "list", 1, number="text", day="date", amount="money")],
            ),
            step(
                "newest",
                "compare",
                "The newest",
                take=1,
                order=["-day"],
                **{"from": "{{ documents.invoices }}"},
            ),
            step(
                "download",
                "read",
                "Download invoice {{ newest.number }} as CSV",
                'download: {name: "invoice-{{ newest.number }}.csv", min_bytes: 20}',
                session="sign_in",
                start="http://login.test/account",
            ),
        ),
    ),
    "read_listing": (
        "Read all lots, the exchange rates and the price list of http://listing.test/items, "
        "and give me the five cheapest lots below 30",
        answer(
            "Read the listing",
            given("below", "30", "number"),
            step(
                "lots",
                "read",
                "Read the lots of all pages",
                start="http://listing.test/items",
                outputs=[output("lots", "list", 50, title="text", price="money", day="date")],
            ),
            step(
                "rates",
                "read",
                "Read the exchange rates",
                start="http://listing.test/table",
                outputs=[output("rates", "list", 1, currency="text", rate="number")],
            ),
            step(
                "prices",
                "read",
                "Read the price list",
                start="http://listing.test/prices",
                outputs=[output("prices", "list", 3, name="text", price="money")],
            ),
            step(
                "cheap",
                "compare",
                "The cheapest lots",
                where="price.amount < below",
                take=5,
                order=["price.amount", "-day"],
                **{"from": "{{ lots.lots }}"},
            ),
        ),
    ),
    "find_book": (
        "Find books with salt in the title at http://forms.test/find, and the newest of them",
        answer(
            "Find books by title",
            given("title", "salt"),
            step(
                "find",
                "fill",
                "Find books whose title has {{ title }}",
                'element: table "Results"',
                start="http://forms.test/find",
                outputs=[output("books", "list", 1, title="text", author="text", year="number")],
            ),
            step(
                "newest",
                "compare",
                "The newest",
                take=1,
                order=["-year"],
                **{"from": "{{ find.books }}"},
            ),
        ),
    ),
    "watch_price": (
        "Look at the price and state of the clock on http://listing.test/watch",
        answer(
            "Watch the clock",
            step(
                "clock",
                "read",
                "Read price and state of the clock",
                "text: Walnut clock",
                start="http://listing.test/watch",
                outputs=[output("price", "money"), output("state")],
            ),
        ),
    ),
    "ask_before_order": (
        "Find cables in http://shop-b.test, ask me which of the two cheapest, put it in the basket",
        answer(
            "Let a person choose",
            given("query", "cable"),
            step(
                "search",
                "search",
                "Find offers for {{ query }}",
                "url: **/search?*",
                start="http://shop-b.test/",
                outputs=[output("offers", "list", 2, **_OFFER)],
            ),
            step(
                "cheapest",
                "compare",
                "The two cheapest",
                order=["price.amount"],
                take=2,
                **{"from": "{{ search.offers }}"},
            ),
            step(
                "which",
                "ask",
                "Let the person choose",
                question="Which one?",
                options=["{{ cheapest.items[0].title }}", "{{ cheapest.items[1].title }}"],
            ),
            step(
                "chosen",
                "compare",
                "The chosen one",
                where="title == which.answer",
                take=1,
                **{"from": "{{ cheapest.items }}"},
            ),
            step(
                "basket",
                "fill",
                "Put {{ chosen.title }} at {{ chosen.link }} into the basket",
                'rows: {table "Basket": 1}',
                "text: {{ chosen.title }}",
                origins=["http://shop-b.test"],
            ),
        ),
    ),
    "add_people": (
        "Add everybody of people.csv at http://forms.test/people/new; one may fail",
        answer(
            "Add the people of a list",
            given("people", "", "list", "people.csv"),
            step(
                "add",
                "submit",
                "Add {{ item.name }}, {{ item.email }}, {{ item.city }}",
                'element: heading "Saved"',
                for_each="{{ people }}",
                key="item.email",
                allow_failed="1",
                once_key="{{ item.email }}",
                start="http://forms.test/people/new",
                before_commit=['value: {textbox "E-mail": "{{ item.email }}"}'],
                outputs=[output("reference")],
            ),
        ),
    ),
    "apply_for_permit": (
        "Apply for a permit at http://wizard.test/person for Kim Doe, kim@example.org, living in "
        "1 Alder Street, Springfield, Estonia, with the Extended plan and extras",
        answer(
            "Apply for a permit",
            given("name", "Kim Doe"),
            given("email", "kim@example.org"),
            given("street", "1 Alder Street"),
            given("city", "Springfield"),
            given("country", "Estonia"),
            given("plan", "Extended"),
            step(
                "person",
                "fill",
                "Say who applies: {{ name }}, {{ email }}",
                "text: Step 2 of 4",
                start="http://wizard.test/person",
            ),
            step(
                "address",
                "fill",
                "Say where: {{ street }}, {{ city }}, {{ country }}",
                "text: Step 3 of 4",
                continues="person",
                origins=["http://wizard.test"],
            ),
            step(
                "options",
                "fill",
                "Choose the {{ plan }} plan with extras",
                "text: Step 4 of 4",
                continues="address",
                origins=["http://wizard.test"],
            ),
            step(
                "confirm",
                "submit",
                "Send the application",
                'element: heading "Confirmed"',
                continues="options",
                origins=["http://wizard.test"],
                once_key="{{ email }} {{ run.date }}",
                before_commit=["text: {{ name }}"],
                outputs=[output("reference")],
            ),
        ),
    ),
    "every_control": (
        "Register Kim Doe, kim@example.org, born 1990-05-17, with the attachment cv.txt at "
        "http://forms.test/register, then subscribe at http://forms.test/widgets",
        answer(
            "Register",
            given("name", "Kim Doe"),
            given("email", "kim@example.org"),
            given("birthday", "1990-05-17", "date"),
            given("attachment", "cv.txt", "file"),
            step(
                "register",
                "submit",
                "Register {{ name }}, {{ email }}, {{ birthday }}, with the file {{ attachment }}",
                "url: **/done/*",
                once_key="{{ email }}",
                start="http://forms.test/register",
                before_commit=['value: {textbox "E-mail": "{{ email }}"}'],
                outputs=[output("reference")],
            ),
            step(
                "newsletter",
                "fill",
                "Subscribe {{ email }}",
                "url: **/newsletter",
                start="http://forms.test/widgets",
            ),
        ),
    ),
    "order_in_oscar": (
        "Order the cheapest Python guide up to 20 at http://oscar.test as guest kim@example.org",
        answer(
            "Order a book as a guest",
            given("query", "Python guide"),
            given("max_price", "20", "number"),
            given("email", "kim@example.org"),
            step(
                "search",
                "search",
                "Find books for {{ query }}",
                start="http://oscar.test/",
                outputs=[output("offers", "list", 1, **_OFFER)],
            ),
            step(
                "choose",
                "compare",
                "The cheapest",
                where="price.amount <= max_price",
                take=1,
                order=["price.amount"],
                **{"from": "{{ search.offers }}"},
            ),
            step(
                "order",
                "submit",
                "Order {{ choose.title }} at {{ choose.link }} as guest {{ email }}",
                "text: Your order has been placed",
                origins=["http://oscar.test"],
                once_key="{{ query }} {{ email }} {{ run.date }}",
                before_commit=["text: {{ choose.title }}"],
                outputs=[output("number")],
            ),
        ),
    ),
    "add_django_user": (
        "At http://admin.test sign in as admin (password in ADMIN_PASSWORD) and add the user ann "
        "with the password of NEW_PASSWORD, if there is none such",
        answer(
            "Add a user",
            given("username", "ann"),
            secret("password", "ADMIN_PASSWORD", "http://admin.test"),
            secret("new_password", "NEW_PASSWORD", "http://admin.test"),
            step(
                "sign_in",
                "sign_in",
                "Be signed in as admin with the secret password",
                "text: Site administration",
                start="http://admin.test/admin/login/",
            ),
            step(
                "search",
                "search",
                "Look for the user {{ username }}",
                session="sign_in",
                start="http://admin.test/admin/auth/user/",
                outputs=[output("users", "list", 0, name="text")],
            ),
            step(
                "add",
                "submit",
                "Add the user {{ username }} with the secret new_password",
                "text: was added successfully",
                origins=["http://admin.test"],
                when='search.users | selectattr("name", "equalto", username) | list | length == 0',
                once_key="{{ username }}",
                before_commit=['value: {textbox "Username:": "{{ username }}"}'],
            ),
        ),
    ),
}
