"""The lecture's tree of partitions keeps its promises."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bioeval import DataError
from bioeval.partition import Experiment


@pytest.mark.slow
@given(
    sizes=st.lists(st.integers(1, 5), min_size=8, max_size=14),
    train=st.sampled_from((None, 0, 0.3, 2)),
    validation=st.sampled_from((None, 0.2, 2)),
    templates=st.sampled_from((None, 1, 2, 0.5)),
    unenrolled=st.sampled_from((None, 1, 0.3)),
    too_few=st.sampled_from(("enrol", "probe", "drop")),
    seed=st.integers(0, 2**31),
)
def test_every_part_is_what_it_promises(
    sizes, train, validation, templates, unenrolled, too_few, seed
):
    subject = np.repeat(np.arange(len(sizes)), sizes)
    subject = np.array([f"s{k}" for k in subject])[
        np.random.default_rng(seed).permutation(len(subject))
    ]
    unenrolled = None if templates is None else unenrolled
    experiment = Experiment(
        train, validation, templates, unenrolled, too_few=too_few, repeats=2, random_state=seed
    )
    try:
        splits = list(experiment.split(y=subject))
    except DataError as error:  # a part may have nobody with templates enough
        assert any(words in str(error) for words in ("left:", "at least one has to be enrolled"))
        return
    total = len(sizes)
    for parts in splits:
        people = {name: set(subject[index]) for name, index in parts._asdict().items()}
        test = set(subject) - people["train"] - people["validation"]
        assert not people["train"] & people["validation"]
        expected = train or 0
        expected = expected if isinstance(expected, int) else math.floor(expected * total)
        assert len(people["train"]) == expected
        expected = validation or 0
        expected = expected if isinstance(expected, int) else math.ceil(expected * total)
        assert len(people["validation"]) == expected
        deciding_people = people["validation"] or people["train"]
        for people_of_sets, gallery, probe in (
            (test, parts.gallery, parts.probes),
            (deciding_people, parts.threshold_gallery, parts.threshold_probes),
        ):
            assert set(subject[gallery]) | set(subject[probe]) <= people_of_sets
            if templates is None:
                assert (gallery == probe).all() and set(subject[probe]) == people_of_sets
                continue
            assert not set(gallery) & set(probe)
            enrolled = set(subject[gallery])
            if templates in (1, 2) and too_few != "enrol":
                assert all((subject[gallery] == name).sum() == templates for name in enrolled)
            if unenrolled is None and too_few != "probe":
                assert set(subject[probe]) <= enrolled
        if unenrolled is not None and too_few == "enrol":
            expected_unenrolled = (
                unenrolled if isinstance(unenrolled, int) else math.ceil(unenrolled * len(test))
            )
            unenrolled_probes = test - set(subject[parts.gallery])
            assert len(unenrolled_probes) == expected_unenrolled
            assert all(
                (subject[parts.probes] == name).sum() == (subject == name).sum()
                for name in unenrolled_probes
            )


@given(
    sizes=st.lists(st.integers(1, 5), min_size=6, max_size=14),
    templates=st.sampled_from((1, 2, 0.5)),
    enrolled=st.sampled_from((1, 3, 0.5, 0.99)),
    probes=st.sampled_from((None, 1, 2)),
    too_few=st.sampled_from(("probe", "drop", "raise")),
    seed=st.integers(0, 2**31),
)
def test_a_number_of_subjects_is_enrolled(sizes, templates, enrolled, probes, too_few, seed):
    subject = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(sizes)), sizes))
    experiment = Experiment(
        gallery_templates=templates, enrolled=enrolled, probe_templates=probes, too_few=too_few,
        repeats=2, random_state=seed,
    )  # fmt: skip
    least = 2 if templates == 0.5 else templates + 1
    eligible = {k for k, size in enumerate(sizes) if size >= least}
    number = enrolled if isinstance(enrolled, int) else math.floor(enrolled * len(eligible))
    if (too_few == "raise" and len(eligible) < len(sizes)) or not 1 <= number <= len(eligible):
        words = "too few templates" if too_few == "raise" else "have templates enough"
        with pytest.raises(DataError, match=f"{words}|have templates enough"):
            list(experiment.split(y=subject))
        return
    assert experiment.impostors == "unenrolled"
    for parts in experiment.split(y=subject):
        enrolled_people = set(subject[parts.gallery])
        assert len(enrolled_people) == number and enrolled_people <= eligible
        assert not set(parts.gallery) & set(parts.probes)
        for k, size in enumerate(sizes):
            probing = int((subject[parts.probes] == k).sum())
            unused = size - int((subject[parts.gallery] == k).sum())
            if k in enrolled_people:
                assert probing == (unused if probes is None else min(unused, probes))
            else:
                assert probing == (0 if too_few == "drop" and k not in eligible else size)


def test_as_many_are_enrolled_where_the_threshold_is_chosen():
    subject = np.repeat(np.arange(40), 3)
    experiment = Experiment(0.5, None, 1, enrolled=5, probe_templates=1, random_state=0)
    (parts,) = experiment.split(y=subject)
    for gallery, probe in (
        (parts.gallery, parts.probes),
        (parts.threshold_gallery, parts.threshold_probes),
    ):
        assert len(gallery) == 5
        assert len(probe) == 5 + 15 * 3


def test_galleries_by_metadata():
    subject, session = np.repeat(list("abcdef"), 4), np.tile([1, 1, 2, 2], 6)
    experiment = Experiment(0.5, None, {"session": 1}, 1, repeats=3, random_state=1)
    for parts in experiment.split(y=subject, meta={"session": session}):
        assert (session[parts.gallery] == 1).all()
        enrolled = np.isin(subject[parts.probes], subject[parts.gallery])
        assert (session[parts.probes][enrolled] == 2).all()
        assert np.unique(subject[parts.probes][~enrolled], return_counts=True)[1].tolist() == [4]


def test_an_experiment_is_the_same_everywhere():
    experiment = Experiment(2, 2, 1, 1, repeats=2, random_state=2024)
    splits = [
        "".join("abcdefgh"[k // 2] for k in index)
        for parts in experiment.split(y=np.repeat(list("abcdefgh"), 2))
        for index in (parts.train, parts.validation, parts.gallery, parts.probes)
    ]
    assert splits == GOLDEN


# Made by this library, once: another partition means that every seeded experiment has changed.
GOLDEN = ["aaff", "ccdd", "beg", "beghh", "ddff", "aabb", "ceh", "ceggh"]


ONE = {"gallery_templates": 1}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"train": 1.5}, "train_size is 1.5; expected a share"),
        ({"train": 0.6, "validation": 0.6}, "the shares are 1.2 together"),
        ({"gallery_templates": 0}, "gallery_templates is 0"),
        ({"gallery_templates": 2.5}, "gallery_templates is 2.5"),
        ({"gallery_templates": {"quality": "q", "number": 0}}, "number in gallery_templates is 0"),
        ({"gallery_templates": {"quality": 3, "number": 1}}, "quality is int; expected the name"),
        ({"unenrolled": 0.3}, "`unenrolled` is 0.3, which needs `gallery_templates=2`"),
        ({"unenrolled": -1} | ONE, "unenrolled is -1"),
        ({"enrolled": 3}, "`enrolled` is 3, which needs `gallery_templates=2`"),
        ({"enrolled": 1.5} | ONE, "enrolled is 1.5"),
        ({"enrolled": 3, "unenrolled": 0.2} | ONE, "which needs `unenrolled=0`"),
        ({"enrolled": 3, "too_few": "enrol"} | ONE, "enrols all with too few"),
        ({"probe_templates": 1}, "`probe_templates` is 1, which needs `gallery_templates=2`"),
        ({"probe_templates": 0} | ONE, "n_probe is 0"),
        ({"too_few": "keep"} | ONE, "too_few"),
        ({"train": 0.5, "unit": "template"}, "unit is 'template'; expected one of 'subject'"),
        ({"train": 0.5, "unseen": 0.3}, '`unseen` is 0.3, which needs `unit="sample"`'),
        ({"train": 0.5, "unit": "sample", "unseen": 1.5}, "unseen is 1.5"),
        ({"unit": "sample"}, "`unit` is 'sample', which needs `train=0.5`"),
        ({"repeats": 0}, "repeats"),
        ({"random_state": "x"}, "random_state"),
    ],
)
def test_arguments_that_cannot_be(given, words):
    with pytest.raises(DataError, match=words):
        Experiment(**given)


# ------------------------------------------------------------------------ training by sample


def share_of(size, n, up):
    """A size in templates, by its decimal value."""
    if isinstance(size, int):
        return size
    exact = Fraction(str(size)) * n
    return math.ceil(exact) if up else math.floor(exact)


@given(
    sizes=st.lists(st.integers(1, 6), min_size=6, max_size=12),
    train=st.sampled_from((None, 0.5, 0.2, 0.7, 2)),
    validation=st.sampled_from((None, 0.3, 1)),
    unseen=st.sampled_from((None, 0, 0.3, 2)),
    seed=st.integers(0, 2**31),
)
def test_training_by_sample(sizes, train, validation, unseen, seed):
    rng = np.random.default_rng(seed)
    subject = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    people_with_two = sum(size > 1 for size in sizes)
    options = {"unit": "sample", "unseen": unseen, "random_state": seed}
    if not train and not validation:
        with pytest.raises(DataError, match="is 'sample', which needs `train"):
            Experiment(train, validation, **options)
        return
    unseen_people = share_of(unseen or 0, people_with_two, up=True)
    experiment = Experiment(train, validation, repeats=2, **options)
    if unseen_people >= people_with_two:
        with pytest.raises(DataError, match=f"of the {people_with_two} subjects with two"):
            experiment.split(y=subject)
        return
    for parts in experiment.split(y=subject):
        test = np.union1d(parts.gallery, parts.probes)
        all_parts = np.concatenate([parts.train, parts.validation, test])
        assert sorted(all_parts) == list(range(len(subject)))  # each template in one part
        trained_people = set(subject[parts.train]) | set(subject[parts.validation])
        assert len(trained_people) == people_with_two - unseen_people
        for k, templates in enumerate(sizes):
            trained, validated = ((subject[x] == k).sum() for x in (parts.train, parts.validation))
            if k not in trained_people:
                assert (trained, validated) == (0, 0)
                continue
            train_number = (
                min(max(share_of(train, templates, up=False), 1), templates - 1) if train else 0
            )
            validation_number = (
                min(share_of(validation, templates, up=True), templates - 1 - train_number)
                if validation
                else 0
            )
            assert (trained, validated) == (train_number, validation_number)


def test_the_best_templates_of_each_part_are_enrolled():
    subject = np.repeat(list("abcdef"), 4)
    sharpness = np.array([1, 3, 3, 2] * 6)
    best = {"quality": "sharpness", "number": 2}
    experiment = Experiment(0.5, None, best, repeats=3, random_state=1)
    for parts in experiment.split(y=subject, meta={"sharpness": sharpness}):
        for gallery, probe in (
            (parts.gallery, parts.probes),
            (parts.threshold_gallery, parts.threshold_probes),
        ):
            assert set(gallery % 4) == {1, 2}
            assert set(probe % 4) == {0, 3}
    by_sample = Experiment(2, None, {**best, "number": 1}, unit="sample", random_state=4)
    for parts in by_sample.split(y=subject, meta={"sharpness": sharpness}):
        for enrolled in parts.gallery:
            own = [
                i
                for i in np.union1d(parts.gallery, parts.probes)
                if subject[i] == subject[enrolled]
            ]
            assert enrolled == max(own, key=lambda i: (sharpness[i], -i))


@pytest.mark.parametrize("templates", [None, 1])
@pytest.mark.parametrize("sizes", [{"train": 0.5}, {"train": 9, "validation": 0.2}])
def test_each_part_has_its_share_of_each_group(templates, sizes):
    subject = np.repeat([f"s{k:02}" for k in range(30)], 3)
    sex = np.repeat(np.arange(30) % 3 == 0, 3)
    options = {**sizes, "gallery_templates": templates, "random_state": 3}
    plain, stratified = (
        Experiment(**options, repeats=20, stratify=column) for column in (None, "sex")
    )
    shares = []
    for parts in stratified.split(y=subject, meta={"sex": sex}):
        test = np.union1d(parts.probes, parts.gallery)
        for part in filter(len, (parts.train, parts.validation, test)):
            people = np.unique(subject[part])
            women = np.unique(subject[part][sex[part]])
            assert abs(len(women) - len(people) / 3) <= 1
        shares.append(tuple(parts.train))
    assert len({*shares}) == 20
    assert [len(x.train) for x in plain.split(y=subject)] == [*map(len, shares)]
    with pytest.raises(DataError, match="needs `train=0.5`"):
        Experiment(stratify="sex")
    with pytest.raises(DataError, match='needs `unit="subject"`'):
        Experiment(0.5, unit="sample", stratify="sex")
