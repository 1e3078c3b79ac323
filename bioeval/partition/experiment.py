"""A whole experiment: training people, and galleries and probes of the others, drawn again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple

import numpy as np

from bioeval.base.arguments import require_choice, require_integer
from bioeval.base.errors import DataError, received
from bioeval.base.random import RandomState, seed_sequence
from bioeval.partition import shuffling
from bioeval.partition.base import Division, SplitInput, by_name, require_seed
from bioeval.partition.gallery_splitters import (
    EnrolledSplit,
    Enrolment,
    ProbeGallerySplit,
    TooFew,
    enrolment_draws,
)
from bioeval.partition.splitters import (
    UNITS,
    PartitionUnit,
    check_sizes,
    drawn_parts,
    require_column,
)


class ExperimentParts(NamedTuple):
    """Ascending index arrays of one repeat.

    The threshold is chosen on the validation part, or without validation on the training part.
    Without galleries, the probes and the gallery of a part are both the whole part.
    """

    train: np.ndarray  # may be empty
    validation: np.ndarray  # may be empty
    probes: np.ndarray  # of the test part
    gallery: np.ndarray  # of the test part
    threshold_probes: np.ndarray  # of the part on which the threshold is chosen
    threshold_gallery: np.ndarray


@dataclass(eq=False, repr=False)
class Experiment(Division[ExperimentParts]):
    """Training and test by subject or sample, gallery and probes by sample, PG and PN by subject.

    For :func:`bioeval.cross_evaluate`, which chooses a threshold on the validation part (or the
    training part) and judges it on the test part, and for :func:`bioeval.repeat`, which evaluates
    the test part. The part on which the threshold is chosen is divided like the test part, so
    that the threshold meets galleries alike in both.

    Parameters
    ----------
    train, validation : float, int or None
        A proportion of the subjects in (0, 1), rounded down for training and up for validation, or
        their number. None or 0: there is no such part. All other subjects are tested. With
        ``unit="sample"`` of the templates of each seen subject.
    gallery_templates : int, float, mapping or None
        Templates that each enrolled subject has in the gallery: their number, or a proportion of
        the subject's templates in (0, 1); ``{"quality": "sharpness", "number": 2}`` enrols the
        templates with the largest values in this metadata column, the earlier of two equals; other
        mappings are the metadata of those that are enrolled, such as ``{"session": 1}`` (see
        `enrol` of :class:`ProbeGallerySplit`). The others probe. None: the templates of a part are
        all compared with each other.
    unenrolled : float, int or None
        The proportion of the test subjects in (0, 1) that are not enrolled, rounded up, or their
        number: all their templates probe (PN). The same proportion is left unenrolled where the
        threshold is chosen. None or 0: all are enrolled (PG).
    too_few : {"raise", "enrol", "probe", "drop"}
        Treatment of a subject with too few templates, as for :class:`ProbeGallerySplit`.
    enrolled : float, int or None
        The test subjects that are enrolled, in place of `unenrolled`: their number or the
        proportion of those with templates enough, as for :class:`EnrolledSplit`. The same
        proportion is enrolled where the threshold is chosen.
    probe_templates : int or None
        At most this number of templates of each enrolled subject probe, drawn at random; the others
        are left out. None: all that are not enrolled.
    unit : {"subject", "sample"}
        What training, validation and test divide. By subject, the test subjects are new. By
        sample, seen subjects have templates in training and other templates in the test: at least
        one in each, so that a subject with one template is only tested.
    unseen : float, int or None
        With ``unit="sample"``, the subjects who are only tested, beside those with one template: a
        proportion of the others in (0, 1), rounded up, or their number.
    stratify : str, optional
        A metadata column, such as ``"sex"``: training, validation and test have the same
        proportions of subjects with each of its values, give or take one subject, or two if there
        are three parts. It must be constant within each subject.
    repeats : int
        How often all this is drawn.
    random_state : int, None, numpy.random.SeedSequence, Generator or RandomState
        The seed. None draws another experiment each time.

    Notes
    -----
    The tree of partitions of the biometrics lecture. The same seed gives the same experiment on
    every platform; more repeats never change those before them.

    Examples
    --------
    >>> import numpy as np
    >>> from bioeval.partition import Experiment
    >>> subject = np.repeat(["ann", "bob", "cem", "dan", "eve", "fay"], 3)
    >>> experiment = Experiment(
    ...     train=2, gallery_templates=1, unenrolled=0.25, repeats=2, random_state=0
    ... )
    >>> for parts in experiment.split(y=subject):
    ...     enrolled, probes = subject[parts.gallery], subject[parts.probes]
    ...     print(np.unique(subject[parts.train]), enrolled, np.setdiff1d(probes, enrolled))
    ['ann' 'fay'] ['bob' 'dan' 'eve'] ['cem']
    ['bob' 'fay'] ['cem' 'dan' 'eve'] ['ann']

    One template in three of each seen subject trains, and one subject is only tested:

    >>> experiment = Experiment(train=1 / 3, unit="sample", unseen=1, random_state=0)
    >>> parts = next(experiment.split(y=subject))
    >>> print(subject[parts.train])
    ['ann' 'bob' 'dan' 'eve' 'fay']
    """

    train: float | int | None = None
    validation: float | int | None = None
    gallery_templates: int | float | Mapping[str, Any] | None = None
    unenrolled: float | int | None = None
    _: KW_ONLY
    too_few: TooFew = "raise"
    enrolled: float | int | None = None
    probe_templates: int | None = None
    unit: PartitionUnit = "subject"
    unseen: float | int | None = None
    stratify: str | None = None
    repeats: int = 1
    random_state: RandomState = None

    _parts = ExperimentParts

    def __post_init__(self) -> None:
        experiment = type(self).__name__
        check_sizes(experiment, self._sizes)
        require_choice(f"{experiment}: unit", self.unit, UNITS)
        require_integer(f"{experiment}: repeats", self.repeats, low=1, of_draws=True)
        require_seed(self.random_state)
        for name in ("unseen", "unenrolled", "enrolled"):
            if not _is_absent(getattr(self, name)):
                shuffling.as_size(experiment, name, getattr(self, name))
        require_column(experiment, self.stratify)
        rule = self.gallery_templates
        options: dict[str, Any] = {"too_few": self.too_few, "n_probe": self.probe_templates}
        self._galleries = None
        if isinstance(rule, Mapping) and set(rule) == {"quality", "number"}:
            shuffling.as_size(experiment, "number in gallery_templates", rule["number"])
            options["quality"] = rule["quality"]
            self._galleries = ProbeGallerySplit(rule["number"], **options)
        elif isinstance(rule, Mapping):
            self._galleries = ProbeGallerySplit(enrol=rule, **options)
        elif rule is not None:
            shuffling.as_size(experiment, "gallery_templates", rule)
            self._galleries = ProbeGallerySplit(rule, **options)
        parts, enrols = "`train=0.5`", "`gallery_templates=2`"
        if not self.by_subject:
            self._require(self.chooses, parts, "unit")
        self._require(not self.by_subject, '`unit="sample"`', "unseen")
        self._require(self.chooses, parts, "stratify")
        self._require(self.by_subject, '`unit="subject"`', "stratify")
        self._require(self.has_galleries, enrols, "unenrolled", "enrolled")
        self._require(_is_absent(self.unenrolled), "`unenrolled=0`", "enrolled")
        self._require(self.has_galleries, enrols, "probe_templates")
        if self.enrolled is not None and self._galleries is not None:
            EnrolledSplit(self._galleries, enrolled=self.enrolled)  # refuses impossible sizes

    def _require(self, is_met: bool, need: str, *names: str) -> None:
        for name in names:
            value = getattr(self, name)
            if not is_met and not _is_absent(value):
                raise DataError(
                    f"{type(self).__name__}: `{name}` is {received(value)}, which needs {need}"
                )

    @property
    def _sizes(self) -> dict[str, float | int | None]:
        parts = {"train_size": self.train, "validation_size": self.validation}
        return {**{k: v for k, v in parts.items() if not _is_absent(v)}, "test_size": None}

    @property
    def by_subject(self) -> bool:
        """Whether whole subjects are divided into training, validation and test."""
        return self.unit == "subject"

    @property
    def chooses(self) -> bool:
        """Whether there is a part to choose a threshold on."""
        return len(self._sizes) > 1

    @property
    def has_galleries(self) -> bool:
        """Whether parts are divided into gallery and probes."""
        return self._galleries is not None

    @property
    def impostors(self) -> str:
        """Which probes are the impostors of open-set identification unless said otherwise."""
        not_all = not _is_absent(self.unenrolled) or self.enrolled is not None
        if not_all or (self.has_galleries and self.too_few == "probe"):
            return "unenrolled"
        return "leave-subject-out"

    def get_n_splits(self, X: object = None, y: object = None, groups: object = None) -> int:
        """Return the number of repeats; the arguments are not needed."""
        return self.repeats

    def _blocks(self, samples: SplitInput) -> Iterator[np.ndarray]:
        seed = seed_sequence(self.random_state)
        # The part of the threshold has draws of its own, so that it does not change the test part.
        second_seed = np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, 1))
        draws, draws_of_threshold = enrolment_draws(seed), enrolment_draws(second_seed)
        for block in self._divided(samples, seed):
            if self._galleries is None:
                train, validation, test = np.moveaxis(block, 1, 0)  # each (repeats, n)
                chosen_on = np.where(validation.any(axis=1, keepdims=True), validation, train)
                yield np.stack([train, validation, test, test, chosen_on, chosen_on], axis=1)
                continue
            masks = np.zeros((len(block), len(ExperimentParts._fields), samples.n), dtype=bool)
            masks[:, :2] = block[:, :2]
            for mask, (train, validation, test) in zip(masks, block, strict=True):
                unenrolled = self._size_of("unenrolled", samples.splitter)
                enrolled = self._size_of("enrolled", samples.splitter)
                part = samples.select(np.flatnonzero(test))
                enrolment = Enrolment(self._galleries, part, draws)
                mask[2:4, test] = enrolment.drawn(1, unenrolled, enrolled)[0]
                chosen_on = validation if validation.any() else train
                if not chosen_on.any():
                    continue
                # The same proportion is enrolled where the threshold is chosen, not the number.
                if isinstance(unenrolled, int):
                    unenrolled = min(unenrolled / len(part.subjects), 1 - 1e-9)
                if isinstance(enrolled, int):
                    enrolled = min(enrolled / int(np.count_nonzero(enrolment.is_able)), 1 - 1e-9)
                part = samples.select(np.flatnonzero(chosen_on), "part of the threshold")
                enrolment = Enrolment(self._galleries, part, draws_of_threshold)
                mask[4:, chosen_on] = enrolment.drawn(1, unenrolled, enrolled)[0]
            yield masks

    def _size_of(self, name: str, splitter: str) -> int | float | None:
        """Return the option `unenrolled` or `enrolled` as a size; None if it asks for nothing."""
        value = getattr(self, name)
        return None if _is_absent(value) else shuffling.as_size(splitter, "size", value)

    def _divided(self, samples: SplitInput, seed: np.random.SeedSequence) -> Iterator[np.ndarray]:
        """Yield masks of training, validation and test in some repeats, bool (repeats, 3, n)."""
        if not self.by_subject:
            yield from self._parts_by_sample(samples, seed)
            return
        has_part = ["train_size" in self._sizes, "validation_size" in self._sizes, True]
        if self.chooses:
            strata = samples.strata(self.stratify, by_subject=True)
            blocks = drawn_parts(samples, True, self._sizes, seed, self.repeats, strata)
        else:
            counts = shuffling.blocks(self.repeats, samples.n)
            blocks = (np.ones((count, 1, samples.n), dtype=bool) for count in counts)
        for block in blocks:
            parts = np.zeros((len(block), 3, samples.n), dtype=bool)
            parts[:, has_part] = block
            yield parts

    def _parts_by_sample(
        self, samples: SplitInput, seed: np.random.SeedSequence
    ) -> Iterator[np.ndarray]:
        """Yield masks as `_divided`; a subject with one template, or not seen, is only tested."""
        subjects = samples.subjects
        able = np.flatnonzero(subjects.counts > 1)  # the subjects that can be seen in training
        unseen = 0
        if not _is_absent(self.unseen):
            size = shuffling.as_size(samples.splitter, "unseen", self.unseen)
            unseen = shuffling.number_of_units(size, len(able), up=True)
        if unseen >= len(able):
            raise DataError(
                f"{samples.splitter}: {unseen} of the {len(able)} subjects with two templates or "
                "more are unseen; at least one has to be seen in training: fewer `unseen` "
                f"subjects, or more templates of the {len(subjects)} subjects"
            )
        # How many templates of each seen subject train, and train or validate. Training has its
        # share of the templates, rounded down, but at least one; validation has its share, rounded
        # up; and the test has at least one.
        templates = subjects.counts
        rounding = 1e-12 * templates  # 0.07 of 100 is 7, not 7.000000000000001
        number: Any = self.train or 0
        if not isinstance(number, int):
            number = np.floor(number * templates + rounding)
        trained = np.clip(number, not _is_absent(self.train), templates - 1).astype(np.int64)
        number = self.validation or 0
        if not isinstance(number, int):
            number = np.ceil(number * templates - rounding)
        validated = np.clip(number, 0, templates - 1 - trained).astype(np.int64)
        not_tested = trained + validated
        draws = shuffling.stream(seed, shuffling.SAMPLE_PARTS)
        draws_of_subjects = shuffling.stream(seed, shuffling.UNSEEN)
        order = by_name(samples)
        groups = shuffling.ShuffledGroups(order, subjects.codes[order], len(subjects))
        for count in shuffling.blocks(self.repeats, samples.n):
            seen = able[draws_of_subjects.permutations(count, len(able))[:, unseen:]]
            is_seen = shuffling.flags(seen, len(subjects))
            place = np.empty((count, samples.n), dtype=np.int64)
            np.put_along_axis(place, groups.drawn(draws, count), groups.place[None], axis=1)
            is_train = place < np.where(is_seen, trained, 0)[:, subjects.codes]
            is_test = place >= np.where(is_seen, not_tested, 0)[:, subjects.codes]
            yield np.stack([is_train, ~is_train & ~is_test, is_test], axis=1)


def _is_absent(size: object) -> bool:
    """Whether an argument asks for nothing: None or 0, but not False, which is no size."""
    return size is None or (isinstance(size, int | float) and size == 0 and size is not False)
