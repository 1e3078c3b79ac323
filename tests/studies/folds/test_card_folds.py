"""Cards with folds: what they ask for is what is done, from Python and on the command line."""

from dataclasses import replace

import naive
import numpy as np
import pytest
from reference import one_thread  # noqa: F401

import bioeval as be
from bioeval import protocol

CARD = """
schema = 1
name = "mine"
title = "Mine"
summary = "A card of a test."
layout = "all-against-all"
[source]
text = "a test"
[verification]
templates = ["single"]
"""


def card(more: str, layout: str = "all-against-all"):
    return protocol.parse(CARD.replace("all-against-all", layout) + more)


@pytest.fixture(scope="module")
def scores():
    return be.simulate(20, 4, random_state=3)


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ('by = "sample-folds"\nfolds = 2', ("SampleKFold", (1, 2))),
        ('by = "dev-eval"\nrepeats = 3\ntest_size = 0.25', ("SubjectShuffleSplit", (3, 1))),
    ],
)
def test_other_divisions(scores, more, expected):
    tree = be.evaluate(scores, card(f"[partition]\n{more}\n"))
    result = tree["verification/single"].to_dataset()
    assert expected[0] in result.attrs["splitter"]
    assert (result.sizes["repeat"], result.sizes["fold"]) == expected[1]
    if "0.25" in more:
        assert (result.subjects.sel(part="test") == 5).all()


def test_folds_in_a_column(scores):
    with_parts = be.Scores(
        scores.values, scores.probe_labels, probe_meta={"part": np.arange(80) // 4 % 2}
    )
    fold_card = card('[partition]\nby = "given-folds"\ncolumn = "part"\n')
    result = be.evaluate(with_parts, fold_card)["verification/single"]
    assert result.sizes["fold"] == 2
    with pytest.raises(be.DataError, match="'part'"):
        be.evaluate(scores, fold_card)


def test_what_folds_do_not_have_is_refused(scores):
    fold_card = protocol.load("course-kfold")
    with pytest.raises(be.ProtocolError, match=r"leave out `interval` .* card.s \[uncertainty\]"):
        be.evaluate(scores, fold_card, interval="people")
    with pytest.raises(be.ProtocolError, match="leave out `n_thresholds` and `max_rank`"):
        be.evaluate(scores, fold_card, n_thresholds=10, max_rank=3)


def test_shipped_cards_with_folds(scores):
    for name in ("course-kfold", "dev-eval", "lfw-blufr"):
        tree = be.evaluate(scores, name)
        assert {n.path.strip("/").partition("/")[0] for n in tree.leaves} == {
            *protocol.load(name).tasks
        }


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("[decision]\n", "needs [partition], and the card has no"),
        ("[uncertainty]\n", "needs [partition], and the card has no"),
        ("[partition]\n", "[partition] by is missing"),
        ('[partition]\nby = "subject-folds"\nfolds = 1\n', "folds = 1; expected an integer >= 2"),
        ('[partition]\nby = "dev-eval"\n[decision]\nrule = "far"\n', "needs far"),
        ('[partition]\nby = "dev-eval"\n[decision]\nrule = "fixed"\n', "needs value"),
        (
            '[partition]\nby = "dev-eval"\n[decision]\nrule = "cost"\ncost = [1, 2]\n',
            "cost holds 2 numbers",
        ),
        ('[partition]\nby = "subject-fold"\n', "Did you mean 'subject-folds'"),
        ('[partition]\nby = "dev-eval"\nfolds = 5\n', 'folds = 5 has no meaning with by = "dev'),
        ('[partition]\nby = "subject-folds"\ncolumn = "x"\n', 'column = "x" has no meaning'),
        ('[partition]\nby = "given-folds"\n', "needs column"),
        ('[partition]\nby = "dev-eval"\n[decision]\nfar = 0.1\n', 'no meaning with rule = "eer"'),
        ('[open_set]\nties = "expected"\n[partition]\nby = "dev-eval"\n', "no meaning in folds"),
        ('[open_set]\ngallery = "single"\n[partition]\nby = "dev-eval"\n', "gallery = "),
        ('[closed_set]\nmax_rank = 3\n[partition]\nby = "dev-eval"\n', "max_rank = 3"),
        ('[closed_set]\nunmated = "raise"\n[partition]\nby = "dev-eval"\n', "unmated = "),
        ('[curve]\nn_thresholds = 20\n[partition]\nby = "dev-eval"\n', "n_thresholds = 20"),
        ('[partition]\nby = "dev-eval"\n[uncertainty]\ninterval = "people"\n', "nadeau-bengio"),
        ('[reid]\n[partition]\nby = "dev-eval"\n', "[reid] is not evaluated in folds"),
    ],
)
def test_bad_cards(more, message):
    with pytest.raises(be.CardError) as caught:
        card(more)
    assert message in str(caught.value)


def test_pairs_carry_their_folds(tmp_path):
    rng = np.random.default_rng(0)
    distances, same, fold = rng.random(40), np.arange(40) % 2, np.repeat(["a", "b"], 20)
    pairs = be.Scores.from_pairs(distances, same, pair_folds=fold)
    assert pairs.select([0, 39]).pair_folds.tolist() == ["a", "b"]
    be.save(pairs, tmp_path / "p.npz")
    assert be.load(tmp_path / "p.npz").pair_folds.tolist() == fold.tolist()
    lines = [
        f"{x},{s},{f}" for x, s, f in zip(distances.tolist(), same.tolist(), fold, strict=True)
    ]
    (tmp_path / "p.csv").write_text("\n".join(["distance,genuine,fold", *lines]))
    expected = be.evaluate(pairs, "lfw-view2")["verification/single"].accuracy
    for name in ("p.npz", "p.csv"):
        tree_of_saved = be.evaluate(be.load(tmp_path / name), "lfw-view2")
        np.testing.assert_array_equal(tree_of_saved["verification/single"].accuracy, expected)
    be.save(pairs, tmp_path / "q.csv")
    assert be.load(tmp_path / "q.csv").pair_folds.tolist() == fold.tolist()
    with pytest.raises(be.DataError, match="these pairs have none"):
        be.evaluate(be.Scores.from_pairs(distances, same), "lfw-view2")
    with pytest.raises(be.DataError, match="folds has 2 values"):
        be.Scores.from_pairs(distances, same, pair_folds=[0, 1])


def faces(seed: int = 0, numbers=(9, 7, 5, 4, 3, 3, 2, 2, 2, *[1] * 20)) -> be.Scores:
    """Faces of persons, most of whom have a single face."""
    rng = np.random.default_rng(seed)
    person = rng.permutation(np.repeat(np.arange(len(numbers)), numbers))
    embeddings = rng.normal(size=(len(numbers), 5))[person] + 0.6 * rng.normal(
        size=(len(person), 5)
    )
    return be.Scores.from_embeddings(embeddings, person, metric="l2")


def small(name: str, **changes) -> be.Protocol:
    card = protocol.load(name)
    return replace(card, partition=replace(card.partition, repeats=3, **changes))


def test_lfw_open_set_is_its_definition():
    scores, labels = faces(), faces().probe_labels
    card = small("lfw-open-set", enrolled=6)
    ds = be.evaluate(scores, card)["open_set"].to_dataset()
    experiment = be.partition.Experiment(
        gallery_templates=1, enrolled=6, probe_templates=1, too_few="probe", repeats=3,
        random_state=0,
    )  # fmt: skip
    for repeat, parts in enumerate(experiment.split(y=labels)):
        enrolled = labels[parts.gallery]
        assert len(set(enrolled)) == len(enrolled) == 6
        assert np.isin(labels[parts.probes], enrolled).sum() == 6
        own = scores.values[np.ix_(parts.probes, parts.gallery)]
        for target in (0.1, 0.01):
            result = float(ds.dir_at_far.sel(far_target=target, rank=1).values[repeat, 0])
            expected, _ = naive.dir_at_far(
                target, 1, values=own, probe_labels=labels[parts.probes], gallery_labels=enrolled
            )
            assert result == pytest.approx(float(expected))
    assert ds.genuine_attempts.sel(part="test").values.ravel().tolist() == [6, 6, 6]
    assert not {"threshold", "far", "frr", "dir", "fa"} & set(ds.variables)
    closed = be.evaluate(scores, card)["closed_set"].to_dataset()
    assert (closed.cms.sel(rank=1, part="test") >= ds.dir_at_far.sel(far_target=0.1, rank=1)).all()
    second_result = be.cross_evaluate(
        scores, experiment, task="open_set", rank_unit="subject", threshold=None, ranks=[1],
        far_targets=[0.1, 0.01, 0.001], interval="quantile",
    )  # fmt: skip
    assert second_result.dir_at_far.equals(ds.dir_at_far)


def test_lfw_closed_set_enrols_everybody_once():
    scores, labels = faces(), faces().probe_labels
    card = small("lfw-closed-set")
    ds = be.evaluate(scores, card)["closed_set"].to_dataset()
    people = len(np.unique(labels))
    assert ds.attempts.sel(part="test").values.ravel().tolist() == [len(labels) - people] * 3
    experiment = be.partition.Experiment(
        gallery_templates=1, too_few="enrol", repeats=3, random_state=0
    )
    for repeat, parts in enumerate(experiment.split(y=labels)):
        own = scores.values[np.ix_(parts.probes, parts.gallery)]
        first = labels[parts.gallery][own.argmin(axis=1)] == labels[parts.probes]
        assert ds.cms.sel(rank=1, part="test")[repeat, 0].item() == pytest.approx(first.mean())


def test_a_card_by_sample_is_its_experiment():
    scores = be.simulate(12, 6, random_state=4)
    sharpness = np.random.default_rng(0).random(72)
    scores = be.Scores(
        np.asarray(scores.values), scores.probe_labels, probe_meta={"sharpness": sharpness}
    )
    best = {"quality": "sharpness", "number": 1}
    card_options = {"unseen": 0.25, "gallery_templates": best}
    card = small("course-experiment", unit="sample", unenrolled=None, **card_options)
    tree = be.evaluate(scores, card)
    result = tree["verification/single"].to_dataset()
    experiment = be.partition.Experiment(
        0.5, unit="sample", repeats=3, random_state=0, **card_options
    )
    expected = be.cross_evaluate(scores, experiment, interval="quantile")
    for name in ("fa", "fr", "far", "frr", "threshold"):
        np.testing.assert_array_equal(result[name], expected[name])
    for parts in experiment.split(scores):
        for enrolled in parts.gallery:
            own = np.flatnonzero(scores.probe_labels == scores.probe_labels[enrolled])
            own = np.intersect1d(own, np.union1d(parts.gallery, parts.probes))
            assert sharpness[enrolled] == sharpness[own].max()


@pytest.mark.parametrize("sessions", [[1.0, 2.0], [1, 2], ["1", "2"]])
def test_a_value_of_a_card_is_that_of_a_column_of_any_type(scores, sessions):
    with_sessions = be.Scores(
        scores.values, scores.probe_labels, probe_meta={"session": np.tile(sessions, 40)}
    )
    fields = 'by = "experiment"\ntrain = 0.5\ngallery_templates = "session=1"\nseed = 0\n'
    tree = be.evaluate(with_sessions, card(f"[partition]\n{fields}"))
    ds = tree["verification/single"].to_dataset()
    assert set(ds.genuine_attempts.values.ravel().tolist()) == {10 * 2 * 2}


def test_a_card_takes_no_more_folds_than_people_fill(capsys):
    few_people = be.simulate(9, 3, random_state=1)
    tree = be.evaluate(few_people, "course-kfold")
    for node in tree.leaves:
        assert node.sizes["fold"] == 4  # of two or three people
        (message,) = (x for x in be.messages(node) if x.code == "fewer-folds")
        assert message.arguments.items() >= {"folds": 4, "usual": 10, "there": 9}.items()
    of_20_people = be.evaluate(be.simulate(20, 3, random_state=1), "course-kfold")
    assert "fewer-folds" not in [x.code for x in be.messages(of_20_people)]
    be.show(tree)
    assert "subjects: 6 to 7 in training, 2 to 3 in test" in capsys.readouterr().out


@pytest.mark.parametrize("task", ["open_set", "closed_set"])
def test_galleries_of_both_parts_are_counted(scores, task):
    folds = be.partition.SubjectKFold(3)
    ds = be.cross_evaluate(scores, folds, task=task)
    labels = scores.probe_labels
    expected = [[len(set(labels[part])) for part in parts] for parts in folds.split(scores)]
    assert ds.gallery_subjects.values.tolist() == [expected]
