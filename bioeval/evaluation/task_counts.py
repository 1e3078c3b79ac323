"""Counts of one task, with the options that turn them into a result."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from bioeval.results.dataset import Scalars

if TYPE_CHECKING:
    from bioeval.scores.blocks import BlockReader
    from bioeval.stats.options import IntervalOptions
    from bioeval.studies.galleries.random_galleries import GalleryTally
    from bioeval.studies.reid.counts import GomTally, ReidTally
    from bioeval.studies.sites.folded import Folded
    from bioeval.tallies.counts import TaskTally

    Counts = TaskTally | GalleryTally | ReidTally | GomTally | Folded


@dataclass(frozen=True, eq=False)
class TaskCounts:
    """Counts of one task, with the options of the function that makes its dataset."""

    tally: Counts
    options: dict[str, Any]

    def plain_options(self) -> dict[str, Any]:
        """Return the options with arrays as lists, for JSON."""
        arrays = (np.ndarray, np.generic)
        return {k: v.tolist() if isinstance(v, arrays) else v for k, v in self.options.items()}

    def same_options(self, other: TaskCounts) -> bool:
        """Whether both make results with the same options."""
        mine, theirs = self.plain_options(), other.plain_options()
        return json.dumps(mine, sort_keys=True) == json.dumps(theirs, sort_keys=True)

    def scalars(self, node: str) -> Scalars:
        """Return the numbers of the result besides its curves over the threshold."""
        tally: Any = self.tally
        if tally.form == "verification":
            from bioeval.results.verification import verification_scalars

            return verification_scalars(tally)
        if tally.form != "identification":
            return Scalars.of_dataset(self.dataset(node))
        if node == "open_set":
            from bioeval.results.identification import open_set_scalars

            curves = ("thresholds", "rows", "max_rank")
            options = {k: v for k, v in self.options.items() if k not in curves}
            return open_set_scalars(tally, **options)
        from bioeval.results.identification import closed_set_counts

        return closed_set_counts(tally, **self.options)[0].scalars(tally.about)

    def dataset(self, node: str) -> xr.Dataset:
        """Return the result; `node` is the task, such as ``"open_set"``."""
        tally: Any = self.tally
        make: Callable[..., xr.Dataset]
        match tally.form, node:
            case "verification", _:
                from bioeval.results.verification import verification_dataset

                return verification_dataset(tally)
            case "identification", "open_set":
                from bioeval.results.identification import open_set_dataset as make
            case "identification", _:
                from bioeval.results.identification import closed_set_dataset as make
            case "galleries", "open_set":
                from bioeval.studies.galleries.results import open_set_expected as make
            case "galleries", _:
                from bioeval.studies.galleries.results import closed_set_expected as make
            case "folded verification", _:
                from bioeval.studies.sites.results import folded_verification as make
            case "folded identification", "open_set":
                from bioeval.studies.sites.results import folded_open_set as make
            case "folded identification", _:
                from bioeval.studies.sites.results import folded_closed_set as make
            case "folded queries", _:
                from bioeval.studies.sites.results import folded_queries

                return folded_queries(tally)
            case "reid", _:
                from bioeval.studies.reid.results import ReidOptions, reid_dataset

                return reid_dataset(tally, ReidOptions(**self.options))
            case _:
                from bioeval.studies.reid.results import GomOptions, gom_dataset

                return gom_dataset(tally, GomOptions(**self.options))
        return make(tally, **self.options)

    def with_intervals(
        self, dataset: xr.Dataset, job: Any, reader: BlockReader, options: IntervalOptions
    ) -> xr.Dataset:
        """Return the result with confidence intervals; `job` made the counts."""
        from bioeval.tallies.by_subject import SubjectAttempts, require_people

        tally: Any = self.tally
        if tally.form == "galleries":
            note = "means over drawn galleries have no confidence intervals"
            known = dataset.attrs["warnings"]
            return dataset.assign_attrs(warnings=f"{known}\n{note}" if known else note)
        if options.by_subject:
            require_people(reader.scores, options.method)
        if tally.form == "verification":
            from bioeval.stats.verification import verification_intervals

            attempts = SubjectAttempts(job) if options.by_subject else None
            return verification_intervals(dataset, tally, attempts, options)
        subjects = reader.scores.probe_people if options.by_subject else None
        options_of_means = replace(options, band="pointwise")  # they have no simultaneous bands
        if tally.form in ("reid", "gom"):
            from bioeval.stats.query_means import query_mean_intervals
            from bioeval.studies.reid.results import (
                GOM,
                REID,
                GomOptions,
                ReidOptions,
                gom_measures,
                reid_measures,
            )

            subjects = job.lists.people if options.by_subject else None
            if tally.form == "reid":
                measures = reid_measures(tally, ReidOptions(**self.options))
                return query_mean_intervals(dataset, measures, subjects, REID, options_of_means)
            measures = gom_measures(tally, GomOptions(**self.options))
            return query_mean_intervals(dataset, measures, subjects, GOM, options_of_means)
        from bioeval.stats.identification import closed_set_intervals, open_set_intervals
        from bioeval.tallies.left_out import LeftOut

        add = closed_set_intervals if "cms" in dataset else open_set_intervals  # none are folded
        left_out = None
        codes, square = reader.scores.codes, reader.scores.layout == "all-against-all"
        people = np.unique(codes.probe)
        same = square and np.array_equal(people, np.unique(codes.gallery))
        if options.by_subject and same and not reader.scores.no_person.any():
            ties = str(dataset.attrs["ties"])
            if ties not in job.left_out:  # open and closed set may share the job
                job.left_out[ties] = LeftOut.of(tally, reader, ties)
            left_out = job.left_out[ties]
        return add(dataset, tally, subjects, options, left_out)


def datasets_of(
    counted: Mapping[str, TaskCounts], protocol: str, ranks: Sequence[int]
) -> dict[str, xr.Dataset]:
    """Return the result of each task of a protocol, with the ranks that tables show."""
    found = {node: part.dataset(node) for node, part in counted.items()}
    for dataset in found.values():
        dataset.attrs |= {"protocol": protocol, "report_ranks": " ".join(map(str, ranks))}
    return found


def with_notes(parts: dict[str, TaskCounts], notes: list[str], **changed: Any) -> None:
    """Add notes to the provenance of counts that were just made, with other changes."""
    for tally in {id(part.tally): part.tally for part in parts.values()}.values():
        found = tuple(dict.fromkeys([*tally.about.notes, *notes]))
        tally.about = replace(tally.about, notes=found, **changed)
