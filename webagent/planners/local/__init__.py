"""The planner that needs no model: it finds again, looks around, composes, or says why not."""

from webagent.planners.local.planner import LocalPlanner

__all__ = ["LocalPlanner"]
