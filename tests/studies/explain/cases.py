"""Cases of this study for tests of all studies."""

from typing import Any

import bioeval as be


def plain(row: Any) -> dict[str, Any]:
    """An explained row as plain values."""
    return {
        "kind": row.kind,
        "threshold": row.threshold,
        "lists": [
            [(x.place, x.template, x.subject, x.score, x.role, x.accepted) for x in ranked.entries]
            for ranked in row.lists
        ],
        "tasks": {task.title: task.counts for task in row.tasks},
    }


CALLS = {"explain": lambda s: plain(be.explain(s, 5))}
OTHER_CALLS = {"step_by_step": "each of its rows is that of explain"}
