"""The whole experiment: training, validation and test; gallery and probes; unenrolled subjects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple

import numpy as np

from bioeval.base.arguments import require_choice, require_integer
from bioeval.base.errors import DataError, received
from bioeval.base.random import RandomState, seed_sequence
from bioeval.partition import shuffling
from bioeval.partition.base import (
    Division,
    SplitInput,
    by_name,
    require_seed,
)
from bioeval.partition.enrolment import (
    EnrolledSplit,
    Enrolment,
    EnrolmentDraws,
    ProbeGallerySplit,
    TooFew,
)
from bioeval.partition.folds import require_column
from bioeval.partition.shuffle_splits import (
    UNITS,
    PartitionUnit,
    check_sizes,
    drawn_parts,
)


class ExperimentParts(NamedTuple):
    """Ascending index arrays of one repeat.

    `train` and `validation` are whole parts, or empty. `probes` and `gallery`
    divide the test part; `threshold_probes` and `threshold_gallery` in the same way the part on
    which a threshold is chosen: validation, or training without one. Without a division both are
    the whole part.
    """

    train: np.ndarray
    validation: np.ndarray
    probes: np.ndarray
    gallery: np.ndarray
    threshold_probes: np.ndarray
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
            if not _absent(getattr(self, name)):
                shuffling.as_size(experiment, name, getattr(self, name))
        require_column(experiment, self.stratify)
        self._galleries = self._gallery_split()
        unit = None if self.by_subject else self.unit
        parts = "`train=0.5`"
        enrols = "`gallery_templates=2`"
        for name, value, is_met, needed in (
            ("unit", unit, self.chooses, parts),
            ("unseen", self.unseen, not self.by_subject, '`unit="sample"`'),
            ("stratify", self.stratify, self.chooses, parts),
            ("stratify", self.stratify, self.by_subject, '`unit="subject"`'),
            ("unenrolled", self.unenrolled, self.has_galleries, enrols),
            ("enrolled", self.enrolled, self.has_galleries, enrols),
            ("enrolled", self.enrolled, _absent(self.unenrolled), "`unenrolled=0`"),
            ("probe_templates", self.probe_templates, self.has_galleries, enrols),
        ):
            if not _absent(value) and not is_met:
                raise DataError(
                    f"{experiment}: `{name}` is {received(value)}, which needs {needed}"
                )
        if self.enrolled is not None and self._galleries is not None:
            EnrolledSplit(self._galleries, enrolled=self.enrolled)  # refuses impossible sizes

    def _gallery_split(self) -> ProbeGallerySplit | None:
        rule = self.gallery_templates
        if rule is None:
            return None
        options: dict[str, Any] = {"too_few": self.too_few, "n_probe": self.probe_templates}
        if isinstance(rule, Mapping) and set(rule) == {"quality", "number"}:
            number = rule["number"]
            shuffling.as_size(type(self).__name__, "number in gallery_templates", number)
            return ProbeGallerySplit(number, quality=rule["quality"], **options)
        if isinstance(rule, Mapping):
            return ProbeGallerySplit(enrol=rule, **options)
        shuffling.as_size(type(self).__name__, "gallery_templates", rule)
        return ProbeGallerySplit(rule, **options)

    @property
    def _sizes(self) -> dict[str, float | int | None]:
        parts = {"train_size": self.train, "validation_size": self.validation}
        return {**{k: v for k, v in parts.items() if not _absent(v)}, "test_size": None}

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
        not_all = not _absent(self.unenrolled) or self.enrolled is not None
        if not_all or (self.has_galleries and self.too_few == "probe"):
            return "unenrolled"
        return "leave-subject-out"

    def get_n_splits(self, X: object = None, y: object = None, groups: object = None) -> int:
        """Return the number of repeats; the arguments are not needed."""
        return self.repeats

    def _blocks(self, samples: SplitInput) -> Iterator[np.ndarray]:
        seed = seed_sequence(self.random_state)
        second_seed = np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, 1))
        draws = EnrolmentDraws.from_seed(seed), EnrolmentDraws.from_seed(second_seed)
        for block in self._divided(samples, seed):
            train, validation, test = np.moveaxis(block, 1, 0)
            chosen = np.where(validation.any(axis=1, keepdims=True), validation, train)
            parts = np.stack([train, validation, test, test, chosen, chosen], axis=1)
            if self._galleries is not None:
                for split in parts:
                    self._enrol(self._galleries, samples, split, draws)
            yield parts

    def _enrol(
        self,
        rule: ProbeGallerySplit,
        samples: SplitInput,
        split: np.ndarray,
        draws: tuple[EnrolmentDraws, EnrolmentDraws],
    ) -> None:
        unenrolled, enrolled = (
            None if _absent(x) else shuffling.as_size(samples.splitter, "size", x)
            for x in (self.unenrolled, self.enrolled)
        )
        test = np.flatnonzero(split[2])
        chosen = np.flatnonzero(split[4])
        part = samples.select(test)
        enrolment = Enrolment(rule, part, draws[0])
        split[2:4, test] = enrolment.drawn(1, unenrolled, enrolled)[0]
        if not len(chosen):
            return
        # The part of the threshold has the same proportion of enrolled subjects, not the number.
        if isinstance(unenrolled, int):
            unenrolled = min(unenrolled / len(part.subjects), 1 - 1e-9)
        if isinstance(enrolled, int):
            enrolled = min(enrolled / int(np.count_nonzero(enrolment.is_able)), 1 - 1e-9)
        part = samples.select(chosen, "part of the threshold")
        drawn = Enrolment(rule, part, draws[1]).drawn(1, unenrolled, enrolled)
        split[4:, chosen] = drawn[0]

    def _divided(self, samples: SplitInput, seed: np.random.SeedSequence) -> Iterator[np.ndarray]:
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
        """Yield masks of training, validation and test in some repeats, bool (repeats, 3, n).

        Training has its share of the templates of each seen subject, rounded down, but at least
        one; validation has its share, rounded up; and the test has at least one. A subject with one
        template is only tested.
        """
        subjects = samples.subjects
        able = np.flatnonzero(subjects.counts > 1)  # the subjects that can be seen in training
        unseen = 0
        if not _absent(self.unseen):
            size = shuffling.as_size(samples.splitter, "unseen", self.unseen)
            unseen = shuffling.number_of_units(size, len(able), up=True)
        if unseen >= len(able):
            raise DataError(
                f"{samples.splitter}: {unseen} of the {len(able)} subjects with two templates or "
                "more are unseen; at least one has to be seen in training: fewer `unseen` "
                f"subjects, or more templates of the {len(subjects)} subjects"
            )
        # The numbers of templates in training, and in training and validation, by subject.
        rounding = 1e-12 * subjects.counts  # 0.07 of 100 is 7, not 7.000000000000001
        train, validation = self.train or 0, self.validation or 0
        number = train if isinstance(train, int) else np.floor(train * subjects.counts + rounding)
        trained = np.clip(number, not _absent(self.train), subjects.counts - 1).astype(np.int64)
        number = (
            validation
            if isinstance(validation, int)
            else np.ceil(validation * subjects.counts - rounding)
        )
        not_tested = trained + np.clip(number, 0, subjects.counts - 1 - trained).astype(np.int64)

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


def _absent(size: object) -> bool:
    return size is None or (isinstance(size, int | float) and size == 0 and size is not False)
