"""``bioeval zoo``: who fails."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bioeval.cli.calls import options_of
from bioeval.cli.command import option
from bioeval.cli.outputs import MoreResults
from bioeval.cli.study_command import StudyCommand, study

if TYPE_CHECKING:
    import xarray as xr

    from bioeval.scores.matrix import Scores


class ReportedZoo(MoreResults):
    """The subjects of each system of a page, at its threshold."""

    add_options = (option("--zoo", "Add whose errors they are.", bool),)

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


@study(
    "zoo",
    options_of("zoo", "threshold", "quantile", "permutations", "random_state"),
    use=True,
    plots=True,
)
def command(run: StudyCommand) -> None:
    """Evaluate DATA by subject, and test for goats, wolves and lambs.

    bioeval zoo scores.npz --threshold far=0.001

    The table gives the mean scores of each subject, its false rejects, the false accepts by its
    probes (many for a wolf) and by claims of its identity (many for a lamb), and the rates without
    the subject. The tests compare two halves of each subject's templates. Embeddings usually have
    wolves and lambs, also those of `bioeval simulate`: subjects near the common centre are near to
    all others.
    """
    from bioeval.studies.zoo.zoo import zoo

    run.finish(run.count(zoo, run.read(), **run.options))
