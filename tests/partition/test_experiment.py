"""The lecture's tree of partitions keeps its promises."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bioeval.base.errors import DataError
from bioeval.partition import Experiment


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
    n = len(sizes)
    for parts in splits:
        people = {name: set(subject[index]) for name, index in parts._asdict().items()}
        test = set(subject) - people["train"] - people["validation"]
        assert not people["train"] & people["validation"]
        expected = 0 if not train else train if isinstance(train, int) else math.floor(train * n)
        assert len(people["train"]) == expected
        expected = validation or 0
        expected = expected if isinstance(expected, int) else math.ceil(expected * n)
        assert len(people["validation"]) == expected
        chosen = people["validation"] or people["train"]
        for who, gallery, probe in (
            (test, parts.gallery, parts.probe),
            (chosen, parts.threshold_gallery, parts.threshold_probe),
        ):
            assert set(subject[gallery]) | set(subject[probe]) <= who
            if templates is None:
                assert (gallery == probe).all() and set(subject[probe]) == who
                continue
            assert not set(gallery) & set(probe)
            enrolled = set(subject[gallery])
            if templates in (1, 2) and too_few != "enrol":
                assert all((subject[gallery] == name).sum() == templates for name in enrolled)
            if unenrolled is None and too_few != "probe":
                assert set(subject[probe]) <= enrolled
        if unenrolled is not None and too_few == "enrol":
            out = unenrolled if isinstance(unenrolled, int) else math.ceil(unenrolled * len(test))
            strangers = test - set(subject[parts.gallery])
            assert len(strangers) == out
            assert all(
                (subject[parts.probe] == name).sum() == (subject == name).sum()
                for name in strangers
            )
    longer = Experiment(
        train, validation, templates, unenrolled, too_few=too_few, repeats=3, random_state=seed
    )
    try:
        again = list(longer.split(y=subject))[:2]
    except DataError:
        return
    for one, other in zip(splits, again, strict=True):
        assert all((a == b).all() for a, b in zip(one, other, strict=True))


def test_galleries_by_metadata():
    subject, session = np.repeat(list("abcdef"), 4), np.tile([1, 1, 2, 2], 6)
    experiment = Experiment(0.5, None, {"session": 1}, 1, repeats=3, random_state=1)
    for parts in experiment.split(y=subject, meta={"session": session}):
        assert (session[parts.gallery] == 1).all()
        enrolled = np.isin(subject[parts.probe], subject[parts.gallery])
        assert (session[parts.probe][enrolled] == 2).all()
        assert np.unique(subject[parts.probe][~enrolled], return_counts=True)[1].tolist() == [4]


def test_an_experiment_is_the_same_everywhere():
    experiment = Experiment(2, 2, 1, 1, repeats=2, random_state=2024)
    found = [
        "".join("abcdefgh"[k // 2] for k in index)
        for parts in experiment.split(y=np.repeat(list("abcdefgh"), 2))
        for index in (parts.train, parts.validation, parts.gallery, parts.probe)
    ]
    assert found == GOLDEN


# Made by this library, once: another partition means that every seeded experiment has changed.
GOLDEN = ["gghh", "bbee", "acf", "acddf", "ddff", "aacc", "egh", "bbegh"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"train": 1.5}, "train_size is 1.5; expected a share"),
        ({"train": 0.6, "validation": 0.6}, "the shares are 1.2 together"),
        ({"gallery_templates": 0}, "gallery_templates is 0"),
        ({"gallery_templates": 2.5}, "gallery_templates is 2.5"),
        ({"unenrolled": 0.3}, "unenrolled is 0.3 without gallery_templates"),
        ({"gallery_templates": 1, "unenrolled": -1}, "unenrolled is -1"),
        ({"gallery_templates": 1, "too_few": "keep"}, "too_few"),
        ({"repeats": 0}, "repeats"),
        ({"random_state": "x"}, "random_state"),
    ],
)
def test_arguments_that_cannot_be(given, words):
    with pytest.raises(DataError, match=words):
        Experiment(**given)


def test_data_that_cannot_be_divided_so():
    subject = np.repeat(list("abcd"), 2)
    for experiment, words in (
        (Experiment(4), "the sizes ask for test 0, train 4 of 4 subjects"),
        (Experiment(0.5, gallery_templates=2), "Experiment: 2 of 2 subjects have too few"),
        (Experiment(0.5, None, 1, 2), "unenrolled is 2, which is 2 of 2 subjects"),
    ):
        with pytest.raises(DataError, match=words):
            experiment.split(y=subject)
