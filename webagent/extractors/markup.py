"""HTML as a reader sees it: the text of an element, and the elements that a target names.

Regions come from the browser with absolute addresses, without scripts, and with everything that is
not rendered marked by ``HIDDEN``; the same functions work on any HTML.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from bs4 import BeautifulSoup, Tag
from bs4.element import Comment, Declaration, Doctype, NavigableString, ProcessingInstruction
from lxml import etree
from soupsieve import SelectorSyntaxError

from webagent.core.pattern import PatternFaultError, found_in
from webagent.core.target import Target

HIDDEN = "data-webagent-hidden"
PLACE = "data-webagent-place"

_BLOCK = frozenset(
    [
        "address",
        "article",
        "aside",
        "blockquote",
        "caption",
        "dd",
        "details",
        "dialog",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hr",
        "li",
        "main",
        "nav",
        "ol",
        "p",
        "pre",
        "section",
        "summary",
        "table",
        "tbody",
        "td",
        "tfoot",
        "th",
        "thead",
        "tr",
        "ul",
        "br",
        "option",
    ]
)
_SILENT = frozenset({"script", "style", "noscript", "template", "head", "title"})
_NOT_TEXT = (Comment, Declaration, Doctype, ProcessingInstruction)
_HAS_TEXT = re.compile(r":has-text\(")
_IMPLICIT: dict[str, str] = {
    "link": "a[href], area[href]",
    "button": "button, input[type=submit], input[type=button], input[type=reset], summary",
    "heading": "h1, h2, h3, h4, h5, h6",
    "img": "img",
    "cell": "td",
    "columnheader": "th",
    "rowheader": "th[scope=row]",
    "row": "tr",
    "table": "table",
    "list": "ul, ol",
    "listitem": "li",
    "article": "article",
    "paragraph": "p",
    "textbox": "textarea, input:not([type]), input[type=text], input[type=email], input[type=tel]",
    "searchbox": "input[type=search]",
    "checkbox": "input[type=checkbox]",
    "radio": "input[type=radio]",
    "spinbutton": "input[type=number]",
    "combobox": "select",
    "option": "option",
    "time": "time",
    "term": "dt",
    "definition": "dd",
    "strong": "strong, b",
    "emphasis": "em, i",
    "code": "code",
    "figure": "figure",
    "deletion": "del, s",
    "insertion": "ins",
    "navigation": "nav",
    "region": "section[aria-label], section[aria-labelledby]",
    "form": "form",
    "group": "fieldset, details",
    "status": "output",
    "meter": "meter",
    "progressbar": "progress",
}


class UnreadableTargetError(ValueError):
    """A target that cannot be looked for inside a region of HTML."""


# lxml's HTML parser drops rows and cells that stand alone: they get their table back.
_AROUND = {
    "tr": ("<table><tbody>", "</tbody></table>"),
    "td": ("<table><tbody><tr>", "</tr></tbody></table>"),
    "th": ("<table><tbody><tr>", "</tr></tbody></table>"),
    **dict.fromkeys(("tbody", "thead", "tfoot", "caption"), ("<table>", "</table>")),
}
_START = re.compile(r"\s*<([a-zA-Z0-9-]+)")


def regions(htmls: Sequence[str]) -> list[Tag]:
    """The one element that each region's HTML holds; parsed together, which costs far less."""
    names: list[str] = []
    parts: list[str] = []
    for index, html in enumerate(htmls):
        start = _START.match(html)
        names.append(start[1].lower() if start else "")
        before, after = _AROUND.get(names[-1], ("", ""))
        parts.append(f'<div {PLACE}="{index}">{before}{html}{after}</div>')
    soup = BeautifulSoup("".join(parts), "lxml")
    boxes = {str(box[PLACE]): box for box in soup.find_all("div", attrs={PLACE: True})}
    found: list[Tag] = []
    for index, name in enumerate(names):
        box = boxes[str(index)]
        inner = box.find(name) if name else box
        found.append((inner if isinstance(inner, Tag) else box).extract())
    return found


def region(html: str) -> Tag:
    """The one element that a region's HTML holds."""
    return regions([html])[0]


def text_of(node: Tag) -> str:
    """What a reader sees: hidden parts left out, blocks apart, white space folded."""
    parts: list[str] = []
    _collect(node, parts, top=True)
    return " ".join("".join(parts).split())


def _collect(node: Tag, parts: list[str], *, top: bool = False) -> None:
    if node.name in _SILENT or (not top and node.has_attr(HIDDEN)):
        return
    if node.name in ("input", "textarea"):
        parts.append(str(node.get("value") or "") if node.get("type") != "hidden" else "")
        return
    apart = node.name in _BLOCK
    if apart:
        parts.append(" ")
    for child in node.children:
        if isinstance(child, Tag):
            _collect(child, parts)
        elif isinstance(child, NavigableString) and not isinstance(child, _NOT_TEXT):
            parts.append(str(child))
    if apart:
        parts.append(" ")


def name_of(node: Tag) -> str:
    """The accessible name, as far as a region tells it."""
    for attribute in ("aria-label", "alt"):
        if value := node.get(attribute):
            return " ".join(str(value).split())
    if node.name == "input" and node.get("type") in ("submit", "button", "reset"):
        return str(node.get("value") or "")
    if text := text_of(node):
        return text
    inner = node.find("img", alt=True)
    if isinstance(inner, Tag):
        return str(inner.get("alt"))
    return str(node.get("title") or node.get("placeholder") or "")


def select(root: Tag, target: Target) -> list[Tag]:
    """The elements below (or the root itself) that a target names, in document order.

    Raises:
        UnreadableTargetError: a selector that is not understood here.
    """
    roots = [root] if target.within is None else select(root, target.within)
    if target.frame is not None:
        raise UnreadableTargetError(f"a field of a row is not in a frame: {target}")
    found: list[Tag] = []
    seen: set[int] = set()
    for one in roots:
        for node in _all(one, target):
            if id(node) not in seen:
                seen.add(id(node))
                found.append(node)
    if target.nth is not None:
        try:
            return [found[target.nth]]
        except IndexError:
            return []
    return found


def _all(root: Tag, target: Target) -> list[Tag]:
    ways: list[list[Tag]] = []
    if target.css is not None:
        ways.append(_css(root, target.css, target))
    if target.xpath is not None:
        ways.append(_xpath(root, target.xpath))
    if target.role is not None:
        ways.append(_by_role(root, target))
    if target.test_id is not None:
        wanted = target.test_id
        ways.append([n for n in root.find_all(True) if n.get("data-testid") == wanted])
    if target.placeholder is not None:
        ways.append(
            [
                n
                for n in root.find_all(True)
                if _is(str(n.get("placeholder") or ""), target, "placeholder")
            ]
        )
    if target.label is not None:
        ways.append(_by_label(root, target))
    if target.text is not None:
        if not ways:
            return _by_text(root, target)
        ways.append([n for way in ways for n in way if _is(text_of(n), target, "text")])
    first = ways[0]
    others = [{id(n) for n in way} for way in ways[1:]]
    return [n for n in first if all(id(n) in way for way in others)]


def _is(seen: str, target: Target, key: str) -> bool:
    wanted = " ".join(str(getattr(target, key)).split())
    folded = " ".join(seen.split())
    if not folded:
        return False
    return folded == wanted if target.exact else wanted.casefold() in folded.casefold()


def _css(root: Tag, selector: str, target: Target) -> list[Tag]:
    # Playwright's :has-text() is soupsieve's :-soup-contains(), but for upper and lower case.
    known = _HAS_TEXT.sub(":-soup-contains(", selector)
    try:
        found = root.select(known)
        itself = root.css.match(known) if root.name != "[document]" else False
    except (SelectorSyntaxError, NotImplementedError) as error:
        raise UnreadableTargetError(
            f"{target} is not a selector that works inside a row: {str(error).splitlines()[0]}"
        ) from error
    return [root, *found] if itself else list(found)


def _xpath(root: Tag, path: str) -> list[Tag]:
    """Elements by XPath; each tag is numbered, so that lxml's answer leads back to the soup."""
    tags = [root, *root.find_all(True)]
    for index, tag in enumerate(tags):
        tag[PLACE] = str(index)
    try:
        tree = etree.HTML(str(root))
        found = tree.xpath(path if path.startswith((".", "/", "(")) else f".//{path}")
    except etree.XPathError as error:
        raise UnreadableTargetError(f"not an XPath: {path} ({error})") from error
    finally:
        for tag in tags:
            del tag[PLACE]
    if not isinstance(found, list):
        return []
    places = [node.get(PLACE) for node in found if isinstance(node, etree._Element)]
    return [tags[int(place)] for place in places if place is not None]


def _by_role(root: Tag, target: Target) -> list[Tag]:
    role = target.role or ""
    implicit = _IMPLICIT.get(role)
    named: Callable[[Tag], bool]
    if target.name_regex is not None:
        pattern = target.name_regex
        named = lambda n: _found_in(pattern, name_of(n))  # noqa: E731 - one of three tests
    elif target.name is not None:
        named = lambda n: _is(name_of(n), target, "name")  # noqa: E731 - one of three tests
    else:
        named = lambda _: True  # noqa: E731 - one of three tests
    found = []
    for node in [root, *root.find_all(True)]:
        own = node.get("role")
        has = own == role if own else implicit is not None and bool(node.css.match(implicit))
        if has and not node.has_attr(HIDDEN) and named(node):
            found.append(node)
    return found


def _found_in(pattern: str, name: str) -> bool:
    try:
        return found_in(pattern, name)
    except PatternFaultError as fault:
        raise UnreadableTargetError(str(fault)) from None


def _by_label(root: Tag, target: Target) -> list[Tag]:
    found = [n for n in root.find_all(True) if _is(str(n.get("aria-label") or ""), target, "label")]
    for label in root.find_all("label"):
        if not _is(text_of(label), target, "label"):
            continue
        ident = label.get("for")
        control = root.find(id=str(ident)) if ident else label.find(["input", "select", "textarea"])
        if isinstance(control, Tag):
            found.append(control)
    return found


def _by_text(root: Tag, target: Target) -> list[Tag]:
    """The innermost elements whose text matches, as Playwright's get_by_text."""
    hits = [n for n in [root, *root.find_all(True)] if _is(text_of(n), target, "text")]
    inner = {id(parent) for n in hits for parent in n.parents}
    return [n for n in hits if id(n) not in inner]
