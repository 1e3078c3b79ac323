"""Splits of scores: the templates of both sides in the training and test part of each fold.

The templates of both sides are divided together, probes first, each distinct template once, so
that a subject is in the same part on either side.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from bioeval import partition
from bioeval.base.errors import BioevalWarning, DataError, ProtocolError, counted
from bioeval.partition.any_splitter import name_of, split_samples
from bioeval.partition.base import Division
from bioeval.scores.joining import in_order
from bioeval.scores.labels import concatenated
from bioeval.scores.matrix import Scores
from bioeval.scores.names import as_names, row_names
from bioeval.scores.people import knows_people, require_people

# An identity with this multiple of the median number of gallery templates may be all distractors.
MANY = 5


#: Rows and columns of a selection.
IndexSet = tuple[np.ndarray, np.ndarray]

#: Repeat and fold.
Place = tuple[int, int]


class Part(NamedTuple):
    """The samples of one part: its probes, and the gallery that they are compared with."""

    probes: np.ndarray
    gallery: np.ndarray

    @classmethod
    def of_one_set(cls, samples: np.ndarray) -> Part:
        """Return a part whose samples are all compared among themselves."""
        return cls(samples, samples)


class Split(NamedTuple):
    """A threshold is chosen on the training part and judged on the test part.

    An estimator is fitted on `fitted`: the training samples, except where `train` is a validation
    part.
    """

    train: Part
    test: Part
    fitted: np.ndarray


def _splits(
    splitter: Any,
    n: int,
    labels: Any,
    groups: Any,
    meta: Mapping | None,
    *,
    tests_alone: bool = False,
) -> Iterator[Split]:
    for parts in split_samples(splitter, n, labels, groups, meta):
        if isinstance(parts, partition.ExperimentParts):
            train, test = Part.of_one_set(parts.threshold_probes), Part.of_one_set(parts.probes)
            if splitter.has_galleries:
                train = Part(parts.threshold_probes, parts.threshold_gallery)
                test = Part(parts.probes, parts.gallery)
            yield Split(train, test, parts.train if len(parts.train) else train.probes)
        elif tests_alone and isinstance(parts, partition.ProbesGallery):
            nothing = parts.probes[:0]
            yield Split(Part.of_one_set(nothing), Part(*parts), nothing)
        else:
            yield _training_and_test(splitter, parts, n, named=tests_alone)


def _training_and_test(splitter: Any, parts: tuple, n: int, *, named: bool) -> Split:
    if named and not hasattr(parts, "test"):
        raise DataError(
            f"{type(splitter).__name__}.split() yields pairs without names, which may be "
            "training and test, or probes and gallery; let it yield "
            "bioeval.partition.TrainTest or ProbesGallery, or give a list of them"
        )
    if not hasattr(parts, "test") and hasattr(parts, "_fields"):
        raise DataError(
            f"{name_of(splitter)} divides gallery from probes, not training from test; "
            "be.repeat evaluates with each of its galleries"
        )
    if not isinstance(splitter, Division):
        parts = _checked(splitter, parts, n, tests_alone=named)
    train, test = (Part.of_one_set(samples) for samples in parts[-2:])
    return Split(train, test, parts[0])  # fitted to the first of two or three


def _checked(splitter: Any, parts: tuple, n: int, *, tests_alone: bool) -> tuple:
    checked = [_as_samples(part, n, splitter) for part in parts]
    train, test = checked[-2:]
    if not len(test):
        raise DataError(f"{name_of(splitter)} yields an empty test part")
    if not tests_alone and _flags_of(train, n, no_person=False)[test].any():
        raise DataError("the splitter puts samples into both training and test")
    return tuple(checked)


def _as_samples(part: Any, n: int, splitter: Any) -> np.ndarray:
    array = np.asarray(part)
    if array.ndim != 1 or (len(array) and array.dtype.kind not in "iu"):
        raise DataError(
            f"{name_of(splitter)} yields an array {array.shape} {array.dtype}; expected indices of "
            "samples, whole numbers"
        )
    wrong = (array < 0) | (array >= n)
    if wrong.any():
        raise DataError(
            f"{name_of(splitter)} yields {int(wrong.sum())} indices out of range, the first is "
            f"{int(array[np.argmax(wrong)])}; expected 0..{n - 1}"
        )
    return array.astype(np.int64)


class SplitPlan:
    """All splits of `n` samples by repeat and fold; of independent draws, each is a repeat.

    `codes` (int64, shape (repeats, n)) has the fold in which each sample is tested, -1 if in none,
    where every fold trains on all samples that it does not test; None for other splits.
    """

    def __init__(
        self,
        splitter: Any,
        n: int,
        labels: Any,
        groups: Any,
        meta: Mapping | None,
        *,
        tests_alone: bool = False,
        given: Any = None,
    ):
        """Read all splits, and refuse a split with a sample in both parts.

        With `tests_alone`, test parts may be probes and galleries that have no training part.
        `given` is the splitter of the user, which `splitter` restricts to these samples.
        """
        self.splitter = splitter if given is None else given
        self.n = n
        self.codes: np.ndarray | None = None
        self.by_parts = isinstance(splitter, partition.Experiment)
        splits = []
        complete = not self.by_parts and not type(splitter).__name__.endswith("ShuffleSplit")
        for split in _splits(splitter, n, labels, groups, meta, tests_alone=tests_alone):
            train, test = split.train, split.test
            is_of_folds = test.probes is test.gallery
            complete &= is_of_folds and len(train.probes) + len(test.probes) == n
            if tests_alone:
                nothing = train.probes[:0]
                split = Split(Part.of_one_set(nothing), test, nothing)
            splits.append(split)
        if not splits:
            raise DataError("the splitter yields no split; expected at least one")
        self.splits = {(i, 0): split for i, split in enumerate(splits)}
        if complete:
            self._number_folds(splits)
        #: Number of repeats, and the largest number of folds in a repeat.
        self.shape = tuple((np.array([*self.splits]).max(axis=0) + 1).tolist())

    def _number_folds(self, splits: Sequence[Split]) -> None:
        rows: list[np.ndarray] = []
        places = {}
        fold = 0
        for split in splits:
            test = split.test.probes
            if not rows or (rows[-1][test] >= 0).any():
                rows.append(np.full(self.n, -1, dtype=np.int64))
                fold = 0
            rows[-1][test] = fold
            places[len(rows) - 1, fold] = split
            fold += 1
        codes = np.array(rows)
        if ((codes >= 0) == (codes[0] >= 0)).all():
            self.codes, self.splits = codes, places


class Samples:
    """Samples to divide, of which each is of a subject, by its code (`subject`)."""

    def __init__(self, subject: np.ndarray):
        self.subject = subject

    def subjects_of(self, part: Part) -> np.ndarray:
        """Return the distinct subjects of a part."""
        is_in_part = np.zeros(int(self.subject.max(initial=-1)) + 1, dtype=bool)
        is_in_part[self.subject[part.probes]] = is_in_part[self.subject[part.gallery]] = True
        return np.flatnonzero(is_in_part)

    def sizes(self, split: Split) -> dict[str, Any]:
        """Return the numbers of subjects of both parts, and of test subjects trained on."""
        train, test = self.subjects_of(split.train), self.subjects_of(split.test)
        sizes: dict[str, Any] = {"subjects": [len(train), len(test)]}
        if split.fitted is not split.train.probes:
            train = np.append(train, self.subjects_of(Part.of_one_set(split.fitted)))
        return sizes | {"shared_subjects": len(np.intersect1d(train, test))}


class SplitSides(Samples):
    """The distinct templates of both sides of a score matrix, as `n` samples to divide.

    `labels` and `subject` are their subjects and the codes of these, `meta` the metadata columns
    that both sides have, `probe` and `gallery` the sample of each row and of each column. Templates
    of no person (by `ids`, or as the scores know) are no samples, and have the number -1: they
    are in the gallery of every part, and never among its probes. `people` are the others among all
    distinct templates, of which there are `templates`.
    """

    def __init__(self, scores: Scores, ids: Sequence[Any] | None = None):
        """Number the people among the templates in order of appearance, probes first."""
        self.scores = scores
        self.ids = scores.no_person_ids if ids is None else tuple(ids)
        numbers = np.append(scores.probe_ids, scores.gallery_ids)
        _, first, place = np.unique(numbers, return_index=True, return_inverse=True)
        order = np.argsort(np.argsort(first))  # in order of appearance, probes first
        chosen = np.sort(first)
        self.templates = len(first)
        codes = np.append(scores.codes.probe, scores.codes.gallery)
        person = ~scores.codes.of_no_person(self.ids)[codes[chosen]]
        self.people, chosen = np.flatnonzero(person), chosen[person]
        self.n = len(self.people)
        if not self.n:
            of_no_person = ", ".join(scores.codes.labels_of_no_person(self.ids))
            raise DataError(
                f"all {counted(self.templates, 'templates')} are of no person ({of_no_person}); "
                "expected people to divide"
            )
        sample = np.where(person, np.cumsum(person) - 1, -1)[order[place.reshape(-1)]]
        self.probe, self.gallery = sample[: len(scores.probe_ids)], sample[len(scores.probe_ids) :]
        in_order = np.arange(self.n)
        self._one_set = all(np.array_equal(x, in_order) for x in (self.probe, self.gallery))
        self.labels = concatenated([scores.probe_labels, scores.gallery_labels])[chosen]
        self.subject = codes[chosen]
        self.names = None
        if scores.probe_names is not None and scores.gallery_names is not None:
            self.names = as_names([*scores.probe_names, *scores.gallery_names])[chosen]
        shared = [k for k in scores.probe_meta if k in scores.gallery_meta]
        self.meta = {
            k: concatenated([scores.probe_meta[k], scores.gallery_meta[k]])[chosen] for k in shared
        }
        if self.names is not None:  # by which draws do not depend on the order of rows
            self.meta.setdefault("template", self.names.to_numpy())

    def plan(self, splitter: Any, *, tests_alone: bool = False) -> SplitPlan:
        """Return all splits into training and test, or of galleries where tests are wanted."""
        divided = self._splitter_of_samples(splitter)
        return SplitPlan(
            divided, self.n, self.labels, None, self.meta, tests_alone=tests_alone, given=splitter
        )

    def _splitter_of_samples(self, splitter: Any) -> Any:
        if isinstance(splitter, partition.Experiment):
            require_square(self.scores)
        self._warn_of_distractors(splitter)
        if not isinstance(splitter, partition.PredefinedFolds):
            return splitter
        folds = in_order(splitter.fold_of_sample, self.names, "`fold_of_sample`")
        self.scores = self.scores.with_remarks(*folds.remarks)
        if row_names(splitter.fold_of_sample) and self.names is not None:
            return partition.PredefinedFolds(folds.values)
        return splitter.restricted_to(self.people, self.templates)

    def _warn_of_distractors(self, splitter: Any) -> None:
        if not _divides_people(splitter):
            return
        codes = self.scores.codes
        count = np.bincount(codes.gallery[self.gallery >= 0], minlength=len(codes.values))
        is_frequent = count >= MANY * np.median(count[count > 0]) if count.any() else count > 0
        is_frequent[codes.probe] = False
        if is_frequent.any():
            person = int(np.argmax(count * is_frequent))
            label = codes.values[person : person + 1].tolist()[0]
            warnings.warn(
                f"the identity {label!r} has {counted(int(count[person]), 'gallery templates')} "
                "and no probe, and goes into one part as one person; if these are distractors, "
                f"give Scores(..., distractor_ids=({label!r},)): they are then in every gallery",
                BioevalWarning,
                stacklevel=4,
            )

    def view(self, part: Part) -> Scores | None:
        """Return the scores of some probes against a gallery; None if either is empty."""
        rows, columns = self.places(part)
        return self.scores.select(rows, columns) if len(rows) and len(columns) else None

    def places(self, part: Part) -> IndexSet:
        """Return rows of some probes, and columns of a gallery (none without) and of no person."""
        if self._one_set:
            return part.probes, part.gallery
        rows = _flags_of(part.probes, self.n, no_person=False)[self.probe]
        columns = _flags_of(part.gallery, self.n, no_person=len(part.gallery) > 0)[self.gallery]
        return np.flatnonzero(rows), np.flatnonzero(columns)

    def keeps_subjects(self, code: np.ndarray) -> bool:
        """Return whether the gallery templates of each subject are in a single fold."""
        fold = code[self.gallery]
        subject = self.scores.codes.gallery
        last = np.full(int(subject.max()) + 1, -2, dtype=np.int64)
        last[subject] = fold
        return bool((last[subject] == fold).all())


def _divides_people(splitter: Any) -> bool:
    """Return whether a splitter divides by subject, as group splitters of scikit-learn do."""
    return bool(getattr(splitter, "by_subject", "Group" in type(splitter).__name__))


def _flags_of(samples: np.ndarray, n: int, *, no_person: bool) -> np.ndarray:
    """Return flags of `n` samples, True for `samples`; the last flag is of no person, -1."""
    flags = np.zeros(n + 1, dtype=bool)
    flags[samples] = True
    flags[-1] = no_person
    return flags


class PairSides(Samples):
    """Listed pairs as `n` samples to divide: the pairs, or with `by_subject` their subjects.

    A pair is in a part with both its subjects; a pair with a distractor or junk is in the part of
    the other subject. `labels` are the subjects; None for pairs.
    """

    def __init__(self, scores: Scores, by_subject: bool):
        """Number the subjects; distractors and junk have the number -1."""
        self.scores, self.by_subject = scores, by_subject
        self.n, self.labels = scores.shape[0], None
        if by_subject:
            codes = scores.codes
            person = ~codes.no_person
            self.labels = codes.values[person]
            self.n = int(person.sum())
            number = np.where(person, np.cumsum(person) - 1, -1)
            self._ends = number[np.stack([codes.probe, codes.gallery])]

    def pairs_in(self, samples: np.ndarray) -> np.ndarray:
        """Return the pairs of a part."""
        if not self.by_subject:
            return samples
        is_inside = self._ends_in(samples) | (self._ends < 0)
        return np.flatnonzero(is_inside.all(axis=0) & (self._ends >= 0).any(axis=0))

    def crossing(self, samples: np.ndarray) -> int:
        """Return the number of pairs of a subject of a part and one outside it."""
        first, second = self._ends_in(samples)
        return int(np.count_nonzero((first != second) & (self._ends >= 0).all(axis=0)))

    def _ends_in(self, samples: np.ndarray) -> np.ndarray:
        return _flags_of(samples, self.n, no_person=False)[self._ends]

    def subjects_of(self, part: Part) -> np.ndarray:
        """Return the distinct subjects of the pairs of a part, where they are known."""
        codes, pairs = self.scores.codes, self.pairs_in(part.probes)
        subjects = np.unique([codes.probe[pairs], codes.gallery[pairs]])
        return subjects[~codes.no_person[subjects]]

    def sizes(self, split: Split) -> dict[str, Any]:
        """Return numbers of subjects, else of pairs, and of pairs that cross the parts."""
        train, test, _ = split
        sizes: dict[str, Any] = {"subjects": [len(train.probes), len(test.probes)]}
        if knows_people(self.scores):
            sizes = super().sizes(split)
        if self.by_subject:
            sizes = {"crossing_pairs": self.crossing(test.probes), **sizes}
        return sizes

    def view(self, part: Part) -> Scores | None:
        """Return the pairs of a part; None if there are none."""
        pairs = self.pairs_in(part.probes)
        return self.scores.select(pairs) if len(pairs) else None


def require_square(scores: Scores) -> None:
    """Raise unless the templates of an experiment are to be divided: one set on both sides."""
    pairs = scores.layout == "pairs"
    if pairs or not np.array_equal(scores.probe_ids, scores.gallery_ids):
        noun = "a list of pairs" if pairs else "these scores"
        raise ProtocolError(
            f"Experiment divides one set of templates into gallery and probes, but {noun} "
            f"({scores.layout}) are already divided; give all templates against all, or use "
            "SubjectShuffleSplit to divide their subjects"
        )


def plan_of_scores(scores: Scores, splitter: Any) -> tuple[SplitPlan, SplitSides | PairSides]:
    """Return all splits of some scores, and the divided samples: templates, or pairs."""
    if scores.layout == "pairs":
        if isinstance(splitter, partition.Experiment):
            require_square(scores)
        by_subject = _divides_people(splitter)
        if by_subject:
            require_people(scores, f"a division by subject ({type(splitter).__name__})")
        groups = None
        if isinstance(splitter, partition.PredefinedPairFolds):
            folds = in_order(splitter.fold_of_pair, scores.pair_names, "`fold_of_pair`")
            scores = scores.with_remarks(*folds.remarks)
            splitter = partition.PredefinedPairFolds(folds.values)
            groups = scores.pair_subjects
        pairs = PairSides(scores, by_subject)
        meta = {}
        if not by_subject:
            meta["genuine"] = scores.genuine
        return SplitPlan(splitter, pairs.n, pairs.labels, groups, meta), pairs
    if isinstance(splitter, partition.PredefinedPairFolds):
        raise DataError(
            "PredefinedPairFolds divides a list of pairs, but these scores are a matrix; take the "
            "pairs out of it (scores.at_pairs), or divide its templates by PredefinedFolds"
        )
    if not knows_people(scores):
        raise ProtocolError(
            "folds need the subjects of the templates, and a mask has none. Give labels"
        )
    sides = SplitSides(scores)
    return sides.plan(splitter), sides
