"""Pairs with named subjects: folds that share nobody, and numbers that count people."""

import naive
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from strategies import examples_of

import bioeval as be

NAMES = list("abcdefg")


def naive_units(pairs, folds):
    """Divide the subjects in blocks, in the order of their names; return each fold's pairs."""
    people = sorted({name for pair in pairs for name in pair})
    larger = len(people) % folds
    blocks, begin = [], 0
    for k in range(folds):
        end = begin + len(people) // folds + (k < larger)
        blocks.append(people[begin:end])
        begin = end
    result = []
    for block in blocks:
        train, test, crossing = [], [], 0
        for i, (first, second) in enumerate(pairs):
            if first in block and second in block:
                test.append(i)
            elif first in block or second in block:
                crossing += 1
            else:
                train.append(i)
        result.append((train, test, crossing))
    return result


@st.composite
def lists_of_pairs(draw):
    name = st.sampled_from(NAMES)
    pairs = draw(st.lists(st.tuples(name, name), min_size=4, max_size=30))
    pairs += [("a", "a"), ("d", "d"), ("g", "g"), ("a", "b")]
    values = draw(st.lists(st.integers(0, 6), min_size=len(pairs), max_size=len(pairs)))
    return pairs, [v / 4 for v in values]


@settings(max_examples=examples_of(40))
@given(lists_of_pairs(), st.integers(2, 3), st.sampled_from(["distance", "similarity"]))
def test_folds_of_subjects_are_those_of_the_definition(listed, folds, kind):
    pairs, values = listed
    same = [a == b for a, b in pairs]
    scores = be.Scores.from_pairs(values, same, kind=kind, subjects=pairs)
    ds = be.cross_evaluate(scores, be.partition.SubjectKFold(folds))
    for k, (train, test, crossing) in enumerate(naive_units(pairs, folds)):
        fold = ds.isel(repeat=0, fold=k)
        attempts = [
            ([values[i] for i in part if same[i]], [values[i] for i in part if not same[i]])
            for part in (train, test)
        ]
        threshold = naive.threshold_of("eer", *attempts[0], kind)
        for name, part, (genuine, impostor) in zip(
            ("train", "test"), (train, test), attempts, strict=True
        ):
            of_part = fold.sel(part=name)
            assert of_part.genuine_attempts == len(genuine)
            assert of_part.impostor_attempts == len(impostor)
            assert of_part.subjects == len({name for i in part for name in pairs[i]})
            if threshold is not None:
                _, fr, fa, _ = naive.verification_counts(genuine, impostor, [threshold], kind)
                assert (of_part.fr, of_part.fa) == (fr[0], fa[0])
        assert fold.crossing_pairs == crossing
        assert np.isnan(fold.threshold) if threshold is None else fold.threshold == threshold
    left_out = int(ds.crossing_pairs.sum()) // 2
    across = [x.arguments for x in be.messages(ds) if x.code == "pairs-across-parts"]
    expected = [{"pairs": left_out, "tested": len(pairs) - left_out}] if left_out else []
    assert across == expected


def most_disjoint(pairs):
    """Return the size of the largest matching, by trying."""
    if not pairs:
        return 0
    (first, second), *other_pairs = pairs
    disjoint = [pair for pair in other_pairs if not {first, second} & set(pair)]
    return max(most_disjoint(other_pairs), 1 + most_disjoint(disjoint))


@pytest.mark.parametrize("seed", range(4))
def test_disjoint_pairs_are_among_those_compared(seed):
    rng = np.random.default_rng(seed)
    pairs = [(i, i) for i in range(9)] + rng.integers(0, 9, (9 + seed, 2)).tolist()
    same = [a == b for a, b in pairs]
    scores = be.Scores.from_pairs(rng.random(len(pairs)), same, subjects=pairs)
    study = be.study_threshold(scores, 0.5, folds=2, repeats=1)
    compared = [p for p in pairs if p[0] != p[1]]
    assert study.disjoint_pairs == most_disjoint(compared)
    assert study.pairs_of_people == len({frozenset(p) for p in compared})


def two_of_each(n: int = 60, close: float = 0.4):
    """Return two genuine and two impostor pairs (with the next two people) for each person."""
    rng = np.random.default_rng(3)
    subject = np.arange(n)
    subjects = [(i, i) for i in subject for _ in range(2)]
    subjects += [(i, (i + step) % n) for i in subject for step in (1, 2)]
    same = np.array([a == b for a, b in subjects])
    return be.Scores.from_pairs(
        np.where(same, close, 1.0) + 0.3 * rng.normal(size=len(same)), same, subjects=subjects
    )


def test_splitters_by_subject_of_both_libraries():
    from sklearn.model_selection import GroupKFold, KFold

    pairs = two_of_each()
    for splitter in (GroupKFold(3), be.partition.SubjectShuffleSplit(3, random_state=0)):
        assert (be.cross_evaluate(pairs, splitter).crossing_pairs > 0).all()
    three = be.partition.TrainValidationTest(0.3, 0.3, random_state=0)
    assert be.cross_evaluate(pairs, three).crossing_pairs > 0
    by_pair = be.partition.TrainValidationTest(0.3, 0.3, unit="sample", random_state=0)
    with pytest.warns(be.BioevalWarning, match="not those of new people"):
        assert "crossing_pairs" not in be.cross_evaluate(pairs, KFold(3))
    for splitter in (be.partition.SampleKFold(3), by_pair):
        assert "crossing_pairs" not in be.cross_evaluate(pairs, splitter)
    unknown = be.Scores.from_pairs(pairs.values, pairs.genuine)
    for splitter in (GroupKFold(3), three):
        with pytest.raises(be.ProtocolError, match="columns subject_a and subject_b"):
            be.cross_evaluate(unknown, splitter)
    with pytest.raises(be.DataError, match="240 pairs contradict their subjects"):
        be.Scores.from_pairs(pairs.values, ~pairs.genuine, subjects=pairs.pair_subjects)


def left_out(comparison):
    """The pairs of each system that the other one lacks."""
    messages = [x.arguments for x in be.messages(comparison) if x.code == "not-in-common"]
    return {name: number for x in messages for name, number in x["left_out"].items()}


def test_two_systems_are_paired_by_pair():
    """In any order where the subjects identify a pair, else in the same order."""
    pairs = two_of_each(20).select(np.arange(1, 80))
    kept_pairs = [i for i in range(79) if i % 2 == 0 or i >= 39]  # one genuine pair of each
    first = pairs.select(kept_pairs)
    worse = first.values + np.random.default_rng(0).normal(size=len(kept_pairs)) * 0.4
    second = be.Scores.from_pairs(worse, first.genuine, subjects=first.pair_subjects)
    options = {"interval": "people"}
    expected = be.compare(first, second, **options)
    assert expected.attrs["subjects"] == 20
    mixed = np.random.default_rng(1).permutation(len(kept_pairs))
    result = be.compare(first, second.select(mixed), **options)
    assert result.drop_attrs().identical(expected.drop_attrs())
    fewer_scores = be.Scores.from_pairs(
        worse,
        first.genuine,
        subjects=[(x, y + 50 * (x != y)) for x, y in first.pair_subjects.tolist()],
    )
    fewer = be.compare(first, fewer_scores, **options)
    assert left_out(fewer) == {"a": 40, "b": 40}
    with pytest.raises(be.DataError, match="differ at .* the same templates in the same order"):
        be.compare(pairs, pairs.select(np.random.default_rng(1).permutation(79)))
    fewer = be.compare(first, first.select(np.arange(10)), **options)
    assert left_out(fewer) == {"a": 50}
    with pytest.raises(be.ProtocolError, match="needs the subjects of both sides of each pair"):
        be.compare(first, be.Scores.from_pairs(second.values, second.genuine))
