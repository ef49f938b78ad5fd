"""The graphs of WorFBench as plans, and the one thing that goes wrong in each run.

A node becomes a step that names the outputs of its predecessors; a third of the graphs that are a
single path become one `continues` chain, as a wizard's pages are. What a node's text says to do is
not done: its page is a script. Every choice is drawn by a generator seeded with the graph's id, so
that a run can be repeated alone.
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import networkx as nx

from webagent.core.compile import compile_plan
from webagent.core.plan import Plan
from webagent.formats.recipe_yaml import parse_recipe

DATA = Path(__file__).parents[4] / "shared" / "data" / "plan_graphs" / "worfbench.jsonl.gz"
HOSTS = 4
CHAINED_SHARE = 1 / 3
FILL_SHARE = 0.4

# early: an action's target is missing. late: all actions were carried out and what was expected did
# not come. changed: the same, and after the revision the step reads another value. stale: the page
# that a predecessor named is gone, and that one has to be asked again; renamed: and it then names
# another. page_lost: the browser is killed.
Kind: TypeAlias = Literal["early", "late", "changed", "stale", "renamed", "page_lost"]
SHARES: dict[Kind, float] = {
    "early": 0.35, "late": 0.25, "changed": 0.15, "stale": 0.07, "renamed": 0.08, "page_lost": 0.10,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Graph:
    """One gold workflow."""

    id: str
    source: str
    nodes: dict[str, str]
    edges: tuple[tuple[str, str], ...]

    @property
    def net(self) -> nx.DiGraph[str]:
        net: nx.DiGraph[str] = nx.DiGraph()
        net.add_nodes_from(self.nodes)
        net.add_edges_from(self.edges)
        return net

    @property
    def is_path(self) -> bool:
        """Whether it is one line of nodes; all others branch."""
        net = self.net
        ends = all(net.in_degree(n) <= 1 and net.out_degree(n) <= 1 for n in net)
        return ends and net.number_of_edges() == len(net) - 1


def load(sample: int | None = None) -> list[Graph]:
    """The graphs in the file's order; of a sample every so-manieth."""
    with gzip.open(DATA, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    if sample is not None and sample < len(rows):
        rows = [rows[index * len(rows) // sample] for index in range(sample)]
    return [
        Graph(r["id"], r["source"], r["nodes"], tuple((a, b) for a, b in r["edges"])) for r in rows
    ]


def step_of(node: str) -> str:
    """The step that a node becomes."""
    return f"n{node}"


def is_chained(graph: Graph, seed: int) -> bool:
    """Whether this path is made one chain of pages."""
    drawn = random.Random(f"{seed}/{graph.id}/chained").random()
    return len(graph.nodes) > 1 and graph.is_path and drawn < CHAINED_SHARE


def plan_of(graph: Graph, seed: int) -> Plan:
    """The graph as a plan, through the recipe's parser and compiler."""
    chained = is_chained(graph, seed)
    net = graph.net
    steps = {}
    for node in graph.nodes:
        before = sorted(net.predecessors(node), key=int)
        steps[step_of(node)] = _step(graph, node, before, chained=chained, seed=seed)
    # JSON strings are YAML strings; a goal may hold what looks like a template.
    recipe = {"webagent": 1, "id": "worfbench", "errand": graph.id, "steps": steps}
    return compile_plan(parse_recipe(json.dumps(recipe, indent=1)))


def _step(
    graph: Graph, node: str, before: Sequence[str], *, chained: bool, seed: int
) -> dict[str, Any]:
    name = step_of(node)
    values = [f"{{{{ {step_of(b)}.value }}}}" for b in before]
    goal = graph.nodes[node][:200].replace("{", "(").replace("}", ")")
    expect = [{"text": f"{name} is done"}]
    read = {"read": {"value": ".value"}}
    fill = [
        {"fill": {f'textbox "{name}"': " ".join([*values, "text"])}},
        {"click": f'button "{name}"'},
    ]
    if chained and before:
        return {
            "do": "fill", "goal": goal, "continues": step_of(before[0]),
            "segment": [*fill, read], "expect": expect,
        }  # fmt: skip
    goto = {"goto": f"http://h{int(node) % HOSTS}.test/{'/'.join([name, *values])}"}
    fills = chained or random.Random(f"{seed}/{graph.id}/{node}/do").random() < FILL_SHARE
    segment = [goto, *fill, read] if fills else [goto, read]
    return {
        "do": "fill" if fills else "read", "goal": goal, "segment": segment, "expect": expect,
    }  # fmt: skip


def mishap_of(graph: Graph, node: str, seed: int) -> tuple[Kind, float]:
    """What goes wrong in a node, and where in its segment (a share of it)."""
    chance = random.Random(f"{seed}/{graph.id}/{node}/mishap")
    kind: Kind = chance.choices(list(SHARES), list(SHARES.values()))[0]
    stale = kind in ("stale", "renamed")
    if stale and (is_chained(graph, seed) or not graph.net.in_degree(node)):
        # Nobody named its page: there is no value that could be stale.
        kind = "early"
    return kind, chance.random()
