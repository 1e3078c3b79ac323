"""Splitters into gallery and probes, of enrolled and unenrolled subjects."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from bioeval.base.arguments import require_choice
from bioeval.base.errors import DataError, counted, enumerated, nearest_name, received
from bioeval.base.random import RandomState, Stream, seed_sequence
from bioeval.partition import shuffling
from bioeval.partition.base import (
    LabelCodes,
    ProbesGallery,
    SplitInput,
    Splitter,
    place_in_subject,
    random_rank,
)

TooFew = Literal["raise", "enrol", "probe", "drop"]
TOO_FEW: tuple[TooFew, ...] = get_args(TooFew)

_MORE_TEMPLATES = "enrol fewer templates, or make a part that has more of each subject"


class _Drawn(Splitter[ProbesGallery]):
    @abstractmethod
    def drawn(
        self, samples: SplitInput, seed: np.random.SeedSequence, repeat: int
    ) -> ProbesGallery:
        """Return the division of one repeat."""

    def _splits(self, samples: SplitInput) -> Iterator[ProbesGallery]:
        seed = seed_sequence(self.random_state)
        for repeat in range(self.n_repeats):
            yield self.drawn(samples, seed, repeat)


class TemplatesEnough(NamedTuple):
    """Whether subjects have templates enough to be enrolled and to probe."""

    may_enrol: np.ndarray  # bool, by sample
    wanted: np.ndarray  # int, by unit: templates to enrol
    with_too_few: np.ndarray  # bool, by subject


@dataclass(eq=False, repr=False)
class ProbeGallerySplit(_Drawn):
    """Some templates of each subject are enrolled, the others probe.

    Yields ``ProbesGallery(probes, gallery)``. Every subject is enrolled; for some that are
    not, see :class:`EnrolledSplit`.

    Parameters
    ----------
    n_gallery : int, float or None
        Number of enrolled templates of each subject; or a proportion in (0, 1) of those that
        may be enrolled, rounded to the nearest and at least 1 (and, without `enrol`, leaving at
        least one probe). None enrols all that `enrol` lets.
    by : str or sequence of str
        What the number is of: each subject, or with ``by=("subject", "camera")`` each combination
        of a subject with a value of this metadata column; one that has fewer templates enrols all.
    quality : str, optional
        A metadata column: the templates with the **largest** values are enrolled, the earlier
        one of two equals. Otherwise the choice is random.
    enrol : mapping of str to value or list of values, optional
        Which templates may be enrolled, by metadata: ``{"session": 1}`` or
        ``{"session": [1, 2], "camera": "door"}``, where all have to hold. Every other template
        probes; those that might have been enrolled and are not are left out, since probes of
        the enrolling session would flatter the system.
    too_few : {"raise", "enrol", "probe", "drop"}
        What becomes of a subject that cannot have both its gallery templates and a probe: an
        error; all its templates are enrolled (and it never probes); all of them probe (and it
        is not enrolled); or all are left out.
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

    def __post_init__(self) -> None:
        """Check the options; one of `n_gallery` and `enrol` says who is enrolled."""
        who, quality, enrol = type(self).__name__, self.quality, self.enrol
        if not isinstance(self.by, str | Sequence) or "subject" not in self._by:
            raise DataError(
                f"{who}: by is {received(self.by)}; expected 'subject', or a list of it and "
                "metadata columns, such as ('subject', 'camera')"
            )
        if self.n_probe is not None:
            self._require_numbers(n_probe=1)
        if self.n_gallery is not None:
            shuffling.as_size(who, "n_gallery", self.n_gallery)
        elif enrol is None:
            raise DataError(
                f"{who}: neither n_gallery nor enrol is given; give the number of templates of "
                "each subject to enrol (n_gallery=1) or which (enrol={'session': 1})"
            )
        elif quality is not None:
            raise DataError(
                f"{who}: quality is given without n_gallery; give the number of templates to enrol"
            )
        if quality is not None and not isinstance(quality, str):
            raise DataError(
                f"{who}: quality is {type(quality).__name__}; expected the name of a metadata "
                "column of split(..., meta=...)"
            )
        if enrol is not None and not (isinstance(enrol, Mapping) and enrol):
            raise DataError(
                f"{who}: enrol is {received(enrol)}; expected a mapping of column to value, such "
                "as {'session': 1}"
            )
        require_choice(f"{who}: too_few", self.too_few, TOO_FEW)
        self._require_numbers(n_repeats=1)
        if self.n_repeats > 1 and self.n_probe is None and not self._random_gallery:
            raise DataError(
                f"{who}: n_repeats is {self.n_repeats}, but nothing is random; all repeats would "
                "be the same"
            )

    @property
    def _by(self) -> tuple[str, ...]:
        return (self.by,) if isinstance(self.by, str) else tuple(self.by)

    @property
    def _random_gallery(self) -> bool:
        return self.n_gallery is not None and self.quality is None

    def drawn(
        self,
        samples: SplitInput,
        seed: np.random.SeedSequence,
        repeat: int,
        outside: np.ndarray | None = None,
        probing: np.ndarray | None = None,
    ) -> ProbesGallery:
        """Return the division of one repeat, but for subjects `outside`; those `probing` probe.

        Both are flags of subjects. Whether one has too few templates does not depend on them.
        """
        draws = shuffling.stream(seed, shuffling.GALLERY, repeat)
        who, enough, units = samples.subjects, self.enough(samples), self._units(samples)
        may, few = enough.may_enrol, enough.with_too_few[who.codes]
        place = self._place(samples, units, may, draws)
        gallery = may & (place < enough.wanted[units.codes])
        probe = ~(gallery if self.enrol is None else may)
        if self.n_probe is not None:
            order = draws.permutation(samples.n)[samples.place]
            probe &= place_in_subject(samples, who, probe, order) < self.n_probe
        gallery[few] = self.too_few == "enrol"
        probe[few] = self.too_few == "probe"
        if outside is not None and probing is not None:
            gallery &= ~outside[who.codes]
            probe = np.where(outside[who.codes], probing[who.codes], probe)
        for name, role in (("gallery", gallery), ("probes", probe)):
            if not role.any():
                raise DataError(
                    f"{samples.who}: no {name} left: all subjects that could be enrolled have too "
                    f'few templates, with `too_few="{self.too_few}"`; {_MORE_TEMPLATES}'
                )
        return ProbesGallery(np.flatnonzero(probe), np.flatnonzero(gallery))

    def enough(self, samples: SplitInput) -> TemplatesEnough:
        """Return which subjects have templates enough.

        A subject with too few is an error if `too_few` says so.
        """
        who, units = samples.subjects, self._units(samples)
        may = self._may_enrol(samples)
        candidates = np.bincount(units.codes[may], minlength=len(units))
        wanted = self._wanted(candidates)
        if units is not who:
            wanted = np.minimum(wanted, candidates)
        subject = np.empty(len(units), dtype=np.int64)
        subject[units.codes] = who.codes

        def of_subjects(numbers: np.ndarray) -> np.ndarray:
            sums = np.zeros(len(who), dtype=np.int64)
            np.add.at(sums, subject, numbers)
            return sums

        there, needed = of_subjects(candidates), np.maximum(of_subjects(wanted), 1)
        kept = needed if self.enrol is None else there
        few = (there < needed) | (who.counts - kept < 1)
        if few.any() and self.too_few == "raise":
            first = int(np.argmax(few))
            need = f"{needed[first]} to enrol and one to probe"
            if self.enrol is not None:
                least = 1 if self.n_gallery is None else needed[first]
                need = f"{least} to enrol by metadata and another to probe"
            treatments = enumerated([f'`too_few="{x}"`' for x in TOO_FEW[1:]], "or")
            better = f". Better: {_MORE_TEMPLATES}" if few.all() else ""
            raise DataError(
                f"{samples.who}: {few.sum()} of {len(who)} subjects have too few templates "
                f"({who.show(np.flatnonzero(few))}): each needs {need}. Choose their treatment: "
                f"{treatments}{better}"
            )
        return TemplatesEnough(may_enrol=may, wanted=wanted, with_too_few=few)

    def _units(self, samples: SplitInput) -> LabelCodes:
        """Return what `n_gallery` templates are enrolled of: subjects, or their combinations."""
        units = samples.subjects
        for name in self._by:
            if name != "subject":
                units = units.combined(samples.labelled(name))
        return units

    def _may_enrol(self, samples: SplitInput) -> np.ndarray:
        """Return which samples may be enrolled, by their metadata."""
        may = np.ones(samples.n, dtype=bool)
        for name, wanted in (self.enrol or {}).items():
            column = samples.labelled(name)
            listed = isinstance(wanted, list | tuple | set | frozenset | np.ndarray)
            values = list(wanted) if listed else [wanted]
            codes = list(map(column.code, values))
            if not codes or min(codes) < 0:
                missing = values[codes.index(-1)] if codes else wanted
                raise DataError(
                    f"{samples.who}: enrol has {name!r}: {missing!r}, but no template has this "
                    f"value; meta[{name!r}] has {column.show(np.arange(len(column)), 8)}."
                    f"{nearest_name(missing, column.values.tolist()[:10_000])}"
                )
            may &= np.isin(column.codes, codes)
        return may

    def _wanted(self, candidates: np.ndarray) -> np.ndarray:
        """Return how many templates of each subject are to be enrolled, at least one."""
        if self.n_gallery is None:
            return np.maximum(candidates, 1)
        size = shuffling.as_size(type(self).__name__, "n_gallery", self.n_gallery)
        if isinstance(size, int):
            return np.full(len(candidates), size, dtype=np.int64)
        nearest = np.floor(size * candidates + 0.5 + 1e-9).astype(np.int64)
        most = candidates - 1 if self.enrol is None else candidates
        return np.maximum(np.minimum(nearest, most), 1)

    def _place(
        self, samples: SplitInput, units: LabelCodes, may: np.ndarray, draws: Stream
    ) -> np.ndarray:
        """Return the place of each candidate within its unit; the first are enrolled."""
        rank: np.ndarray = np.zeros(samples.n)
        if self.quality is not None:
            values = samples.numbers(self.quality)
            if values is None:
                dtype = samples.column(self.quality).dtype
                raise DataError(
                    f"{samples.who}: meta[{self.quality!r}] has dtype {dtype}; expected numbers"
                )
            missing = np.isnan(values)
            if missing.any():
                raise DataError(
                    f"{samples.who}: meta[{self.quality!r}] has "
                    f"{counted(int(missing.sum()), 'missing values')}, the first at position "
                    f"{int(np.argmax(missing))}; give -inf to what should not be enrolled"
                )
            rank = -values
        elif self._random_gallery:
            rank = random_rank(samples, draws)
        return place_in_subject(samples, units, may, rank)


@dataclass(eq=False, repr=False)
class EnrolledSplit(_Drawn):
    """Some subjects are not enrolled; all their templates are non-mated probes.

    Yields ``ProbesGallery(probes, gallery)``: the templates of the enrolled subjects are
    divided by a :class:`ProbeGallerySplit`, and all templates of the others probe. The probes
    of enrolled subjects are mated (PG), the others non-mated (PN); their labels say which.

    Parameters
    ----------
    probe_gallery : ProbeGallerySplit
        How enrolled subjects are divided; seed and repeats are those of this splitter.
    unenrolled : float or int
        The proportion of subjects in (0, 1) that are not enrolled, rounded up, or their number.
    enrolled : float or int, optional
        In place of `unenrolled`: the subjects that are enrolled, a number or a proportion, rounded
        down, of those with templates enough. All others are not enrolled, those with too few
        templates included (or, with ``too_few="drop"``, left out).
    n_repeats : int
        How often to draw.
    random_state : int, None, numpy.random.SeedSequence, Generator or RandomState
        The seed. None draws another partition each time.

    Notes
    -----
    Whether a subject has too few templates is decided for all subjects, before some are drawn.
    With ``too_few="probe"`` in `probe_gallery`, those with too few are unenrolled besides the
    drawn ones.

    Examples
    --------
    >>> import numpy as np
    >>> from bioeval.partition import EnrolledSplit, ProbeGallerySplit
    >>> subject = np.repeat(["ann", "bob", "cem", "dan"], 2)
    >>> splitter = EnrolledSplit(ProbeGallerySplit(1), unenrolled=0.5, random_state=0)
    >>> probes, gallery = next(splitter.split(y=subject))
    >>> print(subject[gallery], subject[probes])
    ['bob' 'dan'] ['ann' 'ann' 'bob' 'cem' 'cem' 'dan']
    """

    probe_gallery: ProbeGallerySplit
    _: KW_ONLY
    unenrolled: float | int = 0.5
    enrolled: float | int | None = None
    n_repeats: int = 1
    random_state: RandomState = None

    def __post_init__(self) -> None:
        """Check the options; `enrolled` takes the place of `unenrolled`."""
        who = type(self).__name__
        if not isinstance(self.probe_gallery, ProbeGallerySplit):
            raise DataError(
                f"{who}: probe_gallery is {self.probe_gallery!r}; expected a ProbeGallerySplit"
            )
        if self.probe_gallery.n_repeats > 1 or self.probe_gallery.random_state is not None:
            raise DataError(
                f"{who}: probe_gallery has n_repeats or random_state; give them to {who}, which "
                "draws the galleries, too"
            )
        shuffling.as_size(who, "unenrolled", self.unenrolled)
        if self.enrolled is not None:
            shuffling.as_size(who, "enrolled", self.enrolled)
            if self.probe_gallery.too_few == "enrol":
                raise DataError(
                    f"{who}: `enrolled` says who is enrolled, but "
                    '`too_few="enrol"` enrols all with too few templates besides; '
                    "expected 'probe', 'drop' or 'raise'"
                )
        self._require_numbers(n_repeats=1)

    def drawn(
        self, samples: SplitInput, seed: np.random.SeedSequence, repeat: int
    ) -> ProbesGallery:
        """Return the division of one repeat."""
        who, inner = samples.subjects, self.probe_gallery
        numbers = shuffling.stream(seed, shuffling.UNENROLLED, repeat)
        order = numbers.permutation(len(who))
        outside = np.zeros(len(who), dtype=bool)
        if self.enrolled is None:
            size = shuffling.as_size(samples.who, "unenrolled", self.unenrolled)
            number = shuffling.number_of_units(size, len(who), up=True)
            if number >= len(who):
                raise DataError(
                    f"{samples.who}: unenrolled is {self.unenrolled!r}: {number} of {len(who)} "
                    "subjects; at least one has to be enrolled"
                )
            outside[order[:number]] = True
            unenrolled = outside
        else:
            few = inner.enough(samples).with_too_few
            able = order[~few[order]]
            outside[:] = True
            size = shuffling.as_size(samples.who, "enrolled", self.enrolled)
            number = shuffling.number_of_units(size, len(able), up=False)
            if not 1 <= number <= len(able):
                raise DataError(
                    f"{samples.who}: `enrolled` is {self.enrolled!r}: {number} "
                    f"subjects, but {len(able)} of {len(who)} have templates enough to be enrolled "
                    f"and to probe; expected 1 to {len(able)}, or a larger proportion"
                )
            outside[able[:number]] = False
            unenrolled = outside & ~few if inner.too_few == "drop" else outside
        return inner.drawn(samples, seed, repeat, outside, unenrolled)
