"""Which errand, on which site, meets which change, and how it has to end.

*Healable* means: a person who knows only the recipe and how the pages looked before could still do
the errand, and would rightly do it. Where something must be known that nobody said (a number, a
language), where what stands there only sounds alike, or where going on would do something else or
do it too early, the one right end is a refusal that leaves nothing behind.

What the house forbids a revision to touch (content expectations, probes, the commit's request) is
never changed by these cases: a site that no longer says "Thank you" needs its recipe's author.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from webagent.core.base import Json

End = Literal["same", "healed", "reopened", "refused"]


@dataclass(frozen=True)
class Errand:
    """A recipe (or a part of one), with yesterday's and today's inputs.

    ``kinds``: what the sites' ledger may show of it; ``once``: of these, what must be exact.
    """

    recipe: str
    before: Mapping[str, Json]
    now: Mapping[str, Json]
    kinds: frozenset[str] = frozenset()
    once: frozenset[str] = frozenset()
    until: str | None = None
    files: tuple[str, str] | None = None


ERRANDS: Mapping[str, Errand] = {
    "order": Errand(
        "compare_and_order",
        {"query": "usb-c cable"},
        {"query": "hdmi cable", "name": "Rosa Vega", "email": "rosa@example.org"},
        frozenset({"sign_in", "basket_add", "basket_empty", "order"}),
        frozenset({"order"}),
    ),
    "search_a": Errand(
        "compare_and_order", {"query": "usb-c cable"}, {"query": "hdmi cable"}, until="search_a"
    ),
    "search_b": Errand(
        "compare_and_order", {"query": "usb-c cable"}, {"query": "hdmi cable"}, until="search_b"
    ),
    "sign_in": Errand("sign_in_shop_a", {}, {}, frozenset({"sign_in"})),
    "lots": Errand("read_listing", {}, {}, until="lots"),
    "rates": Errand("read_listing", {}, {}, until="rates"),
    "prices": Errand("read_listing", {}, {}, until="prices"),
    "watch": Errand("watch_price", {}, {}, until="clock"),
    "books": Errand("find_book", {"title": "salt"}, {"title": "bridges"}),
    "invoice": Errand("download_invoice", {}, {}, frozenset({"sign_in"})),
    "people": Errand(
        "add_people", {}, {}, frozenset({"person"}), frozenset({"person"}),
        files=("people_before.csv", "people_now.csv"),
    ),
    "permit": Errand(
        "apply_for_permit",
        {},
        {"name": "Rosa Vega", "email": "rosa@example.org", "city": "Lisbon"},
        frozenset({"wizard_page", "confirm", "restart"}),
        frozenset({"confirm"}),
    ),
    "register": Errand(
        "every_control",
        {},
        {"name": "Rosa Vega", "email": "rosa@example.org", "birthday": "1984-11-03"},
        frozenset({"submission"}),
        frozenset({"submission"}),
        until="register",
    ),
}  # fmt: skip

HOSTS: Mapping[str, str] = {
    "order": "shop-a.test", "search_a": "shop-a.test", "search_b": "shop-b.test",
    "sign_in": "shop-a.test", "lots": "listing.test", "rates": "listing.test",
    "prices": "listing.test", "watch": "listing.test", "books": "forms.test",
    "invoice": "login.test", "people": "forms.test", "permit": "wizard.test",
    "register": "forms.test",
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """One errand meeting one change.

    ``steps``: those that may be revised (healed: at least one of them is); ``drift``: how the first
    failing step may stand when it was refused; ``exits``: 1, or 5 where the site said no.
    """

    errand: str
    change: str
    on: str | None
    end: End
    steps: frozenset[str] = frozenset()
    drift: frozenset[str] = frozenset()
    exits: frozenset[int] = frozenset({1})
    why: str = ""

    @property
    def id(self) -> str:
        """Its name in the tests' list."""
        return f"{self.errand}-{self.change}" + (f"@{self.on}" if self.on else "")

    @property
    def host(self) -> str:
        """The site that has changed."""
        return HOSTS[self.errand]


def same(errand: str, change: str, on: str | None = None, why: str = "") -> Case:
    """The recipe holds without being changed."""
    return Case(errand, change, on, "same", why=why)


def healed(errand: str, steps: str, change: str, on: str | None = None, why: str = "") -> Case:
    """Only these steps are revised, and the errand ends as on the unchanged site."""
    return Case(errand, change, on, "healed", frozenset(steps.split()), why=why)


def refused(
    errand: str,
    drift: str,
    change: str,
    on: str | None = None,
    why: str = "",
    exits: tuple[int, ...] = (1,),
) -> Case:
    """Nothing is done, and the step says what it met."""
    return Case(
        errand, change, on, "refused", drift=frozenset(drift.split()), exits=frozenset(exits),
        why=why,
    )  # fmt: skip


A_SEARCH = "search_a"
SIGN_IN = "sign_in"
UNTOLD = "a number that nobody was told"
FOREIGN = "whoever cannot read it would have to guess"
ALIKE = "it only sounds alike"
EQUAL = "nothing that is seen tells which of the two"
EARLY = "it would do at once what is checked and claimed first"
GAP = "a person would find it again, and the planner does not: counted as not healed"
CHECKED = "what is looked at before the commit is the author's: no revision renames it"

CASES: tuple[Case, ...] = (
    # --- a whole order -------------------------------------------------------------------------
    healed("order", "order_a", "renamed_button", "/product/*"),
    healed("order", "order_a", "renamed_button", "/checkout", "the commit itself"),
    healed("order", "order_a", "renamed_link", "/basket"),
    healed("order", "order_a", "renamed_label", "/checkout"),
    healed("order", "order_a", "german", "/checkout"),
    healed("order", "order_a", "link_to_button", "/basket"),
    healed("order", "order_a", "links_in_menu", "/basket"),
    healed("order", "order_a", "moved_links", "/basket"),
    healed("order", "order_a", "moved_renamed_links", "/basket"),
    healed("order", "order_a", "moved_sitemap", "/basket"),
    healed("order", "order_a", "moved_two_levels", "/basket"),
    healed("order", "order_a", "basket_is_checkout", "/*", "one page less"),
    healed("order", "order_a", "page_before", "/checkout", "one page more"),
    healed("order", "order_a", "form_split", "/checkout", "fields on a later page"),
    healed("order", "order_a", "behind_button", "/product/*"),
    healed("order", "order_a", "buy_now", "/product/*", "and the lookalike is not touched"),
    healed("order", "account/sign_in search_a order_a", "cookie_banner"),
    healed("order", "account/sign_in search_a order_a", "interstitial"),
    same("order", "new_classes", "/orders/*/thanks", "an order whose number is unread: the probe"),
    same("order", "new_optional_field", "/checkout"),
    same("order", "reordered_fields", "/checkout"),
    same("order", "price_markup", "/product/*"),
    same("order", "in_frame", "/checkout", "frames need not be named"),
    Case("order", "offer_gone", None, "reopened", why="the search is asked again"),
    refused("order", "target_missing", "unreadable", "/checkout", FOREIGN),
    refused("order", "target_missing unexpected_event", "button_decoy", "/product/*", ALIKE),
    healed("order", "order_a", "button_decoy", "/basket", "the link is gone, not where it led to"),
    refused("order", "target_missing", "button_decoy", "/checkout", ALIKE),
    refused("order", "target_missing", "name_decoy", "/checkout", ALIKE),
    refused("order", "target_ambiguous", "two_alike", "/product/*", EQUAL),
    refused("order", "target_missing", "two_alike_renamed", "/product/*", EQUAL),
    refused("order", "target_missing page_moved", "merged_commit", "/basket", EARLY),
    refused("order", "wrong_page value_differs precondition_unmet target_missing",
            "new_required_field", "/checkout|/orders", UNTOLD, (1, 5)),
    refused("order", "wrong_page slow target_missing effect_unknown precondition_unmet",
            "new_required_by_browser", "/checkout", UNTOLD, (1, 5)),
    refused("order", "page_moved", "gone", "/basket"),
    refused("order", "blocked_by_site", "blocked", "/product/*"),
    # --- a search ------------------------------------------------------------------------------
    healed("search_a", A_SEARCH, "new_classes", "/search"),
    healed("search_a", A_SEARCH, "rebuilt", "/search"),
    healed("search_a", A_SEARCH, "price_markup", "/search"),
    healed("search_a", A_SEARCH, "old_price_beside", "/search", "today's price, not last week's"),
    healed("search_a", A_SEARCH, "list_to_table", "/search"),
    healed("search_a", A_SEARCH, "renamed_label", "/", "the search box"),
    healed("search_a", A_SEARCH, "german", "/"),
    same("search_a", "rows_reversed", "/search"),
    same("search_a", "wrapped", "/search"),
    same("search_a", "new_ids", "/search"),
    same("search_a", "cookie_banner", None, "typing and Enter reach the page behind it"),
    refused("search_a", "blocked_by_site", "blocked", "/search"),
    healed("search_b", "search_b", "new_classes", "/search"),
    healed("search_b", "search_b", "price_markup", "/search"),
    refused("search_b", "output_invalid", "list_to_table", "/search", GAP),
    # --- signing in ----------------------------------------------------------------------------
    healed("sign_in", SIGN_IN, "renamed_button", "/login"),
    healed("sign_in", SIGN_IN, "renamed_label", "/login"),
    healed("sign_in", SIGN_IN, "placeholder_only", "/login"),
    healed("sign_in", SIGN_IN, "german", "/login"),
    healed("sign_in", SIGN_IN, "button_to_link", "/login"),
    healed("sign_in", SIGN_IN, "behind_button", "/login"),
    healed("sign_in", SIGN_IN, "page_before", "/login"),
    healed("sign_in", SIGN_IN, "moved_links", "/login"),
    healed("sign_in", SIGN_IN, "moved_renamed_links", "/login"),
    healed("sign_in", SIGN_IN, "moved_search", "/login"),
    healed("sign_in", SIGN_IN, "moved_sitemap", "/login"),
    healed("sign_in", SIGN_IN, "login_at_orders", "/*", "two pages are one"),
    healed("sign_in", SIGN_IN, "cookie_banner"),
    healed("sign_in", SIGN_IN, "newsletter_modal"),
    healed("sign_in", SIGN_IN, "interstitial"),
    same("sign_in", "moved_redirect", "/login", "a redirect inside the site is no drift"),
    same("sign_in", "reordered_fields", "/login"),
    same("sign_in", "in_frame", "/login"),
    refused("sign_in", "target_missing", "unreadable", "/login", FOREIGN),
    refused("sign_in", "target_missing unexpected_event", "button_decoy", "/login", ALIKE),
    refused("sign_in", "target_ambiguous", "two_alike", "/login", EQUAL),
    refused("sign_in", "wrong_page slow", "new_required_field", "/login", UNTOLD),
    refused("sign_in", "page_moved", "gone", "/login"),
    # --- reading lists and tables --------------------------------------------------------------
    healed("lots", "lots", "new_classes", "/items"),
    healed("lots", "lots", "rebuilt", "/items"),
    healed("lots", "lots", "price_markup", "/items"),
    healed("lots", "lots", "old_price_beside", "/items"),
    healed("lots", "lots", "list_to_table", "/items"),
    healed("lots", "lots", "renamed_link", "/items", "Next, five times"),
    healed("lots", "lots", "moved_links", "/items"),
    healed("lots", "lots", "moved_sitemap", "/items"),
    healed("lots", "lots", "moved_two_levels", "/items"),
    healed("lots", "lots", "interstitial"),
    same("lots", "rows_reversed", "/items"),
    same("lots", "moved_redirect", "/items"),
    refused("lots", "page_moved output_invalid", "gone", "/items|/numbered"),
    healed("rates", "rates", "table_to_cards", "/table"),
    healed("rates", "rates", "moved_renamed_links", "/table"),
    same("rates", "new_classes", "/table"),
    same("rates", "wrapped", "/table"),
    healed("prices", "prices", "new_classes", "/prices"),
    healed("prices", "prices", "table_to_cards", "/prices"),
    healed("prices", "prices", "moved_search", "/prices"),
    healed("watch", "clock", "new_classes", "/watch"),
    healed("watch", "clock", "price_markup", "/watch"),
    healed("watch", "clock", "rebuilt", "/watch"),
    healed("watch", "clock", "moved_sitemap", "/watch"),
    refused("watch", "blocked_by_site", "blocked", "/watch"),
    # --- a search that is posted ---------------------------------------------------------------
    healed("books", "find", "renamed_button", "/find"),
    healed("books", "find", "renamed_label", "/find"),
    healed("books", "find", "german", "/find"),
    healed("books", "find", "behind_button", "/find"),
    refused("books", "unexpected_event", "moved_links", "/find", "its POST is allowed at one URL"),
    healed("books", "find", "newsletter_modal", "/find"),
    refused("books", "target_missing", "button_decoy", "/find", ALIKE),
    refused("books", "target_ambiguous", "two_alike", "/find", EQUAL),
    refused("books", "target_missing", "unreadable", "/find", FOREIGN),
    # --- behind a sign-in ----------------------------------------------------------------------
    healed("invoice", "documents", "new_classes", "/account"),
    healed("invoice", "documents", "table_to_cards", "/account"),
    healed("invoice", "download", "renamed_link", "/account"),
    healed("invoice", "download", "link_to_button", "/account"),
    healed("invoice", "bank/sign_in", "renamed_label", "/login"),
    healed("invoice", "bank/sign_in documents download", "moved_links", "/account"),
    # --- a form for each row -------------------------------------------------------------------
    healed("people", "add", "renamed_button", "/people/new"),
    refused("people", "value_differs", "renamed_label", "/people/new", CHECKED),
    healed("people", "add", "german", "/people/new"),
    healed("people", "add", "field_to_select", "/people/new"),
    healed("people", "add", "button_to_link", "/people/new"),
    healed("people", "add", "behind_button", "/people/new"),
    healed("people", "add", "form_split", "/people/new"),
    healed("people", "add", "page_before", "/people/new"),
    healed("people", "add", "moved_links", "/people/new"),
    healed("people", "add", "moved_renamed_links", "/people/new"),
    healed("people", "add", "moved_search", "/people/new"),
    healed("people", "add", "moved_sitemap", "/people/new"),
    healed("people", "add", "moved_two_levels", "/people/new"),
    healed("people", "add", "cookie_banner", "/people/new"),
    healed("people", "add", "newsletter_modal", "/people/new"),
    same("people", "moved_in_page", "/people/new"),
    same("people", "new_optional_field", "/people/new"),
    same("people", "rebuilt", "/people/new"),
    refused("people", "target_missing", "city_gone", "/people/new|/noisy", "a value dropped"),
    refused("people", "target_missing", "button_decoy", "/people/new|/noisy", ALIKE),
    refused("people", "target_missing", "name_decoy", "/people/new|/noisy", ALIKE),
    refused("people", "target_missing", "unreadable", "/people/new|/noisy", FOREIGN),
    refused("people", "page_moved target_missing", "moved_decoy", "/people/new", ALIKE),
    refused("people", "wrong_page value_differs precondition_unmet slow", "new_required_field",
            "/people*|/noisy", UNTOLD, (1, 5)),
    # --- pages that go on from one another -----------------------------------------------------
    healed("permit", "person", "renamed_label", "/person"),
    healed("permit", "person", "moved_links", "/person"),
    healed("permit", "person", "moved_two_levels", "/person"),
    healed("permit", "person", "interstitial"),
    healed("permit", "address", "renamed_button", "/address"),
    healed("permit", "address", "german", "/address"),
    healed("permit", "address", "select_to_radios", "/address"),
    healed("permit", "person", "page_before", "/address", "where the step before it was to lead"),
    healed("permit", "options", "radios_to_select", "/options"),
    healed("permit", "options", "renamed_label", "/options"),
    healed("permit", "confirm", "renamed_button", "/review", "the commit itself"),
    same("permit", "new_ids", None),
    refused("permit", "target_missing", "merged_commit", "/options", EARLY),
    refused("permit", "target_missing", "city_gone", "/address", "it is asked for nowhere else"),
    refused("permit", "target_missing", "button_decoy", "/address", ALIKE),
    refused("permit", "target_missing", "button_decoy", "/review", ALIKE),
    refused("permit", "target_missing", "unreadable", "/address", FOREIGN),
    refused("permit", "target_ambiguous", "two_alike", "/person", EQUAL),
    refused("permit", "wrong_page slow", "new_required_field", "/address", UNTOLD),
    # --- a form with everything ----------------------------------------------------------------
    healed("register", "register", "date_in_three", "/register"),
    refused("register", "value_differs", "select_to_radios", "/register", CHECKED),
    refused("register", "value_differs target_missing", "renamed_label", "/register", CHECKED),
    healed("register", "register", "renamed_button", "/register"),
    healed("register", "register", "moved_links", "/register"),
    same("register", "reordered_fields", "/register"),
    same("register", "new_optional_field", "/register"),
    refused("register", "target_missing", "unreadable", "/register", FOREIGN),
    refused("register", "wrong_page value_differs precondition_unmet slow", "new_required_field",
            "/register|/submit", UNTOLD, (1, 5)),
)  # fmt: skip

QUICK = frozenset({
    "order-renamed_link@/basket", "order-buy_now@/product/*", "order-merged_commit@/basket",
    "order-new_required_field@/checkout|/orders", "order-offer_gone",
    "search_a-new_classes@/search", "search_a-old_price_beside@/search",
    "sign_in-cookie_banner", "sign_in-moved_sitemap@/login", "sign_in-two_alike@/login",
    "books-renamed_button@/find", "books-button_decoy@/find",
    "people-moved_links@/people/new", "people-moved_decoy@/people/new",

    "permit-merged_commit@/options", "permit-new_ids",
})  # fmt: skip
"""The cases of every test run; all others with DRIFT=all, and in `make bench NAME=drift`."""
