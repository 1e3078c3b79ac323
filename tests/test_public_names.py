"""The public names of Scores stay as they are, and few."""

import inspect
import re

import numpy as np
import pytest
from optional import optional_import

import bioeval as be
from bioeval import protocol

SCORES = """
    from_embeddings from_pairs from_top_k at_pairs
    values shape dtype kind name layout subjects probe_labels gallery_labels probe_ids gallery_ids
    probe_meta gallery_meta probe_names gallery_names distractor_ids mask nan
    fingerprint completeness select exclude excluding replace with_mask with_values
"""

# Names for the package itself: see "The inner interface" in CONTRIBUTING.md.
INNER = """
    cells codes sides are_labelled exclusions has_mask streams memory loaded with_codes with_pairs
    with_remarks pair_distances
    remarks origin metric reading claims claim_attempts is_derived
    junk_ids no_person_ids keys pair_keys layout_in_words doubt_of_square failures gallery_order
"""


MOST_OF_SCORES, MOST_OF_PAIRS, MOST_OF_LISTS = 30, 9, 8  # to be raised only with a reason


def scores_by_layout() -> list[be.Scores]:
    """Return a square matrix, a list of pairs and lists of nearest templates."""
    square = be.simulate(5, 2)
    people, names = [["a", "a"], ["a", "b"]], [["p", "q"], ["q", "r"]]
    pairs = be.Scores.from_pairs([0.1, 0.8], [1, 0], pair_templates=names, subjects=people)
    lists = be.Scores.from_top_k([[1, 0]], ["a"], ["a", "b"], distances=[[1.0, 2.0]])
    return [square, pairs, lists]


def is_available(scores: be.Scores, name: str) -> bool:
    try:
        return hasattr(scores, name)
    except be.ProtocolError:  # the error names an alternative
        return True


def test_scores_show_few_names():
    names_of_square, names_of_pairs, names_of_lists = (
        {x for x in (*dir(scores), *vars(scores)) if x[0] != "_" and is_available(scores, x)}
        for scores in scores_by_layout()
    )
    assert names_of_square == {*SCORES.split(), *INNER.split()}
    assert len({*SCORES.split()}) <= MOST_OF_SCORES
    assert len(names_of_pairs - names_of_square) <= MOST_OF_PAIRS
    assert len(names_of_lists - names_of_square) <= MOST_OF_LISTS


def test_a_name_that_scores_lack_is_an_error():
    scores = be.simulate(5, 2)
    with pytest.raises(AttributeError, match="'Scores' object has no attribute 'no_such_name'"):
        scores.no_such_name  # noqa: B018
    assert not hasattr(scores, "_no_such_name")


def test_an_error_within_a_property_of_scores_is_not_hidden(monkeypatch):
    monkeypatch.setattr(be.Scores, "values", property(lambda self: self.mask.no_such_name))
    with pytest.raises(AttributeError, match="'NoneType' object has no attribute 'no_such_name'"):
        be.simulate(5, 2).values  # noqa: B018


def test_no_public_object_shows_an_address():
    plt = optional_import("matplotlib.pyplot")
    scores, drawn = be.simulate(8, 3, random_state=1), np.random.default_rng(1)
    sizes = {"train_size": 4, "test_size": 2}
    listed = [
        scores,
        be.Measure("one", lambda _: 1.0),
        protocol.load("course-all-vs-all"),
        be.set_options(progress=lambda *_: None),
        be.check_data(scores),
        be.explain(scores, 0, threshold=1),
        be.make_scorer(lambda _: 1.0),
        be.datasets.faces(),
        be.plot.roc(be.verification(scores)),
        be.plot.matrix(scores),
        be.stats.IntervalMethod("subject-bootstrap", random_state=drawn),
        be.stats.people_counts(scores, [1.0]),
        be.stats.nadeau_bengio([0.1, 0.2], **sizes),
        be.partition.LeaveOneGroupOut("session"),
        be.partition.PredefinedFolds([0, 1]),
        be.partition.PredefinedPairFolds([0, 1]),
        be.partition.ProbeGallerySplit(1, random_state=drawn),
        be.partition.EnrolledSplit(be.partition.ProbeGallerySplit(1), random_state=drawn),
        be.partition.Experiment(train=0.5, random_state=drawn),
    ]
    plt.close("all")
    be.set_options(progress=None)
    classes = [
        x
        for module in (be, be.partition, be.plot, be.stats, be.datasets)
        for x in (getattr(module, name) for name in dir(module))
        if inspect.isclass(x) and not issubclass(x, Exception)
    ]
    for each in {*classes} - {*map(type, listed)}:
        parameters = inspect.signature(each).parameters
        random = {"random_state": drawn, "shuffle": True}
        options = {x: y for x, y in random.items() if x in parameters}
        needed = [x for x in parameters.values() if x.default is inspect.Parameter.empty]
        listed.append(each(*[np.array([0]) for _ in needed], **options))
    for x in listed:
        assert not re.search(" at 0[xX]", repr(x)), repr(x)
        assert type(x).__repr__ is not object.__repr__
