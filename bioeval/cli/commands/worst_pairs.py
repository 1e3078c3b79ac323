"""The worst pairs of a page of ``bioeval report``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bioeval.cli.arguments import at_least
from bioeval.cli.command import option
from bioeval.cli.outputs import MoreResults

if TYPE_CHECKING:
    import xarray as xr

    from bioeval.scores.matrix import Scores


class ReportedPairs(MoreResults):
    """The worst pairs of each system of a page."""

    add_options = (
        option(
            "--worst N",
            "List the N worst impostor and genuine pairs.",
            at_least(1),
        ),
    )
    with_images = "--worst N"

    def __init__(self, options: dict[str, Any]) -> None:
        super().__init__(options)
        self._number: int | None = options.pop("worst")
        self.has_images = self._number is not None

    def of_system(self, scores: Scores, target: str | None) -> dict[str, xr.Dataset]:
        """List the pairs."""
        if self._number is None:
            return {}
        from bioeval.studies.worst_pairs.worst_pairs import worst_pairs

        self.stages("listing the worst pairs")
        return {"worst_pairs": worst_pairs(scores, self._number)}
