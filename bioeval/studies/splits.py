"""Splits of scores into the training and the test part of each fold.

A splitter divides *samples*: the distinct templates of both sides of a matrix together, so that a
subject is in the same part on both sides, or the pairs or the subjects of a list of pairs. With
this file, a fold of a matrix is evaluated so::

    plan, sides = plan_of_scores(scores, splitter)
    for (repeat, fold), split in plan.splits.items():
        train, test = sides.view(split.train), sides.view(split.test)  # scores of both parts

:class:`SplitPlan` has the splits as indices of samples; :class:`SplitSides` (of a matrix) and
:class:`PairSides` turn them into rows and columns, or into pairs.
"""

from __future__ import annotations

import hashlib
import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from bioeval import partition
from bioeval.base.errors import BioevalWarning, DataError, ProtocolError, counted
from bioeval.partition.any_splitter import name_of, seeded, split_samples
from bioeval.partition.base import Division
from bioeval.scores.joining import in_order
from bioeval.scores.keys import Keys, as_names
from bioeval.scores.labels import concatenated
from bioeval.scores.matrix import Scores
from bioeval.scores.metadata import places_in_order
from bioeval.scores.people import knows_people, require_people

# An identity without a probe may be all distractors, if it has this many times the median number of
# gallery templates.
_TIMES_MEDIAN = 5


#: The rows and the columns of a part, as indices.
IndexSet = tuple[np.ndarray, np.ndarray]

#: The repeat and the fold of a split.
Place = tuple[int, int]


class Part(NamedTuple):
    """The samples of one part, as indices: its probes, and the gallery they are compared with."""

    probes: np.ndarray
    gallery: np.ndarray

    @classmethod
    def of_one_set(cls, samples: np.ndarray) -> Part:
        """Return a part whose samples are all compared among themselves."""
        return cls(samples, samples)


class Split(NamedTuple):
    """Two parts: a threshold is chosen on `train` and judged on `test`."""

    train: Part
    test: Part
    #: The samples that an estimator is fitted to: those of `train`, unless it is a validation part.
    fitted: np.ndarray

    @classmethod
    def of_test_alone(cls, test: Part) -> Split:
        """Return a split whose training part is empty."""
        nothing = test.probes[:0]
        return cls(Part.of_one_set(nothing), test, nothing)


def plan_of_scores(scores: Scores, splitter: Any) -> tuple[SplitPlan, SplitSides | PairSides]:
    """Return all splits of scores, and the samples that are divided: templates, or pairs."""
    if scores.layout == "pairs":
        if isinstance(splitter, partition.Experiment):
            require_square(scores)
        by_subject = _divides_people(splitter)
        if by_subject:
            require_people(scores, f"a division by subject ({type(splitter).__name__})")
        groups = None
        if isinstance(splitter, partition.PredefinedPairFolds):
            folds = in_order(splitter.fold_of_pair, scores.pair_keys, "`fold_of_pair`")
            scores = scores.with_remarks(*folds.remarks)
            splitter = partition.PredefinedPairFolds(folds.values)
            groups = scores.pair_subjects
        pairs = PairSides(scores, by_subject)
        meta = {} if by_subject else {"genuine": scores.genuine}
        return SplitPlan(splitter, pairs.n, pairs.labels, groups=groups, meta=meta), pairs
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


class SplitPlan:
    """All splits of `n` samples by repeat and fold; an independent draw is a repeat of one fold.

    - `splits`: the splits by repeat and fold
    - `shape`: the number of repeats, and the largest number of folds in a repeat
    - `codes` (int64 (repeats, n)): the fold that tests each sample, -1 if none does; None unless
      every fold trains on all samples that it does not test
    - `by_parts`: whether the splits are of an ``Experiment``
    - `splitter`: the splitter of the user, with a seed
    - `digest`: a digest of all parts; empty if there are test parts alone
    """

    def __init__(
        self,
        splitter: Any,
        n: int,
        labels: Any = None,
        *,
        groups: Any = None,
        meta: Mapping[str, Any] | None = None,
        tests_alone: bool = False,
        given: Any = None,
    ):
        """Read all splits, and refuse a split with a sample in both parts.

        `labels` are the subjects of the samples, `groups` and `meta` as for the splitters.
        With `tests_alone`, training parts are left out, and a splitter may yield probes and
        galleries. `given` is the splitter of the user; `splitter` restricts it to these samples.
        """
        is_of_user = given is None or given is splitter
        splitter = seeded(splitter)
        self.splitter = splitter if is_of_user else given
        self.n = n
        self.by_parts = isinstance(splitter, partition.Experiment)
        # Folds divide the samples: every fold trains on all samples that it does not test.
        are_folds = not (self.by_parts or type(splitter).__name__.endswith("ShuffleSplit"))
        splits = []
        for parts in split_samples(splitter, n, labels, groups, meta):
            split = _split_of_parts(splitter, parts, n, tests_alone)
            train, test = split.train, split.test
            if test.probes is not test.gallery or len(train.probes) + len(test.probes) != n:
                are_folds = False
            splits.append(Split.of_test_alone(test) if tests_alone else split)
        if not splits:
            raise DataError("the splitter yields no split; expected at least one")

        numbered = _numbered_folds(splits, n) if are_folds else None
        self.codes: np.ndarray | None = None
        self.splits: dict[Place, Split] = {(i, 0): split for i, split in enumerate(splits)}
        if numbered is not None:
            self.codes, self.splits = numbered
        last_repeat, last_fold = map(max, zip(*self.splits, strict=True))
        self.shape = last_repeat + 1, last_fold + 1
        self.digest = ""
        if not tests_alone:
            self.digest = _digest_of_splits(self.splits.values(), n, labels, meta)

    def placed(self, values: np.ndarray) -> np.ndarray:
        """Return values over splits as values over (repeat, fold); NaN for a missing fold."""
        shape = *self.shape, *values.shape[1:]
        if len(self.splits) == math.prod(self.shape):
            placed = np.empty(shape, values.dtype)
        else:
            placed = np.full(shape, np.nan)
        repeat, fold = np.array(list(self.splits)).T
        placed[repeat, fold] = values
        return placed


def _split_of_parts(splitter: Any, parts: Any, n: int, tests_alone: bool) -> Split:
    """Return the training and the test part of what a splitter yields for one split."""
    if isinstance(parts, partition.ExperimentParts):
        # The threshold is chosen on a part of its own, which may be the training part.
        train = Part.of_one_set(parts.threshold_probes)
        test = Part.of_one_set(parts.probes)
        if splitter.has_galleries:
            train = Part(parts.threshold_probes, parts.threshold_gallery)
            test = Part(parts.probes, parts.gallery)
        return Split(train, test, fitted=parts.train if len(parts.train) else train.probes)
    if tests_alone and isinstance(parts, partition.ProbesGallery):
        return Split.of_test_alone(Part(*parts))
    if hasattr(parts, "_fields") and not hasattr(parts, "test"):
        raise DataError(
            f"{name_of(splitter)} divides gallery from probes, not training from test; "
            "be.repeat evaluates with each of its galleries"
        )
    if not isinstance(splitter, Division):  # the parts of our own splitters need no checks
        parts = _checked_parts(splitter, parts, n, tests_alone)
    # Training and test, or training, validation and test: the threshold is chosen on the part
    # before the test.
    *_, train, test = map(Part.of_one_set, parts)
    return Split(train, test, fitted=parts[0])


def _checked_parts(splitter: Any, parts: Any, n: int, tests_alone: bool) -> list[np.ndarray]:
    """Return the parts of a splitter that is not of this package, as int64 indices of samples."""
    checked = []
    for part in parts:
        array = np.asarray(part)
        if array.ndim != 1 or (len(array) and array.dtype.kind not in "iu"):
            raise DataError(
                f"{name_of(splitter)} yields an array {array.shape} {array.dtype}; expected "
                "indices of samples, whole numbers"
            )
        wrong = (array < 0) | (array >= n)
        if wrong.any():
            raise DataError(
                f"{name_of(splitter)} yields {counted(wrong.sum(), 'positions')} out of range, "
                f"the first is {int(array[np.argmax(wrong)])}; expected 0..{n - 1}"
            )
        checked.append(array.astype(np.int64))
    train, test = checked[-2:]
    if not len(test):
        raise DataError(f"{name_of(splitter)} yields an empty test part")
    # Of test parts alone, the training part is not used, and may be anything.
    used_parts = {"test": test} if tests_alone else {"training": train, "test": test}
    for name, samples in used_parts.items():
        numbers, times = np.unique(samples, return_counts=True)
        if len(numbers) < len(samples):
            raise DataError(
                f"{name_of(splitter)} yields index {int(numbers[times > 1][0])} twice in a "
                f"{name} part; expected each index once"
            )
    may_overlap = tests_alone and hasattr(parts, "_fields")  # probes and gallery, with other names
    if not may_overlap and _flags_of(train, n, no_person=False)[test].any():
        raise DataError("the splitter puts samples into both training and test")
    return checked


def _numbered_folds(
    splits: Sequence[Split], n: int
) -> tuple[np.ndarray, dict[Place, Split]] | None:
    """Return the fold of each sample in each repeat, and the splits by repeat and fold.

    The folds are (repeats, n), -1 for a sample that is never tested. A repeat begins where a sample
    is tested again. None if the repeats do not all test the same samples.
    """
    repeats: list[np.ndarray] = []
    by_place: dict[Place, Split] = {}
    fold = 0
    for split in splits:
        tested = split.test.probes
        if not repeats or (repeats[-1][tested] >= 0).any():
            repeats.append(np.full(n, -1, dtype=np.int64))
            fold = 0
        repeats[-1][tested] = fold
        by_place[len(repeats) - 1, fold] = split
        fold += 1
    codes = np.array(repeats)
    is_tested = codes >= 0
    if (is_tested != is_tested[0]).any():
        return None
    return codes, by_place


def _digest_of_splits(
    splits: Iterable[Split], n: int, labels: Any, meta: Mapping[str, Any] | None
) -> str:
    """Return a digest of all parts, of the samples in the order of their names if they have any."""
    columns = {name: np.asarray(column) for name, column in (meta or {}).items()}
    place = places_in_order(columns, n)[0]
    digest = hashlib.blake2b(digest_size=8)
    number = 0
    for train, test, fitted in splits:
        number += 1
        # A byte for each sample, with a bit for each set of samples that it is in.
        sets_of_sample = np.zeros(n, dtype=np.uint8)
        sets = (train.probes, train.gallery, test.probes, test.gallery, fitted)
        for bit, samples in enumerate(sets):
            sets_of_sample[place[samples]] |= 1 << bit
        digest.update(sets_of_sample.tobytes())
    if labels is not None:
        labels_in_order = np.empty(n, dtype=object)
        labels_in_order[place] = np.asarray(labels, dtype=object)
        digest.update(repr(labels_in_order.tolist()).encode())
    return f"{counted(number, 'splits')} of {n} samples, {digest.hexdigest()}"


class Samples:
    """Samples that are divided; `subject` (int64 (n,)) has the code of each sample's subject."""

    def __init__(self, subject: np.ndarray):
        self.subject = subject

    def has_subject(self, part: Part) -> np.ndarray:
        """Return whether each subject is in a part, bool (subjects,)."""
        is_in_part = np.zeros(int(self.subject.max(initial=-1)) + 1, dtype=bool)
        is_in_part[self.subject[part.probes]] = True
        if part.gallery is not part.probes:
            is_in_part[self.subject[part.gallery]] = True
        return is_in_part

    def sizes(self, split: Split) -> dict[str, Any]:
        """Return the numbers of subjects in each part, and of test subjects trained on."""
        train, test = self.has_subject(split.train), self.has_subject(split.test)
        subjects = [np.count_nonzero(train), np.count_nonzero(test)]
        seen = train
        if split.fitted is not split.train.probes:
            seen = train | self.has_subject(Part.of_one_set(split.fitted))
        return {"subjects": subjects, "shared_subjects": np.count_nonzero(seen & test)}


class SplitSides(Samples):
    """The distinct templates of both sides of a score matrix, as `n` samples that are divided.

    Templates of no person are no samples: they are in the gallery of every part, and never among
    its probes.

    - `labels`, `subject` (n,): the subject of each sample, and its code
    - `meta`: the metadata columns that both sides have
    - `sample_of_row`, `sample_of_column`: -1 for no person
    - `templates`: number of distinct templates; `people` (n,) are the indices of the samples among
      them
    """

    def __init__(self, scores: Scores):
        """Number the people among the templates in order of appearance, probes first."""
        self.scores = scores
        # Lines are the rows, followed by the columns. The distinct templates of both, in order of
        # appearance: the template of each line, and the first line of each template.
        line_ids = np.append(scores.probe_ids, scores.gallery_ids)
        _, first_of_id, id_of_line = np.unique(line_ids, return_index=True, return_inverse=True)
        order = np.argsort(first_of_id)  # the distinct ids, by their first line
        template_of_id = np.argsort(order)
        template_of_line = template_of_id[id_of_line.reshape(-1)]
        first_line = first_of_id[order]
        self.templates = len(first_line)
        code_of_line = np.append(scores.codes.probe, scores.codes.gallery)
        of_no_person = scores.codes.of_no_person(scores.no_person_ids)
        is_person = ~of_no_person[code_of_line[first_line]]
        self.people = np.flatnonzero(is_person)
        self.n = len(self.people)
        if not self.n:
            labels = ", ".join(scores.codes.labels_of_no_person(scores.no_person_ids))
            raise DataError(
                f"all {counted(self.templates, 'templates')} are of no person ({labels}); "
                "expected people to divide"
            )

        sample_of_template = np.where(is_person, np.cumsum(is_person) - 1, -1)
        sample_of_line = sample_of_template[template_of_line]
        rows = len(scores.probe_ids)
        self.sample_of_row = sample_of_line[:rows]
        self.sample_of_column = sample_of_line[rows:]
        # Whether rows, columns and samples are the same templates in the same order.
        samples = np.arange(self.n)
        self._is_one_set = np.array_equal(self.sample_of_row, samples) and np.array_equal(
            self.sample_of_column, samples
        )

        # The columns of the samples, which splitters read.
        line_of_sample = first_line[is_person]
        self.subject = code_of_line[line_of_sample]
        self.labels = concatenated([scores.probe_labels, scores.gallery_labels])[line_of_sample]
        self.meta = {
            name: concatenated([values, scores.gallery_meta[name]])[line_of_sample]
            for name, values in scores.probe_meta.items()
            if name in scores.gallery_meta
        }
        self.names = None
        if scores.probe_names is not None and scores.gallery_names is not None:
            names = as_names([*scores.probe_names, *scores.gallery_names])
            self.names = names[line_of_sample]
            # Draws by names do not depend on the order of rows.
            self.meta.setdefault("template", self.names.to_numpy())
        self.numbers = None  # of all templates: numbers say of one set alone which are the same
        if np.array_equal(scores.probe_ids, scores.gallery_ids):
            self.numbers = scores.keys(0).numbers

    def plan(self, splitter: Any, *, tests_alone: bool = False) -> SplitPlan:
        """Return all splits into training and test, or with `tests_alone` all test parts."""
        if isinstance(splitter, partition.Experiment):
            require_square(self.scores)
        if _divides_people(splitter):
            self._warn_of_distractors()
        splitter_of_samples = splitter
        if isinstance(splitter, partition.PredefinedFolds):
            splitter_of_samples = self._folds_of_samples(splitter)
        plan = SplitPlan(
            splitter_of_samples,
            self.n,
            self.labels,
            meta=self.meta,
            tests_alone=tests_alone,
            given=splitter,
        )
        # Indices of somebody who counts each side from 0 may leave a side without a template.
        if not self._is_one_set and not isinstance(splitter, Division):
            for split in plan.splits.values():
                self._require_both_sides(splitter, split.test)
        return plan

    def _warn_of_distractors(self) -> None:
        """Warn if an identity without probes has so many templates that it may be distractors."""
        codes = self.scores.codes
        columns_of_people = codes.gallery[self.sample_of_column >= 0]
        templates = np.bincount(columns_of_people, minlength=len(codes.values))  # of each code
        median = np.median(templates[templates > 0]) if templates.any() else 0
        is_frequent = (templates > 0) & (templates >= _TIMES_MEDIAN * median)
        is_frequent[codes.probe] = False
        if is_frequent.any():
            person = int(np.argmax(np.where(is_frequent, templates, 0)))
            label = codes.values[person : person + 1].tolist()[0]
            number = counted(int(templates[person]), "gallery templates")
            warnings.warn(
                f"the identity {label!r} has {number} "
                "and no probe, and goes into one part as one person; if these are distractors, "
                f"give Scores(..., distractor_ids=({label!r},)): they are then in every gallery",
                BioevalWarning,
                stacklevel=4,
            )

    def _folds_of_samples(self, splitter: partition.PredefinedFolds) -> partition.PredefinedFolds:
        """Return given folds in the order of the samples."""
        folds_of_user, noun = splitter.fold_of_sample, "`fold_of_sample`"
        folds = in_order(folds_of_user, Keys(self.names), noun)
        if folds.is_joined:  # by the names of the samples
            return partition.PredefinedFolds(folds.values)
        # Folds without names are of all templates, in their order; distractors have a fold as well.
        if self.numbers is not None:
            folds = in_order(folds_of_user, Keys(self.names, self.numbers), noun)
        self.scores = self.scores.with_remarks(*folds.remarks)
        of_templates = partition.PredefinedFolds(folds.values)
        return of_templates.restricted_to(self.people, self.templates)

    def _require_both_sides(self, splitter: Any, test: Part) -> None:
        rows, columns = self.indices(test)
        if len(rows) and len(columns):
            return
        lacking = "gallery template" if len(rows) else "probe"
        probes = len(np.unique(self.sample_of_row[self.sample_of_row >= 0]))
        raise DataError(
            f"{name_of(splitter)} yields a test part without a {lacking}; the "
            "indices of both sides are counted together: probes are 0 to "
            f"{probes - 1}, and gallery templates {probes} to {self.n - 1}"
        )

    def view(self, part: Part) -> Scores | None:
        """Return the scores of some probes against a gallery; None if either is empty."""
        rows, columns = self.indices(part)
        return self.scores.select(rows, columns) if len(rows) and len(columns) else None

    def indices(self, part: Part) -> IndexSet:
        """Return the rows of a part, and its columns, which include all templates of no person."""
        if self._is_one_set:
            return part.probes, part.gallery
        # A template of no person has the sample -1, and so the last flag.
        is_probe = _flags_of(part.probes, self.n, no_person=False)
        is_in_gallery = _flags_of(part.gallery, self.n, no_person=len(part.gallery) > 0)
        rows = np.flatnonzero(is_probe[self.sample_of_row])
        columns = np.flatnonzero(is_in_gallery[self.sample_of_column])
        return rows, columns


def _divides_people(splitter: Any) -> bool:
    """Whether a splitter divides subjects; scikit-learn's say so in their names, as GroupKFold."""
    return bool(getattr(splitter, "by_subject", "Group" in type(splitter).__name__))


def _flags_of(samples: np.ndarray, n: int, *, no_person: bool) -> np.ndarray:
    """Return flags (n + 1,) that are True for `samples`; the last flag is for no person, -1."""
    flags = np.zeros(n + 1, dtype=bool)
    flags[samples] = True
    flags[-1] = no_person
    return flags


class PairSides(Samples):
    """Listed pairs; the `n` samples that are divided are the pairs, or with `by_subject` subjects.

    If subjects are divided, a pair is in a part that has both its subjects; a pair with a
    distractor or junk is in the part of the other subject. `labels` are the subjects, None if pairs
    are divided.
    """

    def __init__(self, scores: Scores, by_subject: bool):
        """Number the subjects; distractors and junk have the number -1."""
        self.scores = scores
        self.by_subject = by_subject
        self.n = scores.shape[0]
        self.labels = None
        if by_subject:
            codes = scores.codes
            is_person = ~codes.no_person
            self.labels = codes.values[is_person]
            self.n = int(is_person.sum())
            number_of_code = np.where(is_person, np.cumsum(is_person) - 1, -1)
            # (2, pairs): the numbers of both subjects of each pair.
            self._subjects = number_of_code[np.stack([codes.probe, codes.gallery])]

    def pairs_in(self, samples: np.ndarray) -> np.ndarray:
        if not self.by_subject:
            return samples
        is_person = self._subjects >= 0
        is_inside = self._are_subjects_in(samples) | ~is_person  # (2, pairs)
        return np.flatnonzero(is_inside.all(axis=0) & is_person.any(axis=0))

    def crossing(self, samples: np.ndarray) -> int:
        """Return the number of pairs of a subject in a part and a subject outside of it."""
        first_is_inside, second_is_inside = self._are_subjects_in(samples)
        are_people = (self._subjects >= 0).all(axis=0)
        return int(np.count_nonzero((first_is_inside != second_is_inside) & are_people))

    def _are_subjects_in(self, samples: np.ndarray) -> np.ndarray:
        """Return whether both subjects of each pair are among samples, bool (2, pairs)."""
        return _flags_of(samples, self.n, no_person=False)[self._subjects]

    def has_subject(self, part: Part) -> np.ndarray:
        codes, pairs = self.scores.codes, self.pairs_in(part.probes)
        is_in_part = np.zeros(len(codes.values), dtype=bool)
        is_in_part[codes.probe[pairs]] = True
        is_in_part[codes.gallery[pairs]] = True
        return is_in_part & ~codes.no_person

    def sizes(self, split: Split) -> dict[str, Any]:
        """Return the numbers of subjects, or else of pairs, and of pairs that cross the parts."""
        train, test, _ = split
        sizes: dict[str, Any] = {}
        if self.by_subject:
            sizes["crossing_pairs"] = self.crossing(test.probes)
        if knows_people(self.scores):
            return sizes | super().sizes(split)
        return sizes | {"subjects": [len(train.probes), len(test.probes)]}

    def view(self, part: Part) -> Scores | None:
        """Return the pairs of a part; None if there are none."""
        pairs = self.pairs_in(part.probes)
        return self.scores.select(pairs) if len(pairs) else None


def require_square(scores: Scores) -> None:
    """Raise :class:`ProtocolError` unless both sides have the same templates, for an experiment."""
    is_list = scores.layout == "pairs"
    if is_list or not np.array_equal(scores.probe_ids, scores.gallery_ids):
        noun = "a list of pairs" if is_list else "these scores"
        raise ProtocolError(
            f"Experiment divides one set of templates into gallery and probes, but {noun} "
            f"({scores.layout}) are already divided; give all templates against all, or use "
            "SubjectShuffleSplit to divide their subjects"
        )
