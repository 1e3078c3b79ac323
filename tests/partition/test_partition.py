"""Partitions: every splitter keeps its promises, and says so when it cannot.

The goldens were made by this library, once: another number means that every seeded partition
has changed.
"""

import copy
import inspect
import itertools
import pickle
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, strategies as st
from optional import optional_import
from sklearn import base, model_selection
from sklearn.dummy import DummyClassifier
from sklearn.neighbors import KNeighborsClassifier

import bioeval as be
from bioeval import partition as bp
from bioeval.base.random import Stream

NAMES = ["ann", "bob", "cem", "dan", "eve", "fay", "gil"]
SUBJECT = np.repeat(NAMES, [3, 1, 4, 2, 2, 5, 1])

SPLITTERS = [
    bp.SubjectKFold(3, shuffle=True, random_state=7),
    bp.SubjectKFold(2, n_repeats=3, shuffle=True, random_state=7),
    bp.SampleKFold(4, shuffle=True, random_state=7, stratify="subject"),
    bp.SampleKFold(2, n_repeats=2, shuffle=True, random_state=7),
    bp.SubjectShuffleSplit(3, test_size=2, random_state=7),
    bp.SampleShuffleSplit(2, test_size=5, random_state=7),
    bp.TrainValidationTest(0.2, 0.3, random_state=7),
    bp.ProbeGallerySplit(1, too_few="probe", n_repeats=3, random_state=7),
    bp.EnrolledSplit(bp.ProbeGallerySplit(1, too_few="drop"), unenrolled=3, random_state=7),
    bp.Experiment(3, None, 1, 1, too_few="probe", repeats=3, random_state=7),
    bp.PredefinedFolds(np.arange(18) % 3),
    bp.PredefinedPairFolds(list("aab" * 6)),
]


def repeated_fold_codes(splitter, labels, meta=None):
    """The fold in which each sample is tested, of each repeat; -1 if in none."""
    samples = labels.shape[0] if isinstance(labels, be.Scores) else len(labels)
    if isinstance(labels, be.Scores):
        parts = splitter.split(labels)
    elif isinstance(splitter, model_selection.BaseCrossValidator):
        parts = splitter.split(np.zeros(samples), labels)
    else:
        parts = splitter.split(y=labels, meta=meta)
    rows, fold = [], 0
    for _, test in parts:
        if not rows or (rows[-1][test] >= 0).any():
            rows.append(np.full(samples, -1))
            fold = 0
        rows[-1][test] = fold
        fold += 1
    return np.array(rows)


def fold_codes(splitter, labels, meta=None):
    """The fold in which each sample is tested."""
    (codes,) = repeated_fold_codes(splitter, labels, meta)
    return codes


@pytest.mark.parametrize("shuffle", [False, True])
def test_each_template_is_enrolled_in_turn(shuffle):
    subject = np.tile(["ann", "bob", "cem"], 4)
    folds = bp.GalleryKFold(4, shuffle=shuffle, random_state=1 if shuffle else None)
    pairs = list(folds.split(y=subject))
    assert len(pairs) == folds.get_n_splits() == 4
    for k, (probes, gallery) in enumerate(pairs):
        assert sorted(subject[gallery]) == ["ann", "bob", "cem"]
        assert sorted([*probes, *gallery]) == list(range(12))
        if not shuffle:
            assert gallery.tolist() == [3 * k, 3 * k + 1, 3 * k + 2]
    assert sorted(np.concatenate([x.gallery for x in pairs])) == list(range(12))


# All others, where they need no arguments but a seed, and no templates for each fold.
SPLITTERS += [
    kind(**{"random_state": 7} if "random_state" in parameters else {})
    for name in bp.__all__
    if hasattr(kind := getattr(bp, name), "split")
    and kind not in {bp.GalleryKFold, *map(type, SPLITTERS)}
    and (parameters := inspect.signature(kind).parameters)
    and not any(x.default is x.empty for x in parameters.values())
]

by_name = pytest.mark.parametrize("splitter", SPLITTERS, ids=lambda s: type(s).__name__)

seeds = st.integers(0, 2**31)


@st.composite
def subjects(draw, least=1):
    """LabelCodes with unequal numbers of samples, in any order, of any kind."""
    sizes = draw(st.lists(st.integers(1, 5), min_size=least, max_size=9))
    kind = draw(st.sampled_from(("str", "int", "mixed", "tuple")))
    name = {
        "str": lambda i: f"id {i}",
        "int": lambda i: 3 * i - 7,
        "mixed": lambda i: i if i % 2 else str(i),
        "tuple": lambda i: (i, "x"),
    }[kind]
    labels = [name(i) for i, size in enumerate(sizes) for _ in range(size)]
    labels = draw(st.permutations(labels))
    array = draw(st.booleans()) and kind in ("str", "int")
    return np.array(labels) if array else list(labels)


def spread(counts):
    return max(counts) - min(counts)


def names_at(labels, index):
    return {labels[i] for i in index}


def is_ascending(index):
    return (np.diff(index) > 0).all() and index.dtype == np.intp


# ------------------------------------------------------------------------------ folds


@given(subjects(2), st.data(), seeds)
def test_folds(labels, data, seed):
    """Of subjects, or of samples, also stratified by subject."""
    by_subject = data.draw(st.booleans())
    k = data.draw(st.integers(2, len(set(labels)) if by_subject else len(labels)))
    shuffle = data.draw(st.booleans())
    options = {"shuffle": shuffle, "random_state": seed if shuffle else None}
    stratify = None if by_subject else data.draw(st.sampled_from((None, "subject")))
    kind = bp.SubjectKFold if by_subject else bp.SampleKFold
    splitter = kind(k, stratify=stratify, **options)
    assert splitter.get_n_splits() == k
    tested, sizes = Counter(), []
    for train, test in splitter.split(y=labels):
        assert is_ascending(train) and is_ascending(test)
        assert sorted([*train, *test]) == list(range(len(labels)))
        if by_subject:
            assert not names_at(labels, train) & names_at(labels, test)
        tested.update(test.tolist())
        sizes.append(len(names_at(labels, test) if by_subject else test))
    assert tested == Counter(range(len(labels)))
    assert len(sizes) == k and spread(sizes) <= 1 and min(sizes) >= 1
    if stratify:
        codes = fold_codes(splitter, labels)
        for label in set(labels):
            codes_of_label = codes[[x == label for x in labels]]
            assert spread(np.bincount(codes_of_label, minlength=k)) <= 1


@given(subjects(2), seeds, seeds)
def test_the_order_of_samples_does_not_matter_to_folds_of_subjects(labels, seed, other):
    order = np.random.default_rng(other).permutation(len(labels))
    moved = [labels[i] for i in order]
    everybody = len(set(labels))
    for splitter in (bp.SubjectKFold(2, shuffle=True, random_state=seed), bp.SubjectKFold(2)):
        codes = fold_codes(splitter, labels)
        assert (fold_codes(splitter, moved) == codes[order]).all()
    shuffle = bp.SubjectShuffleSplit(1, test_size=everybody - 1, random_state=seed)
    (_, training), (_, training_of_moved) = (
        next(shuffle.split(y=labels)),
        next(shuffle.split(y=moved)),
    )
    assert names_at(labels, training) == names_at(moved, training_of_moved)


def test_subjects_stratified_by_metadata():
    rng = np.random.default_rng(3)
    sex = np.array(["f", "m", "m"])[np.arange(23) % 3]
    subject = rng.permutation(np.repeat(np.arange(23), 2))
    meta = {"sex": sex[subject], "other": np.arange(46)}
    for shuffle in (False, True):
        seed = 5 if shuffle else None
        splitter = bp.SubjectKFold(4, shuffle=shuffle, random_state=seed, stratify="sex")
        codes = fold_codes(splitter, subject, meta=meta)
        fold = np.zeros(23, dtype=int)
        fold[subject] = codes
        assert (fold[subject] == codes).all()
        assert spread(np.bincount(fold)) <= 1
        for value in "fm":
            assert spread(np.bincount(fold[sex == value], minlength=4)) <= 1
    with pytest.raises(be.DataError, match=r"the subject .* has several values in meta\['other'\]"):
        bp.SubjectKFold(2, stratify="other").split(y=subject, meta=meta)


def test_metadata_may_be_a_data_frame():
    pandas = optional_import("pandas")
    frame = pandas.DataFrame({"who": ["a", "a", "b", "c"], "sex": ["f", "f", "m", "m"]})
    splitter = bp.SubjectKFold(2, stratify="sex")
    codes = fold_codes(splitter, frame["who"], meta=frame)
    assert codes.tolist() == fold_codes(splitter, list("aabc"), meta=dict(frame)).tolist()
    next(bp.SubjectKFold(2).split(frame, frame["who"]))


# ----------------------------------------------------------------------------- shuffles


@given(subjects(4), st.data(), seeds)
def test_random_parts(labels, data, seed):
    """Training and test, or training, validation and test: of subjects or of samples."""
    by_subject = data.draw(st.booleans())
    total = len(set(labels)) if by_subject else len(labels)
    validation = data.draw(st.none() | st.integers(1, total - 2))
    test = data.draw(st.integers(1, total - 1 - (validation or 0)))
    train = total - test - (validation or 0)
    if validation is None:
        sizes = data.draw(st.sampled_from((train, 1))), test
        kind = bp.SubjectShuffleSplit if by_subject else bp.SampleShuffleSplit
        train_size = None if sizes[0] == train else 1
        splitter = kind(2, test_size=test, train_size=train_size, random_state=seed)
    else:
        sizes = train, validation, test
        unit = "subject" if by_subject else "sample"
        options = {"unit": unit, "n_splits": 2, "random_state": seed}
        splitter = bp.TrainValidationTest(validation, test, **options)
    splits = list(splitter.split(y=labels))
    assert splitter.get_n_splits() == len(splits) == 2
    for parts in splits:
        assert all(is_ascending(index) for index in parts)
        divided = sorted(itertools.chain(*parts))
        assert len(set(divided)) == len(divided)  # no sample in two parts
        units = [names_at(labels, index) if by_subject else set(index) for index in parts]
        assert tuple(map(len, units)) == sizes
        assert len(set().union(*units)) == sum(sizes)  # and no unit
        in_units = (labels[i] if by_subject else i for i in range(len(labels)))
        assert len(divided) == sum(unit in set().union(*units) for unit in in_units)


# Shares that float64 holds exactly, so that "as written" and scikit-learn's product agree.
EXACT_SHARES = [k / 16 for k in range(1, 15)]


@pytest.mark.parametrize("test_size", EXACT_SHARES)
def test_shares_are_those_of_scikit_learn(test_size):
    for samples, train_size in itertools.product((16, 30, 101), (None, *EXACT_SHARES)):
        options = {"test_size": test_size, "train_size": train_size}
        if train_size is not None and test_size + train_size > 1:
            continue
        sklearn_parts = next(model_selection.ShuffleSplit(1, **options).split(np.zeros(samples)))
        parts = next(bp.SampleShuffleSplit(1, **options).split(np.zeros(samples)))
        assert list(map(len, parts)) == list(map(len, sklearn_parts))


# ---------------------------------------------------------------------------- enrolment


@given(subjects(2), st.data(), seeds)
def test_gallery_and_probes(labels, data, seed):
    size = data.draw(st.integers(1, 3) | st.sampled_from((0.2, 0.5, 0.9)))
    too_few = data.draw(st.sampled_from(("raise", "enrol", "probe", "drop")))
    splitter = bp.ProbeGallerySplit(size, too_few=too_few, n_repeats=2, random_state=seed)
    assert splitter.get_n_splits() == 2
    people = Counter(labels)
    enrolled_number = {
        person: size
        if isinstance(size, int)
        else max(1, min(int(size * size_of_person + 0.5 + 1e-9), size_of_person - 1))
        for person, size_of_person in people.items()
    }
    too_small = {person for person in people if people[person] < enrolled_number[person] + 1}
    gallery_left = too_few == "enrol" or set(people) - too_small
    probes_left = too_few == "probe" or set(people) - too_small
    if (too_small and too_few == "raise") or not gallery_left or not probes_left:
        with pytest.raises(be.DataError, match="too few templates"):
            splitter.split(y=labels)
        return
    for probe, gallery in splitter.split(y=labels):
        assert is_ascending(gallery) and is_ascending(probe)
        assert not set(gallery) & set(probe)
        enrolled = Counter(labels[i] for i in gallery)
        probing = Counter(labels[i] for i in probe)
        for person, size_of_person in people.items():
            expected_numbers = (enrolled_number[person], size_of_person - enrolled_number[person])
            roles = {"enrol": (size_of_person, 0), "probe": (0, size_of_person), "drop": (0, 0)}
            assert (enrolled[person], probing[person]) == (
                roles[too_few] if person in too_small else expected_numbers
            )


@pytest.mark.parametrize("options", [{}, {"enrol": {"camera": [1, 2]}}, {"too_few": "probe"}])
def test_a_number_of_each_subject_and_camera(options):
    """Each combination has so many templates, or all its templates, drawn equally often."""
    labels = np.repeat(["a", "b", "c"], (9, 8, 2))
    camera = np.array([1, 2, 2, 3, 3, 3, 3, 3, 1, 2, 1, 1, 1, 1, 3, 3, 3, 2, 3])
    splitter = bp.ProbeGallerySplit(
        2, by=("subject", "camera"), n_repeats=200, random_state=0, **{"too_few": "drop", **options}
    )
    times = np.zeros(len(labels))
    for probes, gallery in splitter.split(y=labels, meta={"camera": camera}):
        times[gallery] += 1
        for subject in "abc":
            for where in 1, 2, 3:
                of_subject_and_camera = (labels == subject) & (camera == where)
                may = where < 3 or "enrol" not in options
                single_samples = (
                    subject == "c" and "enrol" not in options
                )  # both templates would be enrolled
                expected = min(2, of_subject_and_camera.sum()) if may and not single_samples else 0
                assert of_subject_and_camera[gallery].sum() == expected
        assert not set(probes) & set(gallery)
    for subject, where in (("a", 3), ("b", 1)):
        of_subject_and_camera = (labels == subject) & (camera == where)
        if times[of_subject_and_camera].any():
            share = 2 / of_subject_and_camera.sum()
            assert (
                np.abs(times[of_subject_and_camera] / 200 - share) < 4 * np.sqrt(share / 200)
            ).all()


def test_the_best_by_quality():
    labels = ["a", "b", "a", "b", "a", "b"]
    meta = {"sharpness": [0.1, 5, 0.9, 5, 0.5, -np.inf], "name": list("uvwxyz")}
    split = bp.ProbeGallerySplit(1, quality="sharpness").split(y=labels, meta=meta)
    assert [index.tolist() for index in next(split)] == [[0, 3, 4, 5], [1, 2]]
    split = bp.ProbeGallerySplit(2, quality="sharpness").split(y=labels, meta=meta)
    assert next(split).gallery.tolist() == [1, 2, 3, 4]
    with pytest.raises(be.DataError, match="expected numbers"):
        bp.ProbeGallerySplit(1, quality="name").split(y=labels, meta=meta)
    for missing in ([1, 2, np.nan, 4, 5, 6], [1, 2, None, 4, 5, 6]):
        with pytest.raises(be.DataError, match="1 missing value, the first at position 2"):
            bp.ProbeGallerySplit(1, quality="q").split(y=labels, meta={"q": missing})


def test_enrolment_by_metadata():
    labels = ["a", "a", "a", "b", "b", "b"]
    meta = {"session": [1, 1, 2, 2, 1, 3], "camera": ["l", "r", "l", "l", "l", "r"]}

    def split(*args, **kwargs):
        splits = list(bp.ProbeGallerySplit(*args, **kwargs).split(y=labels, meta=meta))
        assert len(splits) == 1
        return [index.tolist() for index in splits[0]]

    assert split(enrol={"session": 1}) == [[2, 3, 5], [0, 1, 4]]
    assert split(enrol={"session": [1, 2], "camera": "l"}) == [[1, 5], [0, 2, 3, 4]]
    # Of two in session 1, one is enrolled; the other does not probe.
    assert split(1, enrol={"session": 1}, quality="session") == [[2, 3, 5], [0, 4]]
    probe, gallery = split(1, enrol={"session": 1}, random_state=0)
    assert len(gallery) == 2 and probe == [2, 3, 5]
    assert split(0.5, enrol={"session": 1}, quality="session") == [[2, 3, 5], [0, 4]]
    assert split(enrol={"session": 3}, too_few="drop") == [[3, 4], [5]]
    assert split(enrol={"session": 3}, too_few="probe") == [[0, 1, 2, 3, 4], [5]]
    assert split(enrol={"session": 3}, too_few="enrol") == [[3, 4], [0, 1, 2, 5]]
    with pytest.raises(be.DataError, match=r"1 of 2 subjects have too few templates \('a'\): each"):
        split(enrol={"session": 3})
    with pytest.raises(be.DataError, match="no template has this value; meta.* has 1, 2, 3"):
        split(enrol={"session": "1"})
    with pytest.raises(be.DataError, match="no template has this value"):
        split(enrol={"session": [[1]]})
    with pytest.raises(be.DataError, match="no template has this value"):
        split(enrol={"session": []})
    with pytest.raises(be.DataError, match="Did you mean 'session'"):
        split(enrol={"sesion": 1})


@given(subjects(2), st.data(), seeds)
def test_unenrolled_subjects(labels, data, seed):
    people = Counter(labels)
    out = data.draw(st.integers(1, len(people) - 1))  # singletons among the enrolled never probe
    inner = bp.ProbeGallerySplit(1, too_few="enrol")
    splitter = bp.EnrolledSplit(inner, unenrolled=out, n_repeats=2, random_state=seed)
    splits = list(splitter.split(y=labels))
    repeated_splits = list(splitter.split(y=labels))
    assert len(splits) == splitter.get_n_splits() == 2
    for (probe, gallery), same in zip(splits, repeated_splits, strict=True):
        assert all((a == b).all() for a, b in zip((probe, gallery), same, strict=True))
        assert sorted([*gallery, *probe]) == list(range(len(labels)))
        enrolled, probing = names_at(labels, gallery), Counter(labels[i] for i in probe)
        assert len(enrolled) == len(people) - out
        for person in set(people) - enrolled:
            assert probing[person] == people[person]


def test_folds_as_given_are_tested_in_sorted_order():
    given_folds = ["b", "a", "a", "c"]
    assert fold_codes(bp.PredefinedFolds(given_folds), list("wxyz")).tolist() == [1, 0, 0, 2]
    with pytest.raises(be.DataError, match="has 1 folds to test"):
        bp.PredefinedFolds([2, 2, 2])
    assert fold_codes(bp.PredefinedFolds([2, -1, 2]), list("xyz")).tolist() == [0, -1, 0]


def test_pair_folds():
    pairs = [["a", "a"], ["a", "b"], ["c", "d"], ["c", "c"]]
    splitter = bp.PredefinedPairFolds([0, 0, 1, 1])
    scores = be.Scores.from_pairs([1.0, 2, 3, 4], [1, 0, 0, 1], subjects=pairs)
    for options in ({"groups": pairs, "y": [1, 0, 0, 1]}, {"X": scores}):
        assert [test.tolist() for _, test in splitter.split(**options)] == [[0, 1], [2, 3]]
    with pytest.raises(be.DataError, match="folds are given for 4 pairs, but there are 5"):
        splitter.split(X=range(5))


# ------------------------------------------------------------------------- scikit-learn


@given(st.lists(st.integers(2, 9), min_size=1, max_size=6), st.integers(2, 4))
def test_unshuffled_folds_of_samples_are_those_of_scikit_learn(sizes, k):
    labels = np.repeat(np.arange(len(sizes)), sizes)
    if len(labels) < k:
        return
    kfold = model_selection.KFold(k)
    assert fold_codes(bp.SampleKFold(k), labels).tolist() == fold_codes(kfold, labels).tolist()
    if min(sizes) >= k:  # below, scikit-learn warns or refuses
        stratified = fold_codes(model_selection.StratifiedKFold(k), labels)
        codes = fold_codes(bp.SampleKFold(k, stratify="subject"), labels)
        assert codes.tolist() == stratified.tolist()


def test_inside_scikit_learn():
    rng = np.random.default_rng(0)
    embeddings, subject = rng.normal(size=(40, 3)), np.repeat([f"id {i}" for i in range(8)], 5)
    sex = np.repeat(["f", "m"] * 4, 5)
    knn = KNeighborsClassifier(1)
    scores = model_selection.cross_val_score(
        knn, embeddings, sex, groups=subject, cv=bp.SubjectKFold(4)
    )
    assert scores.shape == (4,)
    validated = model_selection.cross_validate(
        knn, embeddings, subject, cv=bp.SampleKFold(5, stratify="subject"), return_indices=True
    )
    assert [len(index) for index in validated["indices"]["test"]] == [8] * 5
    embeddings[np.arange(40)] = np.repeat(np.arange(8), 5)[:, None]
    enrolment = bp.ProbeGallerySplit(1, n_repeats=3, random_state=0)
    assert (model_selection.cross_val_score(knn, embeddings, subject, cv=enrolment) == 1).all()
    splitter = bp.SubjectKFold(2, n_repeats=2, shuffle=True, random_state=0)
    search = model_selection.GridSearchCV(DummyClassifier(), {"constant": ["f"]}, cv=splitter)
    search.fit(embeddings, sex, groups=subject)
    assert search.n_splits_ == 4
    assert search.get_params()["cv__n_repeats"] == 2
    search.set_params(cv__n_repeats=3).fit(embeddings, sex, groups=subject)
    assert search.n_splits_ == 6
    assert base.clone(search).cv.n_repeats == 3
    repr(search)


@by_name
def test_parameters(splitter):
    params = splitter.get_params(deep=False)
    assert splitter.set_params() is splitter
    cloned, copied = base.clone(splitter), pickle.loads(pickle.dumps(splitter))
    for duplicate in (cloned, copied, copy.deepcopy(splitter)):
        assert duplicate.get_params(deep=False).keys() == params.keys()
        assert repr(duplicate) == repr(splitter)
        for split, split_of_duplicate in zip(
            splitter.split(y=SUBJECT), duplicate.split(y=SUBJECT), strict=True
        ):
            assert all((a == b).all() for a, b in zip(split, split_of_duplicate, strict=True))
    with pytest.raises(be.DataError, match="; expected " if params else "there is none"):
        splitter.set_params(n_fold=3)


# ------------------------------------------------------------------------------- inputs


def test_scores_are_divided_by_their_own_labels():
    meta = {"session": [1, 2, 1, 2, 1, 2]}
    scores = be.Scores(np.ones((6, 6)), list("aabbcc"), probe_meta=meta)
    assert fold_codes(bp.SubjectKFold(3), scores).tolist() == [0, 0, 1, 1, 2, 2]
    probe, gallery = next(bp.ProbeGallerySplit(enrol={"session": 1}).split(scores))
    assert scores.select(probes=probe, gallery=gallery).layout == "probe-against-gallery"
    part = scores.select(probes=[0, 1, 2], gallery=[0, 1, 2])
    assert fold_codes(bp.SubjectKFold(2), part).tolist() == [0, 0, 1]
    with pytest.raises(be.DataError, match="different templates"):
        bp.SubjectKFold(2).split(be.Scores(np.ones((2, 3)), [1, 2], [1, 2, 3]))
    mask_only = be.Scores(np.ones((2, 2)), mask=[[0, 1], [1, 0]])
    with pytest.raises(be.DataError, match="no subjects are given"):
        bp.SubjectKFold(2).split(mask_only)


@pytest.mark.parametrize(
    "labels",
    [
        ["x", 1, "x", 1, 2],
        [("a", 1), ("a", 1), "a", 3, int],
        [frozenset([1]), frozenset([2]), frozenset([1])],
        [True, 2.5, 3, 3, 10**30],
        np.array(["2020-01-01", "2019-01-01", "2020-01-01"], dtype="datetime64[D]"),
        [b"x", b"y", b"x"],
        np.array(["x", "y", "x"], dtype=object),
    ],
)
def test_any_hashable_is_a_subject(labels):
    codes = fold_codes(bp.SubjectKFold(2), labels)
    assert set(codes) == {0, 1}
    back = labels[::-1]
    assert fold_codes(bp.SubjectKFold(2), back).tolist() == codes[::-1].tolist()


# ------------------------------------------------------------------------------ numbers


def test_goldens():
    def codes(splitter):
        return ["".join(map(str, row)) for row in repeated_fold_codes(splitter, SUBJECT)]

    def part_of_splits(splitter, part):
        return [index[part].tolist() for index in splitter.split(y=SUBJECT)]

    assert codes(SPLITTERS[0]) == ["222000000011222221"]
    assert codes(bp.SampleKFold(4, shuffle=True, random_state=7)) == ["112210203103103023"]
    assert codes(SPLITTERS[2]) == ["301330121010013222"]
    subjects = ["111000000000111111", "000011110000111111", "111000000011111110"]
    assert codes(SPLITTERS[1]) == subjects
    assert codes(SPLITTERS[3]) == ["001110101001001011", "000000001111011111"]
    drawn_subjects = [[0, 1, 2, 12, 13, 14, 15, 16], [3, 8, 9]]
    assert part_of_splits(SPLITTERS[4], 1)[1:] == drawn_subjects
    assert part_of_splits(SPLITTERS[5], 1) == [[0, 3, 6, 10, 16], [7, 8, 9, 11, 16]]
    assert [part.tolist() for part in next(SPLITTERS[6].split(y=SUBJECT))] == [
        [8, 9, 12, 13, 14, 15, 16], [0, 1, 2, 4, 5, 6, 7], [3, 10, 11, 17]
    ]  # fmt: skip
    galleries = [[2, 5, 8, 10, 14], [0, 6, 8, 10, 14], [0, 7, 9, 10, 16]]
    assert part_of_splits(SPLITTERS[7], 1) == galleries
    assert part_of_splits(SPLITTERS[8], 1) == [[2, 8, 10, 14]]


def test_every_order_is_as_probable():
    orders = Stream(np.random.SeedSequence(1), 0).permutations(12_000, 4)
    number = np.unique(orders, axis=0, return_counts=True)[1]
    assert len(number) == 24
    assert ((number - 500) ** 2 / 500).sum() < 50  # chi-squared of 23 degrees: 1 in 1,000 is above


REPEATED = [
    *(
        kind(n_repeats=300, shuffle=True, random_state=3)
        for kind in (bp.SubjectKFold, bp.SampleKFold)
    ),
    bp.SubjectKFold(2, n_repeats=300, shuffle=True, random_state=3, stratify="camera"),
    bp.SampleKFold(2, n_repeats=300, shuffle=True, random_state=3, stratify="subject"),
    bp.GalleryKFold(4, n_repeats=300, shuffle=True, random_state=3),
    bp.SubjectShuffleSplit(300, test_size=0.3, random_state=3),
    bp.SampleShuffleSplit(300, test_size=0.3, random_state=3),
    bp.TrainValidationTest(n_splits=300, random_state=3),
    bp.ProbeGallerySplit(2, n_probe=1, n_repeats=300, random_state=3),
    bp.EnrolledSplit(bp.ProbeGallerySplit(1), n_repeats=300, random_state=3),
    bp.EnrolledSplit(bp.ProbeGallerySplit(1), enrolled=9, n_repeats=300, random_state=3),
    bp.Experiment(0.5, None, 1, 0.2, repeats=300, random_state=3),
    bp.Experiment(0.3, 0.2, unit="sample", unseen=0.1, repeats=300, random_state=3),
]


@pytest.mark.parametrize("splitter", REPEATED, ids=repr)
def test_more_repeats_keep_those_before_them(splitter):
    subject = np.repeat(np.arange(50), 4)
    labels_and_cameras = {"y": subject, "meta": {"camera": subject % 2}}
    name = next(x for x in ("n_repeats", "repeats", "n_splits") if x in splitter.get_params())
    few_repeats = base.clone(splitter).set_params(**{name: 3})
    all_splits = [[x.tolist() for x in split] for split in splitter.split(**labels_and_cameras)]
    first = [[x.tolist() for x in split] for split in few_repeats.split(**labels_and_cameras)]
    assert all_splits[: len(first)] == first
    assert len({repr(x) for x in all_splits}) > len(all_splits) - 3  # nearly all are different


def test_seeds():
    def codes(seed):
        return fold_codes(bp.SubjectKFold(2, shuffle=True, random_state=seed), range(60))

    assert (codes(3) == codes(np.int64(3))).all()
    assert (codes(3) == codes(np.random.SeedSequence(3))).all()
    assert (codes(3) != codes(4)).any()
    assert (codes(None) != codes(None)).any()
    for generator in (np.random.default_rng, np.random.RandomState):
        splitter = bp.SubjectKFold(2, shuffle=True, random_state=generator(3))
        cloned = base.clone(splitter)
        first, second = (fold_codes(splitter, range(60)) for _ in range(2))
        assert (first != second).any()  # each partition advances the generator
        assert (first == codes(generator(3))).all()
        assert (first == fold_codes(cloned, range(60))).all()


# ------------------------------------------------------------------------------- errors

WRONG_ARGUMENTS = [
    (lambda: bp.GalleryKFold(1), "n_splits is 1; expected an integer >= 2"),
    (lambda: bp.GalleryKFold(2, n_repeats=2), "nothing is random; set shuffle=True"),
    (lambda: bp.SubjectKFold(2.0), "n_splits is 2.0"),
    (lambda: bp.SubjectKFold(2, shuffle=2), "shuffle is 2; expected True or False"),
    (lambda: bp.SubjectKFold(2, random_state=1), "nothing is random; set shuffle=True"),
    (lambda: bp.SubjectKFold(2, shuffle=True, random_state=-1), "`random_state` is -1"),
    (lambda: bp.SubjectKFold(2, stratify=[1, 2]), "the name of a metadata column"),
    (lambda: bp.SampleKFold(2, n_repeats=0, shuffle=True), "n_repeats is 0"),
    (lambda: bp.SubjectShuffleSplit(0), "n_splits is 0"),
    (lambda: bp.SubjectShuffleSplit(test_size=1.5), "test_size is 1.5; expected a share between"),
    (lambda: bp.SubjectShuffleSplit(test_size=1.0), "test_size is 1.0"),
    (lambda: bp.SubjectShuffleSplit(test_size=0), "test_size is 0"),
    (lambda: bp.SubjectShuffleSplit(train_size=True), "train_size is True"),
    (lambda: bp.SampleShuffleSplit(train_size="half"), "train_size is 'half'"),
    (lambda: bp.SampleShuffleSplit(train_size=np.nan), "train_size is nan"),
    (lambda: bp.SampleShuffleSplit(test_size=0.7, train_size=0.7), "the shares are 1.4 together"),
    (lambda: bp.TrainValidationTest(0.6, 0.6), "the shares are 1.2 together"),
    (lambda: bp.TrainValidationTest(None), "validation_size is None"),
    (lambda: bp.TrainValidationTest(unit="person"), "unit is 'person'"),
    (lambda: bp.ProbeGallerySplit(), "neither n_gallery nor enrol is given"),
    (lambda: bp.ProbeGallerySplit(1.0), "n_gallery is 1.0"),
    (lambda: bp.ProbeGallerySplit(1, too_few="keep"), "expected one of 'raise', 'enrol'"),
    (lambda: bp.ProbeGallerySplit(1, quality=[1, 2]), "expected the name of a metadata column"),
    (lambda: bp.ProbeGallerySplit(quality="q", enrol={"s": 1}), "the number of templates to enrol"),
    (lambda: bp.ProbeGallerySplit(enrol="session"), "expected a mapping of column to value"),
    (lambda: bp.ProbeGallerySplit(1, by="camera"), "by is 'camera'; expected 'subject'"),
    (lambda: bp.ProbeGallerySplit(1, by=3), "by is 3"),
    (lambda: bp.ProbeGallerySplit(enrol={}), "expected a mapping of column to value"),
    (lambda: bp.ProbeGallerySplit(1, quality="q", n_repeats=2), "all repeats would be the same"),
    (lambda: bp.ProbeGallerySplit(enrol={"s": 1}, n_repeats=2), "all repeats would be the same"),
    (lambda: bp.EnrolledSplit(bp.ProbeGallerySplit(1, n_repeats=2)), "draws the galleries, too"),
    (lambda: bp.EnrolledSplit(1), "expected a ProbeGallerySplit"),
    (lambda: bp.EnrolledSplit(bp.ProbeGallerySplit(1), unenrolled=0.0), "unenrolled is 0.0"),
    (lambda: bp.PredefinedFolds([]), "fold_of_sample is empty"),
    (lambda: bp.PredefinedFolds([0, None]), "missing"),
]


@pytest.mark.parametrize(("make", "message"), WRONG_ARGUMENTS, ids=[m for _, m in WRONG_ARGUMENTS])
def test_wrong_arguments(make, message):
    with pytest.raises(be.DataError, match=message):
        make()


WRONG_DATA = [
    (bp.GalleryKFold(3), {"y": list("aaabb")}, r"1 of 2 subjects.*'b'.*give at most 2 folds"),
    (bp.GalleryKFold(3), {"y": list("aaab")}, "or draw galleries by ProbeGallerySplit"),
    (bp.SubjectKFold(4), {"y": list("aabbc")},
     "4 folds are asked for, but there are only 3 subjects"),
    (bp.SubjectKFold(2), {"y": list("aaa")}, "only one subject; expected at least one to train on"),
    (bp.SampleKFold(4), {"X": range(3)}, "only 3 samples; each fold needs one"),
    (bp.SampleKFold(4), {"X": range(1)}, "only one sample"),
    (bp.SubjectKFold(2), {"X": range(3)}, "no subjects are given; pass the subject of each"),
    (bp.SubjectKFold(2), {}, "nothing to divide"),
    (bp.SubjectKFold(2), {"y": []}, "there are no samples"),
    (bp.SubjectKFold(2), {"y": 5}, "y is int; expected one entry a sample"),
    (bp.SubjectKFold(2), {"X": np.float64(1)}, "expected one entry a sample"),
    (bp.SubjectKFold(2), {"X": range(3), "y": list("ab")}, "X has 3, y has 2 samples"),
    (bp.SubjectKFold(2), {"y": ["a", None, "b"]}, "1 missing label"),
    (bp.SubjectKFold(2), {"y": ["a", ["b"]]}, "expected a hashable value"),
    (bp.SubjectKFold(2), {"y": np.ones((3, 2))}, "expected one dimension"),
    (bp.SubjectKFold(2, stratify="sex"), {"y": list("abc")}, "but no metadata are given"),
    (bp.SubjectKFold(2, stratify="sex"), {"y": list("abc"), "meta": {"sex": ["f", None, "m"]}},
     r"meta\['sex'\] has 1 missing value .* at position 1; every template needs one"),
    (bp.SubjectKFold(2, stratify="sex"), {"y": list("abc"), "meta": {"sex": ["f"]}},
     "has 1 value; expected 3"),
    (bp.SubjectKFold(2, stratify="sex"), {"y": list("abc"), "meta": 5}, "expected a mapping"),
    (bp.SubjectShuffleSplit(test_size=0.9), {"y": list("abc")},
     "the sizes ask for train 0, test 3 of 3 subjects; each part needs at least one"),
    (bp.SampleShuffleSplit(test_size=3, train_size=3), {"X": range(5)},
     "train 3, test 3 of 5 samples"),
    (bp.SubjectShuffleSplit(train_size=0.1), {"y": list("abc")}, "train 0, test 3 of 3 subjects"),
    (bp.TrainValidationTest(0.5, 0.5), {"y": list("abcd")},
     "train 0, validation 2, test 2 of 4 subjects"),
    (bp.ProbeGallerySplit(2), {"y": list("aabbbc")},
     r"2 of 3 subjects have too few templates \('a', 'c'\): each needs 2 to enrol and one to"),
    (bp.ProbeGallerySplit(1, too_few="probe"), {"y": list("abc")}, "no gallery left: all subjects"),
    (bp.ProbeGallerySplit(1, too_few="enrol"), {"y": list("abc")}, "no probes left: all subjects"),
    (bp.ProbeGallerySplit(1, too_few="drop"), {"y": list("abc")}, "no gallery left"),
    (bp.ProbeGallerySplit(enrol={"s": 1}), {"y": list("aabb"), "meta": {"s": [1, 1, 1, 2]}},
     r"\('a'\): each needs 1 to enrol by metadata and another to probe"),
    (bp.EnrolledSplit(bp.ProbeGallerySplit(1), unenrolled=2), {"y": list("aabb")},
     "unenrolled is 2: 2 of 2 subjects; at least one has to be enrolled"),
    (bp.EnrolledSplit(bp.ProbeGallerySplit(1), unenrolled=1), {"y": list("aabbc")},
     "1 of 3 subjects have too few templates"),  # whoever is drawn
    (bp.PredefinedFolds([0, 1]), {"X": range(3)}, "folds are given for 2 samples, but there are 3"),
    (bp.Experiment(4), {"y": list("abcd")}, "the sizes ask for train 4, test 0 of 4 subjects"),
    (bp.Experiment(0.5, gallery_templates=2), {"y": list("aabbccdd")},
     "Experiment: 2 of 2 subjects have too few"),
    (bp.Experiment(0.5, None, 1, 2), {"y": list("aabbccdd")}, "unenrolled is 2: 2 of 2 subjects"),
]  # fmt: skip


@pytest.mark.parametrize(("splitter", "given_data", "message"), WRONG_DATA)
def test_what_cannot_be_done_is_refused_at_once(splitter, given_data, message):
    with pytest.raises(be.DataError, match=message):
        splitter.split(**given_data)


def test_a_splitter_of_ones_own_is_given_the_metadata():
    class Sessions:
        def split(self, X, y=None, groups=None, *, meta=None):
            first = meta["session"] == 1
            yield bp.TrainTest(np.flatnonzero(first), np.flatnonzero(~first))

    scores = be.simulate(20, 4, sessions=2, random_state=1)
    first = scores.probe_meta["session"] == 1
    pair = np.flatnonzero(first), np.flatnonzero(~first)
    ds = be.cross_evaluate(scores, Sessions())
    of_listed_splits = be.cross_evaluate(scores, [pair])
    assert ds.far.equals(of_listed_splits.far) and ds.threshold.equals(of_listed_splits.threshold)
    expected = be.evaluate(scores[pair[1]])["verification/single"]
    assert be.repeat(scores, Sessions())["verification/single"].eer.values == expected.eer.values
