"""What the tests of each study offer to tests of the whole: ``offered.py`` of its folder.

Each of these is a dictionary, and may be missing:

``CALLS``
    Public calls of scores, by name: the same scores of another kind have the same results.
``OTHER_CALLS``
    Its other public calls, and why they are not among these.
``BY_ORDER``
    Variables of a call that depend on the order of templates.
``UNTIED``, ``TURNED``
    The same calls where equal scores have no order of their own, and for distances.
``UNDER_CARD``
    Public calls of scores and a card, by name.
``PLOTS``
    The result of the system of a number, by plot.
``VARIABLES``
    Results, by what they are: each of their variables is described.
"""

import functools
import runpy
from pathlib import Path
from typing import Any


@functools.cache
def _files() -> list[dict[str, Any]]:
    paths = sorted(Path(__file__).parent.rglob("offered.py"))
    return [runpy.run_path(str(path)) for path in paths]


def offered(what: str) -> dict[str, Any]:
    """Return what all studies offer under one of the names above."""
    together: dict[str, Any] = {}
    for file in _files():
        together |= file.get(what, {})
    return together
