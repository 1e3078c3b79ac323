"""Cases of this study for tests of all studies."""

from typing import Any

import bioeval as be


def plain(row: Any) -> dict[str, Any]:
    """An explained row as plain values."""
    return {
        "kind": row.kind,
        "threshold": row.threshold,
        "lists": {key: [vars(entry) for entry in entries] for key, entries in row.lists.items()},
        "counts": dict(row.counts),
    }


CALLS = {"explain": lambda s: plain(be.explain(s, 5))}
