"""Systems that are fitted anew in each fold, and scorers by name and by a function."""

import copy
import pickle

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from limits import blocks_of
from reference import one_thread  # noqa: F401
from scipy import stats
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from strategies import examples_of, matrices

import bioeval as be


class Remembering(TransformerMixin, BaseEstimator):
    """Passes the features on, and writes down what it was fitted on."""

    fitted_on: list[tuple[set, int]] = []

    def fit(self, X, y):
        self.fitted_on.append((set(y.tolist()), len(X)))
        return self

    def transform(self, X):
        return X


@pytest.fixture
def faces():
    rng = np.random.default_rng(1)
    subject = np.repeat([f"s{i:02}" for i in range(24)], 4)
    embeddings = np.repeat(rng.normal(size=(24, 8)), 4, axis=0) + 0.7 * rng.normal(size=(96, 8))
    return embeddings, subject


def test_it_is_fitted_on_the_training_subjects_alone(faces):
    embeddings, subject = faces
    Remembering.fitted_on.clear()
    splitter = be.partition.SubjectKFold(4)
    be.cross_evaluate(embeddings, splitter, y=subject, estimator=Remembering(), metric="l2")
    assert len(Remembering.fitted_on) == 4
    for (subjects_seen, count), (train, _) in zip(
        Remembering.fitted_on, splitter.split(y=subject), strict=True
    ):
        assert subjects_seen == set(subject[train].tolist())
        assert count == len(train)


def test_a_threshold_from_the_validation_part(faces):
    embeddings, subject = faces
    Remembering.fitted_on.clear()
    splitter = be.partition.TrainValidationTest(0.25, 0.25, n_splits=2, random_state=0)
    ds = be.cross_evaluate(embeddings, splitter, y=subject, estimator=Remembering(), metric="l2")
    assert ds.attrs["chosen_on"] == "the validation part of each fold"
    for number, parts in enumerate(splitter.split(y=subject)):
        assert Remembering.fitted_on[number][0] == set(subject[parts.train].tolist())
        part = be.Scores.from_embeddings(
            embeddings[parts.validation], subject[parts.validation], metric="l2"
        )
        rates_of_validation = be.verification(part)
        assert ds.threshold[number, 0].item() == pytest.approx(
            rates_of_validation.eer_threshold.item()
        )
        assert (
            ds.genuine_attempts.sel(part="train")[number, 0] == rates_of_validation.genuine_attempts
        )


def test_bad_systems_are_refused(faces):
    embeddings, subject = faces
    folds = be.partition.SubjectKFold(4)
    with pytest.raises(be.DataError, match="y is missing"):
        be.cross_evaluate(embeddings, folds, estimator=PCA(2))
    with pytest.raises(be.DataError, match=r"not an object with fit\(\)"):
        be.cross_evaluate(embeddings, folds, y=subject, estimator=LinearDiscriminantAnalysis)
    with pytest.raises(be.DataError, match="95 subjects for 96"):
        be.cross_evaluate(embeddings, folds, y=subject[1:], estimator=PCA(2))
    scores = be.Scores.from_embeddings(embeddings, subject)
    with pytest.raises(be.DataError, match="features"):
        be.cross_evaluate(scores, folds, y=subject, estimator=PCA(2))


@pytest.mark.parametrize(
    ("measure", "sign", "name"),
    [("eer", -1, "eer"), ("auc", 1, "auc"), ("frr_at_far", -1, "frr_at_far")],
)
def test_more_is_better(faces, measure, sign, name):
    embeddings, subject = faces
    scorer = pickle.loads(pickle.dumps(be.make_scorer(measure, metric="l2", far_target=0.1)))
    result = be.verification(
        be.Scores.from_embeddings(embeddings, subject, metric="l2"), far_targets=(0.1,)
    )
    expected = sign * result[name].values.ravel()[0]
    assert scorer(Remembering(), embeddings, subject) == pytest.approx(expected)
    assert measure in repr(scorer)


def test_a_search_with_a_scorer_is_cloned_and_pickled():
    for scorer in (be.eer_scorer, be.make_scorer("frr_at_far", metric="l2", far_target=0.01)):
        search = GridSearchCV(PCA(), {"n_components": [1, 4]}, scoring=scorer)
        for copied_search in (
            clone(search),
            pickle.loads(pickle.dumps(search)),
            copy.deepcopy(search),
        ):
            assert copied_search.scoring == scorer
            assert repr(copied_search.scoring) == repr(scorer)
        assert clone(scorer) == scorer


@pytest.mark.parametrize(
    ("labels", "named"),
    [
        ([0, 1], "0 and 1"), ([-1.0, 1.0], "-1.0 and 1.0"), ([False, True], "False and True"),
        (["genuine", "impostor"], "'genuine' and 'impostor'"), (["0", "1"], "'0' and '1'"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("measure", ["eer", "auc", "frr_at_far", "recognition_rate"])
@pytest.mark.cases(2)
def test_classes_of_pairs_are_no_subjects(faces, labels, named, measure):
    """A target of a classifier is refused: no plausible number comes of it."""
    embeddings, _ = faces
    y = np.array(labels)[np.arange(len(embeddings)) % 2]
    options = {"cv": StratifiedKFold(2), "scoring": be.make_scorer(measure)}
    with pytest.raises(be.DataError, match=f"labels {named} of genuine and impostor"):
        cross_val_score(PCA(4, random_state=0), embeddings, y, error_score="raise", **options)
    with pytest.warns(UserWarning, match="expected the subject of each sample"):
        result = cross_val_score(PCA(4, random_state=0), embeddings, y, **options)
    assert np.isnan(result).all()


def test_a_label_of_its_own_for_each_sample_is_no_subject(faces):
    embeddings, subject = faces
    y = np.arange(len(embeddings)) + 0.5
    with pytest.raises(be.DataError, match="a different label for each of"):
        be.eer_scorer(Remembering(), embeddings, y)
    lone = subject == subject[0]
    assert np.isnan(be.eer_scorer(Remembering(), embeddings[lone], subject[lone]))  # one subject


def test_two_people_named_by_numbers_are_subjects_of_a_system_that_knows_more(faces):
    embeddings, subject = faces
    codes = np.unique(subject, return_inverse=True)[1]
    fitted_system = LinearDiscriminantAnalysis().fit(embeddings[codes > 1], codes[codes > 1])
    assert np.isfinite(be.eer_scorer(fitted_system, embeddings[codes < 2], codes[codes < 2]))


def test_a_callable_metric_states_its_kind(faces):
    """Distances and their negatives have equal rates, under the stated kind."""
    embeddings, subject = faces
    embeddings = embeddings - embeddings.mean(axis=0)
    splitter, estimator = be.partition.SubjectKFold(2), PCA(4)

    def far(a, b):
        return np.abs(a[:, None] - b).sum(axis=2)

    def near(a, b):
        return -far(a, b)

    options = {"y": subject, "estimator": estimator}
    result = [
        be.cross_evaluate(embeddings, splitter, metric=metric, kind=kind, **options)
        for metric, kind in ((far, "distance"), (near, "similarity"), ("l1", None))
    ]
    for negated in result[1:]:
        np.testing.assert_allclose(negated["frr"], result[0]["frr"])
    assert result[1].attrs["kind"] == "similarity"
    np.testing.assert_allclose(result[1]["threshold"], -result[0]["threshold"])
    scorers = [be.make_scorer("eer", metric=far, kind="distance"),
               be.make_scorer("eer", metric=near, kind="similarity")]  # fmt: skip
    assert "kind='similarity'" in repr(scorers[1])
    fitted = estimator.fit(embeddings)
    assert scorers[0](fitted, embeddings, subject) == scorers[1](fitted, embeddings, subject) > -0.5
    for call in (
        lambda: be.make_scorer("eer", metric=near),
        lambda: be.cross_evaluate(embeddings, splitter, metric=near, **options),
    ):
        with pytest.raises(
            be.DataError, match='is a function.*`kind="distance"` or `kind="similarity"`'
        ):
            call()


def kept(genuine: np.ndarray, impostor: np.ndarray) -> float:
    """Remember the scores, and return their numbers as a single number."""
    kept.scores = np.sort(genuine), np.sort(impostor)
    return len(genuine) / len(impostor)


@settings(max_examples=examples_of(25))
@given(matrices(masks=("none", "labelled")))
def test_the_function_takes_the_scores_of_all_attempts(case):
    two_classes = naive.attempts_single(**case.naive())
    result = be.make_scorer(kept).of_scores(be.Scores(**case.scores()))
    if not all(map(len, two_classes)):
        assert np.isnan(result)
        return
    assert result == len(two_classes[0]) / len(two_classes[1])
    failed = -np.inf if case.kind == "similarity" else np.inf  # farther than any score
    for scores, attempts in zip(kept.scores, two_classes, strict=True):
        expected = [failed if x is naive.FAILED else float(x) for x in attempts]
        assert scores.dtype == np.float64
        np.testing.assert_array_equal(scores, np.sort(expected))


def test_pairs_and_failed_comparisons():
    values, genuine = [0.1, 0.2, 0.5, np.nan], [True, True, False, False]
    scorer = be.make_scorer(kept)
    assert scorer.of_scores(be.Scores.from_pairs(values, genuine, nan="exclude")) == 2
    scorer.of_scores(be.Scores.from_pairs(values, genuine, nan="reject", kind="similarity"))
    assert [x.tolist() for x in kept.scores] == [[0.1, 0.2], [-np.inf, 0.5]]


@pytest.mark.parametrize("listed", [1 << 18, 0])
def test_a_test_of_scipy_gives_its_statistic(listed):
    scores = be.simulate(12, 3, random_state=1)
    label, values = scores.probe_labels, np.asarray(scores.values)
    same = label[:, None] == label
    genuine, impostor = values[same & ~np.eye(36, dtype=bool)], values[~same]
    with blocks_of(listed=listed):
        result = be.make_scorer(stats.ks_2samp).of_scores(scores)
    assert result == stats.ks_2samp(genuine, impostor).statistic
    less = be.make_scorer(stats.wasserstein_distance, larger_is_better=False)
    assert less.of_scores(scores) == pytest.approx(-stats.wasserstein_distance(genuine, impostor))
    assert be.eer_scorer.of_scores(scores) == -be.verification(scores).eer
    for scorer in (less, be.make_scorer(stats.ks_2samp)):
        assert pickle.loads(pickle.dumps(scorer)) == scorer == copy.deepcopy(scorer)
    assert repr(less) == (
        "make_scorer(wasserstein_distance, metric='cosine', larger_is_better=False)"
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x, y: be.make_scorer("eeer"), "Did you mean 'eer'"),
        (lambda x, y: be.make_scorer(3), "`measure`"),
        (
            lambda x, y: be.make_scorer("eer", larger_is_better=True),
            "larger eer is better is known",
        ),
        (lambda x, y: be.eer_scorer(object(), x, y), "no transform"),
        (lambda x, y: be.eer_scorer(PCA(), x), "y is missing"),
        (lambda x, y: be.make_scorer(kept).of_scores([[1.0]]), "scores is list"),
        *(
            (
                lambda x, y, value=value: be.make_scorer(lambda *_: value).of_scores(
                    be.simulate(5, 2, random_state=1)
                ),
                f"returned {type(value).__name__}; expected a number",
            )
            for value in ("x", None, 1j, np.ones(2))
        ),
    ],
)
def test_bad_scorers_are_refused(faces, call, message):
    with pytest.raises(be.DataError, match=message):
        call(*faces)
