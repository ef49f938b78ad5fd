"""The rules of the house that a module can break by its own text, as functions over its source.

Each rule takes a module and yields what is wrong in it, so that it can be shown on a made-up module
that it does find its breach. The floors (who may import whom) are import-linter's.
"""

import ast
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "webagent"

# Where a library is imported, and nowhere else.
ONE_PLACE = {
    "playwright": ("executors/browser/",),
    "sqlalchemy": ("stores/",),
    "ruamel": ("formats/",),
    "anthropic": ("chats/",),
    "dbos": ("jobs/",),
    "typer": ("cli/",),
}
# May read the environment: the settings; the demo hands it on to the runner that it starts.
ENVIRONMENT_READERS = ("settings.py", "demo/")
# May catch everything: what a step's hands do, and the face's last resort.
CATCH_ALL = ("runtime/segment.py", "cli/")
# Decisions are functions of their arguments.
PURE = ("core/", "engine/")

_ENVIRONMENT = {"environ", "environb", "getenv", "getenvb", "putenv", "unsetenv"}
_VAGUE = {"utils", "util", "helpers", "helper", "common", "misc", "manager", "service", "services"}
_WORLDLY = {
    "now", "utcnow", "today", "open", "print", "input", "uuid1", "uuid4", "read_text", "read_bytes",
    "write_text", "write_bytes", "is_file", "is_dir", "iterdir", "mkdir", "unlink", "getcwd", "cwd",
}  # fmt: skip
_UNFINISHED = re.compile(r"\b(?:TO[D]O|FIX[M]E|X[X]X)\b")
_IGNORE = re.compile(r"#\s*(?:noqa|type:\s*ignore)(?P<rest>.*)$")


@dataclass(frozen=True)
class Module:
    """One source file: ``name`` is its path below the package, with slashes."""

    name: str
    text: str

    @property
    def tree(self) -> ast.Module:
        """Its syntax tree."""
        return ast.parse(self.text)

    def under(self, *places: str) -> bool:
        """Whether it is one of the files, or below one of the folders (which end in a slash)."""
        return any(
            self.name.startswith(place) if place.endswith("/") else self.name == place
            for place in places
        )


def modules(folder: Path = PACKAGE) -> list[Module]:
    """The source files below a folder."""
    return [
        Module(path.relative_to(folder).as_posix(), path.read_text("utf-8"))
        for path in sorted(folder.rglob("*.py"))
    ]


def imports(module: Module) -> Iterator[tuple[int, str]]:
    """The line and full name of everything imported, also inside functions."""
    package = ["webagent", *Path(module.name).parent.parts]
    for node in ast.walk(module.tree):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, alias.name) for alias in names)
            case ast.ImportFrom(module=source, names=names, level=level):
                base = package[: len(package) - level + 1] if level else []
                source = ".".join([*base, *([source] if source else [])])
                yield from ((node.lineno, f"{source}.{alias.name}") for alias in names)


def libraries_outside_their_place(module: Module) -> Iterator[str]:
    """Playwright under executors/browser, SQLAlchemy under stores, and so on."""
    for line, name in imports(module):
        places = ONE_PLACE.get(name.split(".")[0])
        if places and not module.under(*places):
            yield f"{module.name}:{line}: {name} is imported only under {', '.join(places)}"


def readings_of_the_environment(module: Module) -> Iterator[str]:
    """The settings read the environment; everybody else is given values."""
    if module.under(*ENVIRONMENT_READERS):
        return
    for node in ast.walk(module.tree):
        match node:
            case ast.Attribute(value=ast.Name(id="os"), attr=attr) if attr in _ENVIRONMENT:
                yield f"{module.name}:{node.lineno}: {attr} is for settings.py"
            case ast.ImportFrom(module="os", names=names):
                for alias in names:
                    if alias.name in _ENVIRONMENT:
                        yield f"{module.name}:{node.lineno}: {alias.name} is for settings.py"


def worldly_calls_of_the_pure(module: Module) -> Iterator[str]:
    """Core and engine ask no clock, draw no number, open no file."""
    if not module.under(*PURE):
        return
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call):
            match node.func:
                case ast.Name(id=name) | ast.Attribute(attr=name) if name in _WORLDLY:
                    yield f"{module.name}:{node.lineno}: {name}() reaches the world in a pure room"


def async_in_the_pure(module: Module) -> Iterator[str]:
    """Decisions are synchronous."""
    if not module.under(*PURE):
        return
    for node in ast.walk(module.tree):
        if isinstance(node, ast.AsyncFunctionDef | ast.Await | ast.AsyncFor | ast.AsyncWith):
            yield f"{module.name}:{node.lineno}: async in a pure room"


def imports_of_the_face(module: Module) -> Iterator[str]:
    """``from webagent import run`` is for users: from inside it would close a ring."""
    if module.name in {"__init__.py", "__main__.py"}:
        return
    for line, name in imports(module):
        parts = name.split(".")
        if parts[0] != "webagent":
            continue
        if len(parts) == 1 or (len(parts) == 2 and not _is_room(parts[1])):
            yield f"{module.name}:{line}: {name} comes from the public face; import its own module"


def vague_names(module: Module) -> Iterator[str]:
    """A module is named for what it knows."""
    for part in Path(module.name).with_suffix("").parts:
        words = set(part.lower().split("_"))
        if words & _VAGUE:
            yield f"{module.name}: '{part}' says nothing about what is in it"
        if re.search(r"(?:^|_)v?\d+$", part):
            yield f"{module.name}: '{part}' carries a version number"


def broad_excepts(module: Module) -> Iterator[str]:
    """A handler that catches everything and goes on hides bugs; one that raises again is fine."""
    if module.under(*CATCH_ALL):
        return
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ExceptHandler) and _is_broad(node.type):
            last = node.body[-1]
            if not (isinstance(last, ast.Raise) and last.exc is None):
                yield f"{module.name}:{node.lineno}: a broad except outside {', '.join(CATCH_ALL)}"


def unfinished_marks(module: Module) -> Iterator[str]:
    """What is left to do is an issue, not a comment."""
    for number, line in enumerate(module.text.splitlines(), 1):
        if _UNFINISHED.search(line):
            yield f"{module.name}:{number}: {line.strip()}"


def ignores_without_reason(module: Module) -> Iterator[str]:
    """A lint or type ignore names its rule and says why: ``# noqa: C901 - one arm an event``."""
    for token in tokenize.generate_tokens(StringIO(module.text).readline):
        if token.type != tokenize.COMMENT or not (found := _IGNORE.search(token.string)):
            continue
        # What is left after the rules' names must hold a word.
        rest = re.sub(r"^\s*(?::\s*[A-Z]+\d+(?:[,\s]+[A-Z]+\d+)*|\[[\w, -]+\])", "", found["rest"])
        if rest == found["rest"]:
            yield f"{module.name}:{token.start[0]}: the ignore names no rule"
        elif not re.search(r"[a-z]{2}", rest):
            yield f"{module.name}:{token.start[0]}: the ignore gives no reason"


def protocols_without_promises(module: Module) -> Iterator[str]:
    """A plug point's docstring ends in numbered promises, which its contract tests check."""
    if module.name != "ports.py":
        return
    for node in module.tree.body:
        if isinstance(node, ast.ClassDef) and any(
            isinstance(base, ast.Name) and base.id == "Protocol" for base in node.bases
        ):
            promises = re.findall(r"^\s*(\d+)\. ", ast.get_docstring(node) or "", re.MULTILINE)
            if promises != [str(n) for n in range(1, len(promises) + 1)] or not promises:
                yield f"{module.name}:{node.lineno}: {node.name} makes no numbered promises"


def _is_room(name: str) -> bool:
    return (PACKAGE / name).is_dir() or (PACKAGE / f"{name}.py").is_file()


def _is_broad(caught: ast.expr | None) -> bool:
    match caught:
        case None:
            return True
        case ast.Name(id=name):
            return name in {"Exception", "BaseException"}
        case ast.Tuple(elts=several):
            return any(_is_broad(one) for one in several)
        case _:
            return False
