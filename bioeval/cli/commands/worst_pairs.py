"""The worst pairs among the outputs of ``bioeval run``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bioeval.cli.arguments import at_least
from bioeval.cli.command import option
from bioeval.cli.images import ImageOptions
from bioeval.cli.outputs import MoreOutputs, MoreResults

if TYPE_CHECKING:
    import xarray as xr

    from bioeval.document.blocks import Table
    from bioeval.protocol.card import Protocol
    from bioeval.scores.matrix import Scores


class ListedPairs(MoreOutputs):
    """The worst pairs where ``--worst`` asks for them: a table, files, and a plot of images."""

    add_options = (
        option(
            "--worst N",
            "List the N worst impostor and genuine pairs.",
            at_least(1),
        ),
        ImageOptions.add,
    )

    pairs: xr.Dataset | None = None

    def take(self, options: dict[str, Any]) -> None:
        """Take the number of pairs, and the images."""
        self.number: int | None = options.pop("worst")
        self._images = ImageOptions(options)
        shown = self.output.page or self.output.plots
        if self._images.requested and (self.number is None or not shown):
            raise click.UsageError("--images needs --worst N and --report HTML or --plots")
        self._folder = self._images.folder(self.data)

    def require(self, scores: Scores) -> None:
        """Raise :class:`DataError` unless the scores have the column of images."""
        self._images.require(scores)

    def make(self, scores: Scores, protocol: str | Protocol, card: str | Protocol) -> None:
        """List the pairs that the card compares."""
        if self.number is None:
            return
        from bioeval.studies.worst_pairs.worst_pairs import worst_pairs
        from bioeval.tasks.plan import compared

        self.stages("listing the worst pairs")
        scores = compared(scores, card)
        self.pairs = worst_pairs(scores, self.number)

    @property
    def results(self) -> dict[str, xr.Dataset]:
        """The pairs."""
        return {} if self.pairs is None else {"worst_pairs": self.pairs}

    @property
    def page_options(self) -> dict[str, Any]:
        """The column and the folder of the images."""
        return {"images": self._images.column, "image_folder": self._folder}

    def _in_data(self) -> Sequence[Table]:
        """Return the table of the pairs, if they are wanted."""
        if self.pairs is None:
            return ()
        from bioeval.studies.worst_pairs.section import table_of_data

        return (table_of_data(self.pairs),)

    def document(self, in_folds: bool) -> dict[str, Any]:
        """Return the pairs as rows."""
        from bioeval.views.writers.data import rows_of_table

        return {table.id: rows_of_table(table) for table in self._in_data()}

    def tables(self) -> dict[str, Any]:
        """Return the columns of the CSV file of pairs."""
        from bioeval.views.writers.data import columns_of_table

        return {f"{table.id}.csv": columns_of_table(table) for table in self._in_data()}

    def draw(self, folder: Path, formats: Sequence[str], tell: Callable[[str], object]) -> None:
        """Draw the pairs if they name images; `tell` receives why named ones are not."""
        if self.pairs is None:
            return
        from matplotlib.figure import Figure

        from bioeval.plot.files import save
        from bioeval.plot.worst_pair_plots import WorstPairsDisplay

        display = WorstPairsDisplay.from_results(
            self.pairs, images=self._images.column or None, image_folder=self._folder
        )
        if not display.why_empty:
            drawn = display.plot(Figure(layout="constrained"))
            for kind in formats:
                save(drawn, folder / f"worst-pairs.{kind}")
        elif self._images.column:
            tell(f"worst-pairs is not drawn: {display.why_empty}")


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
