"""``bioeval zoo``: who fails."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bioeval.cli.arguments import Value
from bioeval.cli.command import Command, option
from bioeval.cli.options import output_options, shared_options
from bioeval.cli.outputs import MoreResults
from bioeval.cli.study_command import StudyCommand

if TYPE_CHECKING:
    import xarray as xr

    from bioeval.scores.matrix import Scores


class ReportedZoo(MoreResults):
    """The subjects of each system of a page, at its threshold."""

    add_options = (
        option("--zoo", "Show whose errors they are, as bioeval zoo does, at the threshold.", bool),
    )

    def __init__(self, options: dict[str, Any]) -> None:
        super().__init__(options)
        self._is_wanted: bool = options.pop("zoo")
        self.of_scores = "--zoo" if self._is_wanted else ""

    def of_system(self, scores: Scores, target: str | None) -> dict[str, xr.Dataset]:
        """Return the zoo of a system."""
        if not self._is_wanted:
            return {}
        from bioeval.studies.zoo.zoo import zoo

        self.stages("evaluating each subject")
        seed, threshold = self.options["random_state"], "eer" if target is None else target
        return {"zoo": zoo(scores, threshold=threshold, random_state=seed)}


@click.command("zoo", cls=Command)
@click.argument("data")
@click.argument("second", required=False, metavar="[FILE]")
@option(
    "--threshold",
    "Threshold: a number, or a rule applied to these data: eer, far=X, hter, accuracy, cost=P,M,A.",
    Value.THRESHOLD,
    "eer",
)
@shared_options(use=True)
@option(
    "--quantile Q", "Proportion of best and of worst subjects, to define the animals.", float, 0.25
)
@option("--permutations N", "Number of permutations of the tests.", click.IntRange(1), 2000)
@output_options(
    "results.nc, summary.json, table.txt and a CSV file of each table",
    "draw the plots",
)
@shared_options(
    seed="Random seed of the halves and permutations.",
    name=True,
    reading=True,
)
def command(data: str, **options: Any) -> None:
    """Evaluate DATA by subject, and test for goats, wolves and lambs.

    The table gives the mean scores of each subject, its false rejects, the false accepts by its
    probes (many for a wolf) and by claims of its identity (many for a lamb), and the rates without
    the subject. The tests compare two halves of each subject's templates. Embeddings usually have
    wolves and lambs, also those of `bioeval simulate`: subjects near the common centre are near to
    all others.
    """
    with StudyCommand(data, options) as run:
        from bioeval.studies.zoo.zoo import zoo

        dataset = run.count(zoo, run.read(), **run.options)
        run.finish(dataset)
