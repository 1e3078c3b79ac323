"""Cases of each study for tests of all studies, from ``cases.py`` of its folder.

Each name is an optional dictionary:

``CALLS``
    Public calls of scores, by name: the same scores of another kind have the same results.
``OTHER_CALLS``
    Its other public calls, and why they are not in ``CALLS``.
``BY_ORDER``
    Variables of a call that depend on the order of templates.
``UNTIED``, ``TURNED``
    The same calls where equal scores have no order of their own, and for distances.
``UNDER_CARD``
    Public calls of scores and a card, by name.
``PLOTS``
    The result of the system of a number, by plot.
``VARIABLES``
    Results by name: each of their variables is described.
"""

import functools
import runpy
from pathlib import Path
from typing import Any


@functools.cache
def _files() -> list[dict[str, Any]]:
    paths = sorted(Path(__file__).parent.rglob("cases.py"))
    return [runpy.run_path(str(path)) for path in paths]


def study_cases(name: str) -> dict[str, Any]:
    """Return the cases of all studies under a name above."""
    cases: dict[str, Any] = {}
    for file in _files():
        cases |= file.get(name, {})
    return cases
