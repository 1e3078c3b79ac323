"""The whole experiment: training, validation and test; gallery and probes; unenrolled subjects."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple, NoReturn

import numpy as np

from bioeval.base.arguments import require_integer
from bioeval.base.errors import (
    Argument,
    DataError,
    Part,
    Words,
    counted,
    received,
    require_choice,
)
from bioeval.base.random import RandomState, seed_sequence
from bioeval.partition import shuffling
from bioeval.partition.base import (
    Division,
    SplitInput,
    place_in_subject,
    random_rank,
    require_seed,
)
from bioeval.partition.enrolment import EnrolledSplit, ProbeGallerySplit, TooFew
from bioeval.partition.folds import require_column
from bioeval.partition.shuffle_splits import (
    UNITS,
    PartitionUnit,
    ThreeParts,
    check_sizes,
    drawn_parts,
)

Share = float | int | None


class SampleSizes(NamedTuple):
    """Templates of each seen subject in a part, and the subjects who are only tested."""

    train: Share
    validation: Share
    unseen: Share


def parts_by_sample(
    samples: SplitInput,
    sizes: SampleSizes,
    stratify: str | None,
    seed: np.random.SeedSequence,
    repeats: int,
) -> Iterator[ThreeParts]:
    """Yield the parts of each repeat.

    Training has its share of the templates of each seen subject, rounded down but at least one;
    validation its share, rounded up; the test has at least one. A subject with one template is
    only tested. With strata, training has those of all samples, within one sample each.
    """
    who = samples.subjects
    able = np.flatnonzero(who.counts > 1)
    unseen = _number_unseen(samples, sizes.unseen, len(able))
    by_subject = strata = None
    if stratify is not None:
        strata = samples.binned_strata(stratify)
        by_subject = samples.binned_subjects(stratify)[able]
    for repeat in range(repeats):
        draws = shuffling.stream(seed, shuffling.SAMPLE_PARTS, repeat)
        order = shuffling.arrange(len(able), by_subject, draws)
        part = shuffling.into_parts(order, by_subject, [unseen])
        seen = np.zeros(len(who), dtype=bool)
        seen[able[part < 0]] = True
        train, validation = _templates_of_each(who.counts, sizes, seen)
        every = np.ones(samples.n, dtype=bool)
        place = place_in_subject(who, every, random_rank(who, draws))
        chosen = place < train[who.codes]
        if strata is not None:
            _Strata(samples, str(stratify), strata, seen[who.codes], chosen).even_out()
            # The chosen ones come first.
            place = place_in_subject(who, every, np.where(chosen, place, place + len(place)))
        held = (place < (train + validation)[who.codes]) & ~chosen
        test = ~chosen & ~held
        yield ThreeParts(np.flatnonzero(chosen), np.flatnonzero(held), np.flatnonzero(test))


def _number_unseen(samples: SplitInput, size: Share, able: int) -> int:
    """Return the number of subjects with two templates or more who are only tested."""
    if size is None:
        number = 0
    else:
        size = shuffling.as_size(samples.who, "unseen", size)
        number = shuffling.units_of(size, able, up=True)
    if number >= able:
        asked: Part = ""
        if number:
            asked = Words(
                Argument("unseen"), f" is {received(size)}: {counted(number, 'subjects')}; "
            )
        raise DataError(
            f"{samples.who}: ",
            asked,
            f"only {able} of {len(samples.subjects)} subjects have two templates or more, one to "
            "train and one to test; at least one of these has to be seen in training",
        )
    return number


def _templates_of_each(
    counts: np.ndarray, sizes: SampleSizes, seen: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the templates of each subject for training and for validation."""
    dust = 1e-12 * counts  # 0.07 of 100 is 7, not 7.000000000000001
    train: Any = sizes.train or 0
    if not isinstance(train, int):
        train = np.floor(train * counts + dust)
    train = np.clip(train, sizes.train is not None, counts - 1)
    validation: Any = sizes.validation or 0
    if not isinstance(validation, int):
        validation = np.ceil(validation * counts - dust)
    validation = np.clip(validation, 0, counts - 1 - train)
    return np.where(seen, train, 0).astype(np.int64), np.where(seen, validation, 0).astype(np.int64)


class _Strata:
    """The strata of training samples, evened out by exchanges within subjects.

    An exchange takes a sample of a subject out of training and another one in, so that every
    subject keeps its number. A chain of exchanges moves one sample from one stratum to another:
    where no chain is left, no training part of these numbers has the strata.
    """

    def __init__(
        self,
        samples: SplitInput,
        name: str,
        stratum: np.ndarray,
        seen: np.ndarray,
        chosen: np.ndarray,
    ):
        """Find the size of each stratum, between `low` and `high` samples."""
        self.samples, self.name = samples, name
        self.stratum, self.seen, self.chosen = stratum, seen, chosen
        whole = np.bincount(stratum)
        total = int(chosen.sum()) * whole
        self.low, self.high = total // len(stratum), -(-total // len(stratum))

    def even_out(self) -> None:
        """Exchange samples until each stratum has its share, within one sample."""
        while True:
            counts = np.bincount(self.stratum[self.chosen], minlength=len(self.low))
            over, under = counts > self.high, counts < self.low
            if not (over | under).any():
                return
            if over.any():
                uneven, chain = over, self._chain(over, counts < self.high)
            else:
                uneven, chain = under, self._chain(counts > self.low, under)
            if not chain:
                self._refuse(int(np.flatnonzero(uneven)[0]))
            for one, other in zip(chain[:-1], chain[1:], strict=True):
                self._exchange(one, other)

    def _table(self, taken: np.ndarray) -> np.ndarray:
        """Return which subject has a sample of which stratum among some."""
        table = np.zeros((len(self.samples.subjects), len(self.low)), dtype=bool)
        table[self.samples.subjects.codes[taken], self.stratum[taken]] = True
        return table

    def _chain(self, sources: np.ndarray, ends: np.ndarray) -> list[int]:
        """Return the shortest chain of strata from a source to an end; empty without one."""
        inside = self._table(self.chosen).astype(np.float32)
        outside = self._table(self.seen & ~self.chosen).astype(np.float32)
        return shuffling.shortest_chain(inside.T @ outside > 0, sources, ends)

    def _exchange(self, one: int, other: int) -> None:
        """Take a sample of one stratum out of training, and one of another in."""
        codes, chosen = self.samples.subjects.codes, self.chosen
        out, into = chosen & (self.stratum == one), self.seen & ~chosen & (self.stratum == other)
        subject = np.intersect1d(codes[out], codes[into])[0]
        chosen[np.flatnonzero(out & (codes == subject))[0]] = False
        chosen[np.flatnonzero(into & (codes == subject))[0]] = True

    def _refuse(self, stratum: int) -> NoReturn:
        """Raise for the first stratum that no exchange brings to its share."""
        numbers = self.samples.numbers(self.name)
        stratum_name = f"quarter {stratum + 1} of the numbers"
        if numbers is None:
            stratum_name = repr(self.samples.labelled(self.name).values.tolist()[stratum])
        raise DataError(
            f"{self.samples.who}: {stratum_name} in meta[{self.name!r}] has "
            f"{np.count_nonzero(self.stratum == stratum)} of {len(self.stratum)} templates. A "
            f"training part of {self.chosen.sum()} needs {self.low[stratum]} to "
            f"{self.high[stratum]} of them; the seen subjects do not have them; expected another ",
            Argument("train"),
            ", fewer ",
            Argument("unseen"),
            " subjects, or no ",
            Argument("stratify"),
        )


class ExperimentParts(NamedTuple):
    """Ascending index arrays of one repeat.

    `train` and `validation` are whole parts, empty where there is none. `probes` and `gallery`
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
        What becomes of a subject with too few templates, as for :class:`ProbeGallerySplit`.
    enrolled : float, int or None
        In place of `unenrolled`: the test subjects that are enrolled, their number or the
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
        A metadata column whose values training has in the same proportions as all templates. A
        column of numbers is divided at its quartiles (a number on one is in the upper part). By
        sample each stratum is met within one template. By subject each subject counts where its
        median lies (of names: its commonest, the first in order of equals), within one subject.
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
    ['bob' 'eve'] ['cem' 'dan' 'fay'] ['ann']
    ['bob' 'cem'] ['ann' 'dan' 'eve'] ['fay']

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

    def __post_init__(self) -> None:
        """Check the options, and those that do not go together."""
        who = type(self).__name__
        check_sizes(who, self._sizes)
        require_choice(f"{who}: unit", self.unit, UNITS)
        require_column(who, self.stratify)
        self._require_training()
        self._galleries = self._gallery_split()
        for name in ("unenrolled", "enrolled", "probe_templates"):
            size = getattr(self, name)
            if not _absent(size) and self._galleries is None:
                raise DataError(
                    f"{who}: ",
                    Argument(name),
                    f" is {received(size)} without ",
                    Argument("gallery_templates"),
                    "; give the number of templates of each subject to enrol: ",
                    Argument("gallery_templates", 2),
                )
        if self._share is not None and self.enrolled is not None:
            raise DataError(
                f"{who}: ",
                Argument("enrolled"),
                " and ",
                Argument("unenrolled"),
                " are both given; expected one",
            )
        self._split_of(self.enrolled)  # refuses what cannot be
        require_integer(f"{who}: repeats", self.repeats, low=1, of_draws=True)
        require_seed(self.random_state)

    def _require_training(self) -> None:
        """Raise unless there is a part for what divides it or is compared with it."""
        who = type(self).__name__
        if not _absent(self.unseen):
            shuffling.as_size(who, "unseen", self.unseen)
            if self.by_subject:
                raise DataError(
                    f"{who}: ",
                    Argument("unseen"),
                    f" is {self.unseen!r}, but a division by subject tests new subjects alone; "
                    "give ",
                    Argument("unit", "sample"),
                    " with it",
                )
        needed = {"unit": None if self.by_subject else self.unit, "stratify": self.stratify}
        for name, value in needed.items():
            if value is not None and not self.chooses:
                raise DataError(
                    f"{who}: ",
                    Argument(name),
                    f" is {received(value)} without ",
                    Argument("train"),
                    " or ",
                    Argument("validation"),
                    "; give the sizes of these parts, such as ",
                    Argument("train", 0.5),
                )

    def _gallery_split(self) -> ProbeGallerySplit | None:
        """Return the division of a part into gallery and probes; None without one."""
        rule = self.gallery_templates
        if rule is None:
            return None
        how: dict[str, Any] = {"too_few": self.too_few, "n_probe": self.probe_templates}
        if isinstance(rule, Mapping) and set(rule) == {"quality", "number"}:
            number = rule["number"]
            shuffling.as_size(type(self).__name__, "number in gallery_templates", number)
            return ProbeGallerySplit(number, quality=rule["quality"], **how)
        if isinstance(rule, Mapping):
            return ProbeGallerySplit(enrol=rule, **how)
        shuffling.as_size(type(self).__name__, "gallery_templates", rule)
        return ProbeGallerySplit(rule, **how)

    def _split_of(self, enrolled: float | int | None) -> EnrolledSplit | None:
        """Return the division that enrols a number of subjects; None without a number."""
        if enrolled is None or self._galleries is None:
            return None
        return EnrolledSplit(self._galleries, enrolled=enrolled)

    @property
    def _sizes(self) -> dict[str, float | int | None]:
        """The sizes of the parts, in the order in which subjects are assigned to them."""
        parts = {"validation_size": self.validation, "train_size": self.train}
        return {"test_size": None, **{k: v for k, v in parts.items() if not _absent(v)}}

    @property
    def _share(self) -> float | int | None:
        size = self.unenrolled
        if _absent(size):
            return None
        return shuffling.as_size("Experiment", "unenrolled", size)

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
        unenrolled = self._share is not None or self.enrolled is not None
        unenrolled = unenrolled or (self.has_galleries and self.too_few == "probe")
        if unenrolled:
            return "unenrolled"
        return "leave-subject-out"

    def get_n_splits(self, X: object = None, y: object = None, groups: object = None) -> int:
        """Return the number of repeats; the arguments are not needed."""
        return self.repeats

    def _splits(self, samples: SplitInput) -> Iterator[ExperimentParts]:
        """Yield the parts of each repeat, those of the threshold and of the test divided alike."""
        seed = seed_sequence(self.random_state)
        apart = np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, 1))
        rule = self.gallery_templates
        if isinstance(rule, Mapping) and [*rule] == ["quality"] and not samples.has("quality"):
            raise DataError(
                f"{samples.who}: ",
                Argument("gallery_templates"),
                f" is {received(rule)} without a number, and there is no metadata column "
                "'quality'; give the number of templates to enrol: {'quality': "
                f"{rule['quality']!r}, 'number': 2}}",
            )
        for repeat, (train, validation, test) in enumerate(self._parts(samples, seed)):
            chosen, share = validation, self._share
            if not len(validation):
                chosen = train
            where = samples.at(test)
            judged = self._divided(where, test, share, self._split_of(self.enrolled), seed, repeat)
            if isinstance(share, int):
                share = min(share / len(where.subjects), 1 - 1e-9)
            other = chosen, chosen
            if len(chosen):
                where = samples.at(chosen)
                where.who = f"{samples.who} (part of the threshold)"
                inside = self._split_of(self._enrolled_share(samples.at(test)))
                other = self._divided(where, chosen, share, inside, apart, repeat)
            yield ExperimentParts(train, validation, *judged, *other)

    def _parts(self, samples: SplitInput, seed: np.random.SeedSequence) -> Iterator[ThreeParts]:
        """Yield training, validation and test of each repeat."""
        nothing = np.empty(0, dtype=np.int64)
        if not self.chooses:
            whole = ThreeParts(nothing, nothing, np.arange(samples.n))
            yield from itertools.repeat(whole, self.repeats)
        elif not self.by_subject:
            sizes = SampleSizes(
                train=None if _absent(self.train) else self.train,
                validation=None if _absent(self.validation) else self.validation,
                unseen=None if _absent(self.unseen) else self.unseen,
            )
            yield from parts_by_sample(samples, sizes, self.stratify, seed, self.repeats)
        else:
            strata, by_part = None, self._sizes
            if self.stratify is not None:  # training first, whose strata are promised
                strata = samples.binned_subjects(self.stratify)
                by_part = dict(reversed(by_part.items()))
            for parts in drawn_parts(samples, True, by_part, strata, seed, self.repeats):
                yield ThreeParts(
                    parts.get("train_size", nothing),
                    parts.get("validation_size", nothing),
                    parts["test_size"],
                )

    def _enrolled_share(self, test: SplitInput) -> float | int | None:
        """Return the proportion of test subjects enrolled, of those with templates enough."""
        if not isinstance(self.enrolled, int) or self._galleries is None:
            return self.enrolled
        able = int(np.count_nonzero(~self._galleries.enough(test).with_too_few))
        return min(self.enrolled / able, 1 - 1e-9)

    def _divided(
        self,
        samples: SplitInput,
        part: np.ndarray,
        share: float | int | None,
        enrolled: EnrolledSplit | None,
        seed: np.random.SeedSequence,
        repeat: int,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the probes and the gallery of a part."""
        galleries = self._galleries
        if galleries is None:
            return part, part
        if enrolled is not None:
            probes, gallery = enrolled.drawn(samples, seed, repeat)
        elif share is None:
            probes, gallery = galleries.drawn(samples, seed, repeat)
        else:
            split = EnrolledSplit(galleries, unenrolled=share)
            probes, gallery = split.drawn(samples, seed, repeat)
        return part[probes], part[gallery]


def _absent(size: object) -> bool:
    """Whether there is no part of this size."""
    return size is None or (isinstance(size, int | float) and size == 0 and size is not False)
