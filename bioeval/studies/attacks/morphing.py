"""Morphing attacks: morphed images that several people are accepted against (ISO/IEC 20059)."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, get_args

import numpy as np
import xarray as xr

from bioeval import DataError, ProtocolError, Scores, verification
from bioeval.base import (
    Argument,
    Name,
    RandomState,
    counted,
    received,
    require_choice,
    require_list,
    rows_reported_to,
)
from bioeval.document import Message
from bioeval.results import Variables, about_attrs, build
from bioeval.scores import BlockReader, Progress, knows_people, require_scores, require_subjects
from bioeval.stats import IntervalOptions, QuadraticForms
from bioeval.studies.attacks.counts import GenuineAttempts, RateBootstrap, spaced_thresholds
from bioeval.tallies import (
    FAR_TARGETS,
    Rule,
    SubjectAttempts,
    VerificationCounter,
    check_targets,
    check_thresholds,
    require_values,
    to_user,
)

_FEW = 10  # contributors; fewer are warned of


@dataclass(frozen=True)
class _Morphs:
    """Attempts of one system against morphs: of each morph, the distances of each contributor."""

    scores: Scores
    distances: list[list[np.ndarray]]  # in row order

    @property
    def every(self) -> list[np.ndarray]:
        """The distances of each contributor, of one morph after the other."""
        return [*chain.from_iterable(self.distances)]

    @property
    def least(self) -> int:
        """The smallest number of attempts of a contributor against a morph."""
        return min(map(len, self.every))

    @property
    def most(self) -> int:
        """The largest number of attempts of a contributor against a morph."""
        return max(map(len, self.every))

    def accepted(self, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return, by distance and morph, whether all contributors are accepted, and the product.

        The product is of the proportions of accepted attempts of the contributors; NaN rejects all.
        """
        shape = len(at), len(self.distances)
        every, product = np.ones(shape, dtype=bool), np.ones(shape)
        for j, morph in enumerate(self.distances):
            for attempts in morph:
                number = np.searchsorted(np.sort(attempts), at, side="right")
                number[np.isnan(at)] = 0
                every[:, j] &= number > 0
                product[:, j] *= number / len(attempts)
        return every, product

    def reached(self, at: float, number: int) -> np.ndarray:
        """Return for each morph the least of its contributors' accepted first attempts."""
        fewest = []
        for morph in self.distances:
            accepted = [np.count_nonzero(attempts[:number] <= at) for attempts in morph]
            fewest.append(min(accepted))
        return np.array(fewest)


def morphing(
    scores: Scores | Mapping[str, Scores],
    contributors: Sequence[Sequence[Any]] | None = None,
    *,
    bona_fide: Scores | Mapping[str, Scores] | None = None,
    threshold: Any = None,
    thresholds: Any = None,
    far_targets: Any = FAR_TARGETS,
    interval: RateBootstrap | None = None,
    confidence: float = IntervalOptions.CONFIDENCE,
    replicates: int = IntervalOptions.REPLICATES,
    random_state: RandomState = 0,
    progress: Progress | None = None,
) -> xr.Dataset:
    """Evaluate morphing attacks: how many morphs are accepted for all who contributed to them.

    Parameters
    ----------
    scores : Scores, or mapping of str to Scores
        Probe attempts, labelled by subject, against morphed images, the gallery; several systems
        over the same templates by name.
    contributors : sequence of sequences, optional
        Of each morph, the two or more subjects that went into it. By default the columns
        ``contributor_1``, ``contributor_2`` ... of the gallery's metadata.
    bona_fide : Scores, or mapping of str to Scores, optional
        Genuine and impostor attempts of the system, for FRR and thresholds at a FAR.
    threshold : float, tuple or mapping, optional
        Where ``map`` is counted: a number, ``("far", x)`` on `bona_fide`, or either by system.
    thresholds, far_targets
        As for :func:`bioeval.verification`.
    interval : {"subject-bootstrap", "subject-bootstrap-logit"}, optional
        Resamples people; a morph weighs the product of its contributors' weights, and a genuine
        attempt of `bona_fide` its subject's. RMMR, a sum of two rates, has percentiles.
    confidence, replicates, random_state
        As for :func:`bioeval.verification`.
    progress : callable, optional
        Called as ``progress(rows_done, rows)``, for each system.

    Returns
    -------
    xarray.Dataset
        Over ``threshold``: ``mmpmr``, the proportion of morphs of which every contributor has at
        least one accepted attempt, and ``mmpmr_prod``, the mean product of the proportions of
        accepted attempts. Scalars ``morphs``, ``attempts_min`` and ``attempts_max``, the attempts
        of a contributor. With `bona_fide` ``frr``, ``rmmr = mmpmr + frr`` and ``rmmr_prod``; over
        ``far_target``: ``threshold_at_far``, ``mmpmr_at_far`` and ``rmmr_at_far``. With `threshold`
        ``threshold_used``, ``mmpmr_at_threshold`` and ``map`` over ``attempts, systems``: the
        proportion of morphs for which at least so many systems each accept at least so many
        attempts of every contributor. Of several systems all but ``map`` and ``morphs`` have a
        leading dimension ``system``.

    Raises
    ------
    DataError
        Bad options; a morph of fewer than two contributors, or a contributor without attempts;
        systems of other templates.
    ProtocolError
        Scores that are no matrix of probes against a gallery, or without thresholds.

    Notes
    -----
    Scherhag and others (2017), "Biometric systems under morphing attacks", BIOSIG: MinMax-MMPMR and
    ProdAvg-MMPMR, with acceptance at the threshold itself. MMPMR grows with the number of attempts,
    which stands beside. For ``map`` (morphing attack potential, ISO/IEC 20059) the first attempts
    of each contributor count, as many as the contributor with the fewest has. A probe that a
    gallery column ``source_1``, ``source_2`` ... names is not an attempt against that morph: the
    name is its metadata column ``template``, or its row.

    Examples
    --------
    >>> import bioeval as be
    >>> scores = be.Scores([[1, 5], [2, 1], [4, 3]], ["ann", "bob", "eve"], ["m1", "m2"])
    >>> ds = be.morphing(scores, [("ann", "bob"), ("bob", "eve")], thresholds=[1, 2, 3])
    >>> ds.mmpmr.values
    array([0. , 0.5, 1. ])
    """
    systems, single = _systems(scores)
    given_thresholds, targets = check_thresholds(thresholds), check_targets(far_targets)
    if interval is not None:
        require_choice("interval", interval, get_args(RateBootstrap))
    options = IntervalOptions.parse(interval, confidence, replicates, random_state)
    first = next(iter(systems.values()))
    people = _contributors(first, contributors)
    bona_fide_by_system = _bona_fide(bona_fide, systems, single)
    with rows_reported_to(progress):
        morphs = {name: _read(x, people) for name, x in systems.items()}
    grid = (
        given_thresholds
        if isinstance(given_thresholds, np.ndarray)
        else _grid([*morphs.values()], given_thresholds)
    )
    at = _used(threshold, systems, bona_fide_by_system)
    each = [
        _rates(x, grid, targets, people, bona_fide_by_system.get(name), at.get(name), options)
        for name, x in morphs.items()
    ]
    made: Variables = {"morphs": len(people)}
    of_all = set(each[0]).intersection(*each)
    for variable, (dims, value) in each[0].items():
        if variable not in of_all:
            continue  # limits, of which a system lacks the people
        if single:
            made[variable] = dims, value
        else:
            values = [np.asarray(x[variable][1]) for x in each]
            made[variable] = ("system", *dims), np.stack(values)
    coordinates: dict[str, np.ndarray] = {"threshold": grid}
    if not single:
        coordinates["system"] = np.array([*systems], dtype=str)
    if bona_fide_by_system:
        coordinates["far_target"] = targets
    chosen_on = ""
    if at:
        every = threshold.values() if isinstance(threshold, Mapping) else [threshold]
        fixed = all(Rule.parse(x).name == "fixed" for x in every)
        chosen_on = "given" if fixed else "bona fide attempts of each system"
        potential = _potential(morphs, at)
        made["map"] = ("attempts", "systems"), potential
        coordinates["attempts"] = np.arange(1, len(potential) + 1)
        coordinates["systems"] = np.arange(1, len(systems) + 1)
    about = replace(BlockReader(first).about, notes=tuple(first._remarks))
    attrs = about_attrs(about, "morphing", "morphing attacks", _doubts([*morphs.values()], people))
    attrs["chosen_on"] = chosen_on
    if not single:
        attrs["system"] = ", ".join(systems)
    if options is not None:
        attrs |= options.attrs()
    return build(made, NAMES, coordinates, attrs)


def _systems(scores: Any) -> tuple[dict[str, Scores], bool]:
    """Return systems by name, and whether there is only one, given without a name."""
    systems = _by_name(scores)
    if not systems:
        raise DataError("scores is an empty mapping; expected the Scores of each system by name")
    first = next(iter(systems.values()))
    for name, one in systems.items():
        require_scores(one)
        require_values(one, "morphing")
        if one.layout != "probe-against-gallery":
            raise ProtocolError(
                f"morphing compares probes with morphed images, but the layout is {one.layout}; "
                "give the names of the morphs as ",
                Argument("gallery_labels"),
            )
        require_subjects(one, "morphing")
        same_probes = np.array_equal(one.probe_labels, first.probe_labels)
        same_morphs = np.array_equal(one.gallery_labels, first.gallery_labels)
        if not (same_probes and same_morphs) or one.kind != first.kind:
            raise DataError(
                f"the system {name!r} has other labels or another kind than the first; systems are "
                "compared over the same probes and morphs"
            )
    return systems, not isinstance(scores, Mapping)


def _by_name(systems: Any) -> dict[str, Scores]:
    """Return the scores of each system; one system that is given alone has no name."""
    if isinstance(systems, Mapping):
        return {str(name): scores for name, scores in systems.items()}
    return {"": systems}


def _contributors(scores: Scores, contributor_lists: Any) -> list[list[str]]:
    """Return the contributors of each morph, as text."""
    morphs = scores.gallery_labels.tolist()
    if contributor_lists is None:
        columns = _numbered_columns(scores.gallery_meta, "contributor")
        if not columns:
            raise DataError(
                "who contributed to the morphs is not known; give ",
                Argument("contributors"),
                ", or gallery metadata columns contributor_1 and contributor_2",
            )
        contributor_lists = [*zip(*columns, strict=True)]
    rows = require_list("contributors", contributor_lists)
    if len(rows) != len(morphs):
        raise DataError(
            Argument("contributors"),
            f" has {counted(len(rows), 'tuples')} for {counted(len(morphs), 'morphs')}; expected "
            "one for each column",
        )
    contributors = []
    for morph, row in zip(morphs, rows, strict=True):
        names = dict.fromkeys(map(str, require_list("contributors", row)))
        names.pop("", None)
        if len(names) < 2:
            raise DataError(
                f"the morph {morph!r} has {counted(len(names), 'contributors')}; expected two "
                "subjects or more"
            )
        contributors.append([*names])
    return contributors


def _numbered_columns(meta: Mapping[str, np.ndarray], stem: str) -> list[list[Any]]:
    """Return the metadata columns ``stem_1``, ``stem_2`` ... as lists."""
    columns: list[list[Any]] = []
    while f"{stem}_{len(columns) + 1}" in meta:
        columns.append(meta[f"{stem}_{len(columns) + 1}"].tolist())
    return columns


def _bona_fide(bona_fide: Any, systems: Mapping[str, Scores], single: bool) -> dict[str, Scores]:
    """Return the bona fide scores of each system; none where they are not given."""
    if bona_fide is None:
        return {}
    name = Argument("bona_fide")
    if single == isinstance(bona_fide, Mapping):
        raise DataError(name, f": expected {'Scores' if single else 'a mapping'}, as scores are")
    by_system = _by_name(bona_fide)
    for system, one in systems.items():
        if system not in by_system:
            raise DataError(name, f" has no scores of the system {system!r}")
        require_scores(by_system[system], "bona_fide")
        if by_system[system].kind != one.kind:
            raise DataError(
                name,
                f" are of kind {by_system[system].kind}, the attempts against morphs of "
                f"{one.kind}; one threshold holds for both",
            )
    return by_system


def _read(scores: Scores, people: list[list[str]]) -> _Morphs:
    """Return the distances of the attempts against each morph."""
    labels = np.array([str(x) for x in scores.probe_labels.tolist()], dtype=object)
    rows = {who: np.flatnonzero(labels == who) for who in set().union(*people)}
    names = scores.probe_meta.get("template", np.arange(len(labels))).tolist()
    place = {str(x): i for i, x in enumerate(names)}
    sources: list[set[int]] = [set() for _ in people]
    for source in _numbered_columns(scores.gallery_meta, "source"):
        for of_morph, name in zip(sources, source, strict=True):
            if str(name) in place:
                of_morph.add(place[str(name)])
    reader = BlockReader(scores)
    order = reader.gallery.order
    if order is None:
        order = np.arange(len(people))
    parts = defaultdict(list)  # of morph and contributor
    for block in reader.blocks():
        high = block.low + len(block.values)
        inside = {who: x[(x >= block.low) & (x < high)] for who, x in rows.items()}
        for column, j in enumerate(order.tolist()):
            for who in people[j]:
                chosen = [x - block.low for x in inside[who].tolist() if x not in sources[j]]
                values = np.asarray(block.values[chosen, column], dtype=np.float64)
                parts[j, who].append(values[~np.isnan(values)])
    distances: list[list[np.ndarray]] = []
    for j, morph in enumerate(scores.gallery_labels.tolist()):
        distances.append([])
        for who in people[j]:
            attempts = np.concatenate(parts[j, who])
            if not len(attempts):
                raise DataError(
                    f"the contributor {who!r} of the morph {morph!r} has no attempt against it"
                )
            distances[j].append(attempts)
    return _Morphs(scores, distances)


def _grid(systems: Sequence[_Morphs], number: int | None) -> np.ndarray:
    """Return evenly spaced thresholds over the attempts of all systems."""
    every = np.concatenate([np.concatenate(system.every) for system in systems])
    return spaced_thresholds(every, systems[0].scores.kind, number)


def _used(
    threshold: Any, systems: Mapping[str, Scores], bona_fide: Mapping[str, Scores]
) -> dict[str, float]:
    """Return the threshold of each system, as a distance; none where it is not given."""
    if threshold is None:
        return {}
    name, thresholds = Argument("threshold"), {}
    by_system = threshold if isinstance(threshold, Mapping) else dict.fromkeys(systems, threshold)
    for system, scores in systems.items():
        if system not in by_system:
            raise DataError(name, f" has no threshold of the system {system!r}")
        rule = Rule.parse(by_system[system])
        if rule.name == "fixed":
            thresholds[system] = rule.as_distance(scores.kind).values[0]
        elif rule.name != "far":
            raise DataError(name, f" is {received(threshold)}; expected a number or far=X")
        elif system not in bona_fide:
            raise DataError(name, " = far=X needs the impostors of ", Argument("bona_fide"))
        else:
            ds = verification(bona_fide[system], far_targets=rule.values)
            thresholds[system] = float(to_user(float(ds["threshold_at_far"][0]), scores.kind))
    return thresholds


def _rates(
    one: _Morphs,
    grid: np.ndarray,
    targets: np.ndarray,
    people: list[list[str]],
    bona_fide: Scores | None,
    used: float | None,
    options: IntervalOptions | None,
) -> Variables:
    """Return the rates of one system."""
    kind = one.scores.kind
    count = len(one.distances)
    places, ds = [to_user(grid, kind)], None  # as distances: to negate them is its own inverse
    if bona_fide is not None:
        ds = verification(bona_fide, thresholds=grid, far_targets=targets.tolist())
        places.append(to_user(ds["threshold_at_far"].values, kind))
    places.append(np.array([math.nan if used is None else used]))
    every, product = one.accepted(np.concatenate(places))
    measures = {"mmpmr": every.sum(axis=1) / count, "mmpmr_prod": product.sum(axis=1) / count}
    if options is not None:
        from bioeval.studies.attacks.intervals import morph_limits

        for name, values in (("mmpmr", every), ("mmpmr_prod", product)):
            limits = morph_limits(values.astype(np.float64), people, options)
            measures |= {f"{name}_low": limits[0], f"{name}_high": limits[1]}
    variables: Variables = {"attempts_min": ((), one.least), "attempts_max": ((), one.most)}
    variables |= {name: (("threshold",), x[: len(grid)]) for name, x in measures.items()}
    for end in ("", "_low", "_high"):
        if f"mmpmr{end}" not in measures:
            break  # without intervals
        values = measures[f"mmpmr{end}"]
        if ds is not None:
            variables[f"mmpmr_at_far{end}"] = ("far_target",), values[len(grid) : -1]
        if used is not None:
            variables[f"mmpmr_at_threshold{end}"] = (), values[-1]
    if ds is not None:
        frr = ds["frr"].values
        variables |= {
            "frr": (("threshold",), frr),
            "rmmr": (("threshold",), variables["mmpmr"][1] + frr),
            "rmmr_prod": (("threshold",), variables["mmpmr_prod"][1] + frr),
            "threshold_at_far": (("far_target",), ds["threshold_at_far"].values),
            "rmmr_at_far": (
                ("far_target",),
                variables["mmpmr_at_far"][1] + ds["frr_at_far"].values,
            ),
        }
    if bona_fide is not None and knows_people(bona_fide) and ds is not None and options is not None:
        from bioeval.studies.attacks.intervals import relative_morph_limits

        genuine, at = _genuine(bona_fide), np.concatenate(places[:2])
        frr = np.concatenate([ds["frr"].values, ds["frr_at_far"].values])
        for name, values in (("rmmr", every), ("rmmr_prod", product)):
            shown = values[: len(at)].astype(np.float64)
            limits = relative_morph_limits(shown, people, genuine, at, frr, options)
            for end, x in zip(("low", "high"), limits, strict=True):
                variables[f"{name}_{end}"] = ("threshold",), x[: len(grid)]
                if name == "rmmr":
                    variables[f"rmmr_at_far_{end}"] = ("far_target",), x[len(grid) :]
    if used is not None:
        variables["threshold_used"] = (), to_user(used, kind)
    return variables


def _genuine(bona_fide: Scores) -> GenuineAttempts:
    """Return the genuine attempts of a system."""
    attempts = SubjectAttempts(VerificationCounter(BlockReader(bona_fide)))
    nothing = QuadraticForms(np.ones((attempts.people, 1), dtype=np.float32), 1)
    distances, who = attempts.pass_over(np.empty(0), nothing)
    return GenuineAttempts(distances, [str(attempts.names[i]) for i in who.tolist()])


def _potential(morphs: Mapping[str, _Morphs], at: Mapping[str, float]) -> np.ndarray:
    """Return the morphing attack potential by attempts and systems."""
    least = min(x.least for x in morphs.values())
    reached = np.stack([x.reached(at[name], least) for name, x in morphs.items()])
    attempts, systems = np.arange(1, least + 1), np.arange(1, len(morphs) + 1)
    of_morph = (reached[None] >= attempts[:, None, None]).sum(axis=1)  # attempts, morphs
    return (of_morph[:, None] >= systems[:, None]).sum(axis=2) / reached.shape[1]


def _doubts(systems: Sequence[_Morphs], people: list[list[str]]) -> Iterator[Message]:
    """Yield warnings of unequal numbers of attempts and of few people."""
    low = min(x.least for x in systems)
    high = max(x.most for x in systems)
    if low < high:
        yield Message("contributors-differ-in-attempts", least=low, most=high)
    number = len(set().union(*people))
    if number < _FEW:
        yield Message("few-contributors", contributors=number)


NAMES = {
    "system": Name("system"),
    "attempts": Name("attempts of every contributor, at least"),
    "systems": Name("systems, at least"),
    "morphs": Name("morphed images"),
    "attempts_min": Name("smallest number of attempts of a contributor against a morph"),
    "attempts_max": Name("largest number of attempts of a contributor against a morph"),
    "mmpmr": Name("proportion of morphs accepted for every contributor (MinMax-MMPMR)"),
    "mmpmr_prod": Name("mean product of the proportions of accepted attempts (ProdAvg-MMPMR)"),
    "frr": Name("false reject rate of bona fide attempts", iso="FNMR"),
    "rmmr": Name("relative morph match rate, mmpmr + frr"),
    "rmmr_prod": Name("relative morph match rate, mmpmr_prod + frr"),
    "threshold_at_far": Name("loosest threshold with FAR at most the target"),
    "mmpmr_at_far": Name("mmpmr at the threshold of the FAR target"),
    "rmmr_at_far": Name("rmmr at the threshold of the FAR target"),
    "threshold_used": Name("threshold chosen or given"),
    "mmpmr_at_threshold": Name("mmpmr at the threshold used"),
    "map": Name("morphing attack potential", iso="MAP"),
}
for _rate in (
    *("mmpmr", "mmpmr_prod", "mmpmr_at_far", "mmpmr_at_threshold"),
    *("rmmr", "rmmr_prod", "rmmr_at_far"),
):
    for _side, _word in (("low", "lower"), ("high", "upper")):
        NAMES[f"{_rate}_{_side}"] = Name(f"{_word} confidence limit of {_rate}")
