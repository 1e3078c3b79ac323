"""Splitters into gallery and probes.

A rule, :class:`ProbeGallerySplit`, says how many templates of each subject are enrolled, which of
them, and what becomes of subjects with too few templates. With two templates enrolled of each
subject, samples of the subjects a, a, a, b, b, b may be divided into

    gallery  a, a, b, b       probes  a, b

and :class:`EnrolledSplit` also leaves some subjects out of the gallery. :class:`Enrolment` draws by
a rule, for both and for :class:`~bioeval.partition.experiment.Experiment`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, get_args

import numpy as np

from bioeval.base.arguments import require_choice
from bioeval.base.errors import DataError, counted, enumerated, nearest_name, received
from bioeval.base.random import RandomState, Stream, seed_sequence
from bioeval.partition import shuffling
from bioeval.partition.base import LabelCodes, ProbesGallery, SplitInput, Splitter, by_name

TooFew = Literal["raise", "enrol", "probe", "drop"]
TOO_FEW: tuple[TooFew, ...] = get_args(TooFew)

_MORE_TEMPLATES = "enrol fewer templates, or make a part that has more of each subject"


@dataclass(eq=False, repr=False)
class ProbeGallerySplit(Splitter[ProbesGallery]):
    """Some templates of each subject are enrolled, the others probe.

    Yields ``ProbesGallery(probes, gallery)``. Every subject is enrolled; for some that are
    not, see :class:`EnrolledSplit`.

    Parameters
    ----------
    n_gallery : int, float or None
        Enrolled templates of each subject.

        - int: their number;
        - float in (0, 1): a proportion of the templates that may be enrolled, rounded to the
          nearest number, but at least 1; without `enrol`, at least one template probes;
        - None: all that `enrol` lets.
    by : str or sequence of str
        Unit of the number: each subject, or with ``by=("subject", "camera")`` each combination of a
        subject with a value of this metadata column. A combination with fewer templates enrols all.
    quality : str, optional
        A metadata column: the templates with the **largest** values are enrolled, the earlier
        one of two equals. Otherwise the choice is random.
    enrol : mapping of str to value or list of values, optional
        Which templates may be enrolled, by metadata: ``{"session": 1}`` or
        ``{"session": [1, 2], "camera": "door"}``, where all have to hold. All other templates
        probe. Templates that may be enrolled and are not are left out, since probes of the
        enrolling session would flatter the system.
    too_few : {"raise", "enrol", "probe", "drop"}
        Treatment of a subject that cannot have both its gallery templates and a probe: an error, or
        all its templates are enrolled, or probe, or are left out.
    n_probe : int, optional
        At most this number of templates of each enrolled subject probe, drawn at random from those
        that are not enrolled; the others are left out. None: all of them probe.
    n_repeats : int
        How often to draw.
    random_state : int, None, numpy.random.SeedSequence, Generator or RandomState
        The seed. None draws another partition each time.

    Examples
    --------
    One random template of each subject, or of each subject and camera:

    >>> import numpy as np
    >>> from bioeval.partition import ProbeGallerySplit
    >>> subject = ["ann", "ann", "ann", "bob", "bob"]
    >>> next(ProbeGallerySplit(1, random_state=0).split(y=subject))
    ProbesGallery(probes=array([0, 2, 4]), gallery=array([1, 3]))
    >>> by_camera = ProbeGallerySplit(1, by=("subject", "camera"), random_state=0)
    >>> next(by_camera.split(y=subject, meta={"camera": [1, 1, 2, 1, 1]})).gallery
    array([1, 2, 3])

    The best one, and the first session:

    >>> meta = {"sharpness": [0.1, 0.9, 0.5, 0.7, 0.3], "session": [1, 2, 2, 1, 2]}
    >>> next(ProbeGallerySplit(1, quality="sharpness").split(y=subject, meta=meta)).gallery
    array([1, 3])
    >>> next(ProbeGallerySplit(enrol={"session": 1}).split(y=subject, meta=meta))
    ProbesGallery(probes=array([1, 2, 4]), gallery=array([0, 3]))
    """

    n_gallery: int | float | None = None
    _: KW_ONLY
    by: str | Sequence[str] = "subject"
    quality: str | None = None
    enrol: Mapping[str, Any] | None = None
    too_few: TooFew = "raise"
    n_probe: int | None = None
    n_repeats: int = 1
    random_state: RandomState = None

    _parts = ProbesGallery

    def __post_init__(self) -> None:
        splitter = type(self).__name__
        quality = self.quality
        enrol = self.enrol
        if not isinstance(self.by, str | Sequence) or "subject" not in self._by:
            raise DataError(
                f"{splitter}: by is {received(self.by)}; expected 'subject', or a list of it and "
                "metadata columns, such as ('subject', 'camera')"
            )
        if self.n_probe is not None:
            self._require_counts_and_seed(n_probe=1)
        if self.n_gallery is not None:
            shuffling.as_size(splitter, "n_gallery", self.n_gallery)
        elif enrol is None:
            raise DataError(
                f"{splitter}: neither n_gallery nor enrol is given; give the number of templates "
                "of each subject to enrol (n_gallery=1) or which (enrol={'session': 1})"
            )
        elif quality is not None:
            raise DataError(
                f"{splitter}: quality is given without n_gallery; give the number of templates to "
                "enrol"
            )
        if quality is not None and not isinstance(quality, str):
            raise DataError(
                f"{splitter}: quality is {type(quality).__name__}; expected the name of a metadata "
                "column of split(..., meta=...)"
            )
        if enrol is not None and not (isinstance(enrol, Mapping) and enrol):
            raise DataError(
                f"{splitter}: enrol is {received(enrol)}; expected a mapping of column to value, "
                "such as {'session': 1}"
            )
        require_choice(f"{splitter}: too_few", self.too_few, TOO_FEW)
        self._require_counts_and_seed(n_repeats=1)
        if self.n_repeats > 1 and self.n_probe is None and not self._random_gallery:
            raise DataError(
                f"{splitter}: n_repeats is {self.n_repeats}, but nothing is random; all repeats "
                "would be the same"
            )

    @property
    def _by(self) -> tuple[str, ...]:
        return (self.by,) if isinstance(self.by, str) else tuple(self.by)

    @property
    def _random_gallery(self) -> bool:
        return self.n_gallery is not None and self.quality is None

    def _blocks(self, samples: SplitInput) -> Iterator[np.ndarray]:
        yield from _enrolments(self, self, samples)


@dataclass(eq=False, repr=False)
class EnrolledSplit(Splitter[ProbesGallery]):
    """Some subjects are not enrolled; all their templates are non-mated probes.

    Yields ``ProbesGallery(probes, gallery)``. The templates of the enrolled subjects are divided by
    a :class:`ProbeGallerySplit`; all templates of other subjects probe. The probes of enrolled
    subjects are mated (PG), the others non-mated (PN); their labels say which.

    Parameters
    ----------
    probe_gallery : ProbeGallerySplit
        How enrolled subjects are divided; seed and repeats are those of this splitter.
    unenrolled : float or int
        The proportion of subjects in (0, 1) that are not enrolled, rounded up, or their number.
    enrolled : float or int, optional
        The subjects that are enrolled, in place of `unenrolled`: a number, or a proportion, rounded
        down, of the subjects with templates enough. No other subject is enrolled; subjects with too
        few templates are left out with ``too_few="drop"``.
    n_repeats, random_state
        As for :class:`ProbeGallerySplit`.

    Notes
    -----
    Whether a subject has too few templates is decided for all subjects, before some are drawn.
    With ``too_few="probe"`` in `probe_gallery`, these subjects are unenrolled besides the drawn
    ones.

    Examples
    --------
    >>> import numpy as np
    >>> from bioeval.partition import EnrolledSplit, ProbeGallerySplit
    >>> subject = np.repeat(["ann", "bob", "cem", "dan"], 2)
    >>> splitter = EnrolledSplit(ProbeGallerySplit(1), unenrolled=0.5, random_state=0)
    >>> probes, gallery = next(splitter.split(y=subject))
    >>> print(subject[gallery], subject[probes])
    ['ann' 'dan'] ['ann' 'bob' 'bob' 'cem' 'cem' 'dan']
    """

    probe_gallery: ProbeGallerySplit
    _: KW_ONLY
    unenrolled: float | int = 0.5
    enrolled: float | int | None = None
    n_repeats: int = 1
    random_state: RandomState = None

    _parts = ProbesGallery

    def __post_init__(self) -> None:
        splitter = type(self).__name__
        if not isinstance(self.probe_gallery, ProbeGallerySplit):
            raise DataError(
                f"{splitter}: `probe_gallery` is {received(self.probe_gallery)}; expected a "
                "ProbeGallerySplit"
            )
        if self.probe_gallery.n_repeats > 1 or self.probe_gallery.random_state is not None:
            raise DataError(
                f"{splitter}: probe_gallery has n_repeats or random_state; give them to "
                f"{splitter}, which draws the galleries, too"
            )
        shuffling.as_size(splitter, "unenrolled", self.unenrolled)
        if self.enrolled is not None:
            shuffling.as_size(splitter, "enrolled", self.enrolled)
            if self.probe_gallery.too_few == "enrol":
                raise DataError(
                    f"{splitter}: `enrolled` says who is enrolled, but "
                    '`too_few="enrol"` enrols all with too few templates besides; '
                    "expected 'probe', 'drop' or 'raise'"
                )
        self._require_counts_and_seed(n_repeats=1)

    def _blocks(self, samples: SplitInput) -> Iterator[np.ndarray]:
        unenrolled = self.unenrolled if self.enrolled is None else None
        yield from _enrolments(self, self.probe_gallery, samples, unenrolled, self.enrolled)


def _enrolments(
    splitter: ProbeGallerySplit | EnrolledSplit,
    rule: ProbeGallerySplit,
    samples: SplitInput,
    unenrolled: float | int | None = None,
    enrolled: float | int | None = None,
) -> Iterator[np.ndarray]:
    enrolment = Enrolment(rule, samples, enrolment_draws(seed_sequence(splitter.random_state)))
    for count in shuffling.blocks(splitter.n_repeats, samples.n):
        yield enrolment.drawn(count, unenrolled, enrolled)


def enrolment_draws(seed: np.random.SeedSequence) -> list[Stream]:
    """Return random numbers for enrolled templates, for probes, and for people."""
    purposes = shuffling.GALLERY, shuffling.PROBES, shuffling.UNENROLLED
    return [shuffling.stream(seed, purpose) for purpose in purposes]


class Enrolment:
    """Draws the enrolled templates and the probes among samples, by the rule of ProbeGallerySplit.

    A unit is a subject, or with `by` a subject with a value of further columns, such as a camera.
    Candidates are the samples that may be enrolled; they are in places, unit after unit.

    - `is_able` (bool (subjects,)): which subjects have enough templates
    """

    def __init__(self, rule: ProbeGallerySplit, samples: SplitInput, draws: Sequence[Stream]):
        self._rule, self._samples = rule, samples
        self._gallery_draws, self._probe_draws, self._subject_draws = draws
        units = samples.subjects
        for name in rule._by:
            if name != "subject":
                units = units.combined(samples.labelled(name))
        self._is_candidate = _candidates(rule, samples)
        candidates = np.bincount(units.codes[self._is_candidate], minlength=len(units))
        wanted = _wanted_of_units(rule, samples.splitter, candidates)
        if units is not samples.subjects:  # a camera with fewer templates enrols all
            wanted = np.minimum(wanted, candidates)
        self.is_able = self._subjects_with_enough(units, candidates, wanted)

        # The candidates in the order in which they are enrolled.
        order = by_name(samples)
        if rule.quality is not None:
            quality = _quality_of_samples(samples, rule.quality)
            order = order[np.argsort(-quality[order], kind="stable")]
        order = order[self._is_candidate[order]]
        self._groups = shuffling.ShuffledGroups(order, units.codes[order], len(units))
        #: bool (candidates,): the places whose samples are enrolled, in each draw.
        self._is_enrolled_place = self._groups.place < wanted[self._groups.group]

    def _subjects_with_enough(
        self, units: LabelCodes, candidates: np.ndarray, wanted: np.ndarray
    ) -> np.ndarray:
        """Return which subjects can have all enrolled templates and a probe, bool (subjects,).

        `candidates` and `wanted` (units,) are the templates that a unit may and should enrol.
        """
        rule, subjects = self._rule, self._samples.subjects
        subject_of_unit = np.empty(len(units), dtype=np.int64)
        subject_of_unit[units.codes] = subjects.codes
        available, needed = np.zeros((2, len(subjects)), dtype=np.int64)
        np.add.at(available, subject_of_unit, candidates)
        np.add.at(needed, subject_of_unit, wanted)
        needed = np.maximum(needed, 1)
        # With `enrol`, no candidate probes, whether it is enrolled or not.
        no_probes = needed if rule.enrol is None else available
        has_too_few = (available < needed) | (subjects.counts - no_probes < 1)
        if has_too_few.any() and rule.too_few == "raise":
            needed_by_first = int(needed[np.argmax(has_too_few)])
            need = f"{needed_by_first} to enrol and one to probe"
            if rule.enrol is not None:
                least = 1 if rule.n_gallery is None else needed_by_first
                need = f"{least} to enrol by metadata and another to probe"
            treatments = enumerated([f'`too_few="{x}"`' for x in TOO_FEW[1:]], "or")
            better = f". Better: {_MORE_TEMPLATES}" if has_too_few.all() else ""
            raise DataError(
                f"{self._samples.splitter}: {has_too_few.sum()} of {len(subjects)} subjects have "
                f"too few templates ({subjects.show(np.flatnonzero(has_too_few))}): each needs "
                f"{need}. Choose their treatment: {treatments}{better}"
            )
        return ~has_too_few

    def drawn(
        self, count: int, unenrolled: float | int | None = None, enrolled: float | int | None = None
    ) -> np.ndarray:
        """Return masks of the probes and of the gallery in the next repeats, bool (count, 2, n).

        If `unenrolled` or `enrolled` is given, some subjects are not enrolled.
        """
        rule, n, subjects = self._rule, self._samples.n, self._samples.subjects

        # The masks (count, n), right for subjects with enough templates, who are all enrolled.
        draws = self._gallery_draws if rule._random_gallery else None
        gallery = shuffling.flags(self._groups.drawn(draws, count)[:, self._is_enrolled_place], n)
        probe = ~gallery if rule.enrol is None else np.tile(~self._is_candidate, (count, 1))
        if rule.n_probe is not None:
            probe = self._some_of_each_subject(probe, rule.n_probe)

        # Subjects with too few templates, and subjects who are not enrolled.
        is_able = self.is_able[subjects.codes]
        gallery[:, ~is_able] = rule.too_few == "enrol"
        probe[:, ~is_able] = rule.too_few == "probe"
        if unenrolled is not None or enrolled is not None:
            if unenrolled is not None:
                is_unenrolled = self._drawn_unenrolled(count, unenrolled)
            else:
                is_unenrolled = self._all_but_drawn(count, enrolled)
            is_unenrolled = is_unenrolled[:, subjects.codes]  # (count, n)
            may_probe = np.ones(n, dtype=bool)
            if enrolled is not None and rule.too_few == "drop":
                may_probe = is_able
            gallery &= ~is_unenrolled
            probe = np.where(is_unenrolled, may_probe, probe)
        for name, role in (("gallery", gallery), ("probes", probe)):
            if not role.any(axis=1).all():
                raise DataError(
                    f"{self._samples.splitter}: no {name} left: all subjects that could be "
                    "enrolled have too few templates, with "
                    f'`too_few="{rule.too_few}"`; {_MORE_TEMPLATES}'
                )
        return np.stack([probe, gallery], axis=1)

    def _some_of_each_subject(self, probe: np.ndarray, number: int) -> np.ndarray:
        """Return masks of at most a number of the probes of each subject, bool (count, n)."""
        subjects, n = self._samples.subjects, self._samples.n
        order = by_name(self._samples)
        # Samples that are no probes are a last group, which is left out.
        group = np.where(probe, subjects.codes, len(subjects))[:, order]
        drawn = self._probe_draws.grouped(len(probe), group, len(subjects) + 1)
        # In each repeat, a group has the same number of samples, and so the same places.
        group_at_place = np.sort(group[0])
        place_in_group = np.arange(n) - np.searchsorted(group_at_place, group_at_place)
        is_drawn = (place_in_group < number) & (group_at_place < len(subjects))
        return shuffling.flags(order[drawn[:, is_drawn]], n)

    def _drawn_unenrolled(self, count: int, unenrolled: float | int) -> np.ndarray:
        """Draw the subjects who are not enrolled, bool (count, subjects)."""
        splitter, total = self._samples.splitter, len(self._samples.subjects)
        size = shuffling.as_size(splitter, "unenrolled", unenrolled)
        number = shuffling.number_of_units(size, total, up=True)
        if number >= total:
            raise DataError(
                f"{splitter}: unenrolled is {unenrolled!r}: {number} of {total} "
                "subjects; at least one has to be enrolled"
            )
        order = self._subject_draws.permutations(count, total)
        return shuffling.flags(order[:, :number], total)

    def _all_but_drawn(self, count: int, enrolled: float | int | None) -> np.ndarray:
        """Draw the subjects who are enrolled; return all others, bool (count, subjects)."""
        splitter, total = self._samples.splitter, len(self._samples.subjects)
        able = np.flatnonzero(self.is_able)
        size = shuffling.as_size(splitter, "enrolled", enrolled)
        number = shuffling.number_of_units(size, len(able), up=False)
        if not 1 <= number <= len(able):
            raise DataError(
                f"{splitter}: `enrolled` is {enrolled!r}: {number} "
                f"subjects, but {len(able)} of {total} have templates enough to be "
                f"enrolled and to probe; expected 1 to {len(able)}, or a larger proportion"
            )
        order = self._subject_draws.permutations(count, len(able))
        return ~shuffling.flags(able[order[:, :number]], total)


def _candidates(rule: ProbeGallerySplit, samples: SplitInput) -> np.ndarray:
    """Return which samples may be enrolled by their metadata, bool (n,)."""
    is_candidate = np.ones(samples.n, dtype=bool)
    for name, value in (rule.enrol or {}).items():
        column = samples.labelled(name)
        is_list = isinstance(value, list | tuple | set | frozenset | np.ndarray)
        values = list(value) if is_list else [value]
        codes = [column.code(x) for x in values]
        if not codes or min(codes) < 0:
            missing = values[codes.index(-1)] if codes else value
            raise DataError(
                f"{samples.splitter}: enrol has {name!r}: {missing!r}, but no template "
                f"has this value; meta[{name!r}] has {column.show(np.arange(len(column)), 8)}."
                f"{nearest_name(missing, column.values.tolist()[:10_000])}"
            )
        is_candidate &= np.isin(column.codes, codes)
    return is_candidate


def _wanted_of_units(rule: ProbeGallerySplit, splitter: str, candidates: np.ndarray) -> np.ndarray:
    """Return how many of its candidates (units,) each unit should enrol, at least 1."""
    if rule.n_gallery is None:
        return np.maximum(candidates, 1)
    size = shuffling.as_size(splitter, "n_gallery", rule.n_gallery)
    if isinstance(size, int):
        return np.full(len(candidates), size, dtype=np.int64)
    # A proportion is rounded to the nearest number, a half up despite rounding errors.
    nearest = np.floor(size * candidates + 0.5 + 1e-9).astype(np.int64)
    # Without `enrol` one candidate is left to probe; with it, other templates do.
    largest = candidates - 1 if rule.enrol is None else candidates
    return np.maximum(np.minimum(nearest, largest), 1)


def _quality_of_samples(samples: SplitInput, name: str) -> np.ndarray:
    """Return the column by which the best templates are enrolled, float64 (n,)."""
    quality = samples.numbers(name)
    if quality is None:
        dtype = samples.column(name).dtype
        raise DataError(f"{samples.splitter}: meta[{name!r}] has dtype {dtype}; expected numbers")
    is_missing = np.isnan(quality)
    if is_missing.any():
        raise DataError(
            f"{samples.splitter}: meta[{name!r}] has "
            f"{counted(int(is_missing.sum()), 'missing values')}, the first at position "
            f"{int(np.argmax(is_missing))}; give -inf to what should not be enrolled"
        )
    return quality
