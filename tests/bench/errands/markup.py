"""The pages of the errand sites: forms and results amid what stands around on any site."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from html import escape

_NAV = ("Home", "Tickets", "Items", "Slots", "Messages", "Calendar", "Staff", "Reports", "Help")
_TOPICS = (
    "Opening hours in winter", "New badge readers", "Parking on the north side", "Canteen menu",
    "How to file a complaint", "Holiday calendar", "Fire drill on Thursday", "Lost property",
    "Printer on floor two", "Travel expenses", "Safety training", "Newsletter archive",
    "Visitors and deliveries", "Heating schedule",
)  # fmt: skip
_PEOPLE = ("A. Novak", "B. Weiss", "C. Ilves", "D. Mora", "E. Blom", "F. Kaya", "G. Orsi")
_STATES = ("waiting", "in progress", "done", "on hold")


def page(title: str, main: str, *, aside: str = "", signed_in: bool = False) -> str:
    """A whole page of some 100 elements; what surrounds ``main`` depends on the title alone."""
    chance = random.Random(title)
    links = [_link(f"/{name.lower()}", name) for name in _NAV]
    links.append(_link("/login", "Sign out" if signed_in else "Sign in"))
    topics = chance.sample(_TOPICS, 9)
    news = "".join(f"<li>{_link(f'/news/{n}', topic)}</li>" for n, topic in enumerate(topics))
    footer = "".join(
        f"<li>{_link(f'/about/{word.lower()}', word)}</li>"
        for word in ("Imprint", "Privacy", "Contact", "Accessibility", "Press", "Status")
    )
    return f"""<!doctype html><html lang="en"><head><meta charset="utf-8">
<title>{escape(title)}</title>
<style>body{{font:15px sans-serif;margin:1em}}nav a{{margin-right:1em}}
main,aside{{max-width:50em}}</style></head><body>
<header><a href="/">Desk and Slots</a><nav aria-label="Main">{"".join(links)}</nav></header>
<main><h1>{escape(title)}</h1>{main}{_queue(chance)}</main>
<aside aria-label="News">{aside}<h2>News</h2><ul>{news}</ul></aside>
<footer><ul>{footer}</ul></footer></body></html>"""


def _link(to: str, words: str) -> str:
    return f'<a href="{escape(to)}">{escape(words)}</a>'


def _queue(chance: random.Random) -> str:
    """A table of other people's business."""
    rows = "".join(
        f"<tr><td>Q-{chance.randrange(1000, 9999)}</td><td>{chance.choice(_PEOPLE)}</td>"
        f"<td>{chance.choice(_STATES)}</td></tr>"
        for _ in range(7)
    )
    head = "<tr><th>Queue</th><th>Clerk</th><th>State</th></tr>"
    return f"<h2>Waiting now</h2><table aria-label='Waiting now'>{head}{rows}</table>"


def field(label: str, name: str, *, kind: str = "text") -> str:
    """A labelled text field."""
    return (
        f'<p><label for="{name}">{escape(label)}</label> '
        f'<input id="{name}" name="{name}" type="{kind}" autocomplete="off"></p>'
    )


def select(label: str, name: str, options: Iterable[str], chosen: str = "") -> str:
    """A labelled choice; without ``chosen`` the first option says that none is made."""
    made = [] if chosen else ["<option value=''>Please choose</option>"]
    made += [f"<option{' selected' if o == chosen else ''}>{escape(o)}</option>" for o in options]
    return (
        f'<p><label for="{name}">{escape(label)}</label> '
        f'<select id="{name}" name="{name}">{"".join(made)}</select></p>'
    )


def form(action: str, inner: str, button: str, *, method: str = "get") -> str:
    """A form with one button."""
    return (
        f'<form action="{escape(action)}" method="{method}">{inner}'
        f"<p><button>{escape(button)}</button></p></form>"
    )


def result(label: str, value: str, facts: Mapping[str, str]) -> str:
    """What a step ends with: one value under its label, and what else is said of the thing."""
    told = "".join(f"<li>{escape(k)}: {escape(v)}</li>" for k, v in facts.items())
    return (
        f'<p>{escape(label)} <output aria-label="{escape(label)}">{escape(value)}</output></p>'
        f"<ul>{told}</ul>"
    )


def alert(words: str) -> str:
    """An error on a page."""
    return f'<p role="alert">{escape(words)}</p>'


def table(name: str, head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table with a name."""
    top = "".join(f"<th>{escape(h)}</th>" for h in head)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows
    )
    return (
        f'<table aria-label="{escape(name)}"><thead><tr>{top}</tr></thead>'
        f"<tbody>{body}</tbody></table>"
    )
