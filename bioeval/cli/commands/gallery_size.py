"""``bioeval gallery-size``: rates against the size of the gallery."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from bioeval.cli.arguments import NUMBERS, WHOLE_NUMBERS
from bioeval.cli.command import Command, F, option
from bioeval.cli.shared import DATA, shared
from bioeval.cli.undefined import require_defined

if TYPE_CHECKING:
    from bioeval.cli.running import Run


def _refuse(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
    if value is not None:
        raise click.UsageError(
            f"{param.opts[0]} makes claims, for verification; a gallery is searched for its "
            "templates. Leave it out"
        )


def _refused(name: str) -> Callable[[F], F]:
    """Return an option that says why the command does not have it."""
    settings: dict[str, Any] = {"hidden": True, "expose_value": False, "callback": _refuse}
    return click.option(name, help="Refused: it is of claims.", **settings)


@click.command("gallery-size", cls=Command)
@DATA
@option(
    "--sizes N,N",
    "Numbers of subjects in the gallery; about a dozen, up to all, by default.",
    WHOLE_NUMBERS,
)
@option("--thresholds T,T", "Thresholds at which to report rates (0.5,0.62).", NUMBERS)
@option("--n-thresholds N", "Number of thresholds of the curves.", int)
@option("--max-rank N", "Number of ranks.", int)
@option(
    "--ties",
    "Rank of a mate among candidates with exactly the same score.",
    ["pessimistic", "optimistic", "stable", "expected"],
    "pessimistic",
)
@option(
    "--impostors",
    "Whose searches are non-mated.",
    ["auto", "unenrolled", "leave-subject-out", "both"],
    "auto",
)
@option(
    "--fusion RULE",
    "How the scores of a subject's templates are fused: best, mean, worst, median, kth:K, min or "
    "max.",
    str,
    "best",
)
@_refused("--attempts")
@_refused("--enrol")
@_refused("--templates")
@shared(plots=True, name=False, fails=("cms=1 < 90%",))
def gallery_size_command(run: Run, data: str, second: str | None = None, **options: Any) -> None:
    """Evaluate identification of DATA by number of enrolled subjects.

    bioeval gallery-size scores.npz --sizes 5,10 --max-rank 3

    Rates are exact means over all galleries of as many subjects.
    """
    from bioeval.studies.galleries.gallery_size import gallery_size

    scores = run.read(data, second)
    dataset = gallery_size(scores, **options)
    require_defined([dataset["cms"]], [scores])
    run.finish(dataset)
