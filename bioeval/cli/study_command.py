"""Common parts of the commands of studies: from reading files to writing results."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Self

from bioeval.cli.cluster_options import executor_from_options
from bioeval.cli.options import Output, read_scores, reword, system_name, take_reading

if TYPE_CHECKING:
    import xarray as xr

    from bioeval.results.blocks import Block, Found
    from bioeval.scores.matrix import Scores


class StudyCommand:
    """One run of the command of a study, with the options that click gives.

    In its context progress is shown; what :meth:`finish` or :meth:`save` made is printed at the
    end. `options` are those that are left for the library, without those that were not given. A
    command that `reads` no scores sets the `name` of the system itself.
    """

    def __init__(self, data: str, options: dict[str, Any], *, reads: bool = True):
        self.data, self._second, self._named = data, options.get("second"), "name" in options
        self.output = Output.take(options)
        self.reading = take_reading(data, options) if reads else {}
        self._name, self._terms = options.pop("name", None), options.pop("terms", "lecture")
        place = ("workers", "scheduler", "checkpoint")
        self._place = {name: options.pop(name) for name in place if name in options}
        self.options = {name: value for name, value in options.items() if value is not None}
        self._inside, self._counting = contextlib.ExitStack(), contextlib.ExitStack()

    def __enter__(self) -> Self:
        from bioeval.cli.progress import Stages

        self.stages = self._inside.enter_context(Stages())
        self._inside.enter_context(self._counting)
        return self

    def __exit__(self, *exception: Any) -> None:
        self._inside.__exit__(*exception)
        if exception[0] is None:
            self.output.show(*self._shown)

    def read(self, file: str = "", name: str | None = None, *, mates: bool = True) -> Scores:
        """Return the scores of a file, or of `data`, with the name of their system."""
        scores = read_scores(file or self.data, self.reading, self.stages, mates)
        if self._named or name is not None:
            scores.name = system_name(file or self.data, name or self._name, self.reading)
        self.name = scores.name
        return scores

    @functools.cached_property
    def place(self) -> dict[str, Any]:
        """The cluster and the checkpoint, as arguments of the library."""
        return (
            self._counting.enter_context(executor_from_options(self._place, self.stages))
            if self._place
            else {}
        )

    def count(self, function: Callable[..., xr.Dataset], *given: Any, **options: Any) -> xr.Dataset:
        """Return the result of a function of the library, with progress, on the chosen cluster."""
        self.stages("counting")
        return function(*given, **options, **self.place, progress=self.stages.counting)

    def save(self, document: dict[str, Any], results: Any, table: Any, **how: Any) -> None:
        """Write results where files are wanted, and keep the table for printing."""
        files = self.output.save(document, results, table, self.stages, **how)
        self._shown = table, document, files

    def finish(
        self,
        found: xr.Dataset | dict[str, xr.Dataset],
        blocks: Callable[[Found], Iterable[Block]],
        document: dict[str, Any],
        csv: Mapping[str, Mapping[str, Iterable[Any]]] | None = None,
        *,
        nodes: Callable[[str], str] = str,
        overlaid: bool = False,
        apart: bool = False,
        lines: bool = False,
        task: str = "verification",
    ) -> None:
        """Write one result, or several by name, and keep the table for printing.

        `blocks` makes what is shown of results by name, ``""`` for the only one, and `nodes` the
        node of the written tree of a name. Several are `overlaid` in one plot, or drawn `apart` as
        if each were the only one. The table is of plain `lines` or by rich; `task` is what its
        rates are of, as for :class:`~bioeval.views.terms.TermTranslator`.
        """
        self._counting.close()
        import xarray as xr

        from bioeval.views.tables.blocks import StudyReport
        from bioeval.views.terms import TermTranslator, in_terms

        named = found if isinstance(found, dict) else {"": found}
        shown = {name: in_terms(ds, self._terms) for name, ds in named.items()}
        report = StudyReport(blocks(shown), TermTranslator(self._terms, task), reword)
        table = str(report) if lines else report
        drawn: Any = shown.get("")
        saved: Any = found
        if found is named:
            saved = xr.DataTree.from_dict({nodes(name): ds for name, ds in named.items()})
            drawn = [*shown.values()] if apart else shown
        self.save(document, saved, table, csv=csv, drawn=drawn, overlaid=overlaid)
        if self.output.page is not None:
            self.output.write_page({self.name: drawn}, [self.data, self._second], self.stages)
