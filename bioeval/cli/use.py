"""How the system is used: the options of tries, enrolled templates and their fusion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from bioeval.cli.calls import options_of
from bioeval.cli.command import option_group

if TYPE_CHECKING:
    from bioeval.scores.matrix import Scores

#: The options of tries and of enrolled templates.
TRIES_AND_ENROLMENT = options_of("claim_scores", "attempts", "enrol", heading="System in use")

#: The rule by which scores are fused, of a system in use.
FUSION_IN_USE = options_of(
    "claim_scores", "fusion", heading="System in use", fusion={"default": None}
)

#: All options of the use of a system.
USE = option_group(
    TRIES_AND_ENROLMENT,
    options_of("verification", "templates", heading="System in use", templates={"default": None}),
    FUSION_IN_USE,
)


def take_use(options: dict[str, Any]) -> dict[str, Any]:
    """Remove the options of the use of a system from those of a command that has them.

    Return those that were given.
    """
    if "attempts" not in options:
        return {}
    names = ("attempts", "enrol", "templates", "fusion")
    taken = {name: options.pop(name) for name in names if name in options}
    return {name: value for name, value in taken.items() if value is not None}


def scores_in_use(scores: Scores, use: Mapping[str, Any], *, fuses: bool = True) -> Scores:
    """Return the scores of the claims of a system, or `scores` where each is one comparison.

    Without `fuses`, templates and fusion alone are options of verification.
    """
    joins = "attempts" in use or "enrol" in use
    if not joins and (not fuses or use.get("templates") != "multi"):
        if fuses and "fusion" in use:
            raise click.UsageError("--fusion has no effect; it needs --templates multi")
        return scores
    from bioeval.scores.claim_scores import claim_scores

    return claim_scores(scores, **{"templates": "single", **use})
