"""The public names of Scores stay as they are, and few."""

import pickle

import pytest

import bioeval as be

SCORES = """
    from_embeddings from_pairs from_top_k at_pairs
    values shape dtype kind name layout subjects probe_labels gallery_labels probe_ids gallery_ids
    probe_meta gallery_meta probe_names gallery_names distractor_ids mask nan
    fingerprint completeness select exclude excluding replace with_mask with_values
"""

# Names for the package itself: see "The inner interface" in CONTRIBUTING.md.
INNER = """
    cells codes exclusions has_mask streams loaded with_pairs with_remarks pair_distances
    remarks origin metric reading claims claims_title tries is_derived junk_ids no_person_ids
    keys pair_keys layout_in_words doubt_of_square failures gallery_order
"""


MOST_OF_SCORES, MOST_OF_PAIRS, MOST_OF_LISTS = 30, 9, 8  # to be raised only with a reason


def scores_by_layout() -> list[be.Scores]:
    """Return a square matrix, a list of pairs and lists of nearest templates."""
    square = be.simulate(5, 2)
    people, names = [["a", "a"], ["a", "b"]], [["p", "q"], ["q", "r"]]
    pairs = be.Scores.from_pairs([0.1, 0.8], [1, 0], pair_templates=names, subjects=people)
    return [
        square,
        pairs,
        be.Scores.from_top_k([[1, 0]], ["a"], ["a", "b"], distances=[[1.0, 2.0]]),
    ]


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


def test_scores_without_a_name_can_be_pickled():
    scores = be.simulate(5, 2)
    assert pickle.loads(pickle.dumps(scores)).select([1, 0]).shape == (2, 2)


def test_an_error_within_a_property_of_scores_is_not_hidden(monkeypatch):
    monkeypatch.setattr(be.Scores, "values", property(lambda self: self.mask.no_such_name))
    with pytest.raises(AttributeError, match="'NoneType' object has no attribute 'no_such_name'"):
        be.simulate(5, 2).values  # noqa: B018
