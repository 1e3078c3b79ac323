"""A threshold study: what is installed, what is expected, how far the data reach."""

import math

import numpy as np
import pytest
import xarray as xr
from matplotlib.collections import LineCollection
from matplotlib.legend import Legend
from named_arguments import raises_about
from reference import one_thread  # noqa: F401
from result_messages import arguments, codes

import bioeval as be


@pytest.fixture
def shown(monkeypatch, capsys):
    """Return the output of be.show in a terminal of some width."""

    def text(result, width):
        monkeypatch.setenv("COLUMNS", str(width))
        capsys.readouterr()
        be.show(result)
        return capsys.readouterr().out

    return text


def on_all(study):
    """The rates where the threshold was chosen."""
    return study["rates"].to_dataset().sel(part="all")


@pytest.fixture(scope="module")
def scores():
    return be.simulate(40, 4, random_state=2)


@pytest.mark.parametrize("kind", ["distance", "similarity"])
def test_the_interval_by_subject_is_that_of_the_rates_there(scores, kind):
    sign = 1 if kind == "distance" else -1
    turned = be.Scores(sign * scores.values, scores.probe_labels, kind=kind)
    ds = be.study_threshold(turned, "eer", folds=4, repeats=1)
    verified = be.verification(
        turned, thresholds=[ds.threshold.item()], auc=False,
        interval="people",
    )  # fmt: skip
    for rate in ("far", "frr"):
        for end in ("low", "high"):
            assert on_all(ds)[f"{rate}_{end}"].item() == verified[f"{rate}_{end}"].item()
    assert on_all(ds).hter_low < on_all(ds).hter < on_all(ds).hter_high
    second_study = be.study_threshold(
        turned,
        "eer",
        folds=4,
        repeats=1,
        interval=be.stats.IntervalMethod("people", replicates=100, confidence=0.5),
    )
    assert on_all(second_study).far_low > on_all(ds).far_low


def test_pairs_with_folds_have_no_others():
    rng = np.random.default_rng(0)
    same, person = np.arange(200) % 2, np.arange(200) // 10
    fold = person // 5
    subjects = np.column_stack([person, np.where(same, person, (person + 1) % 5 + 5 * fold)])
    pairs = be.Scores.from_pairs(rng.normal(2 - same), same, pair_folds=fold, subjects=subjects)
    ds = be.study_threshold(pairs, "accuracy")
    assert dict(ds["folds"].sizes) == {"repeat": 1, "fold": 4, "part": 2}
    assert 0 < on_all(ds).far_low < on_all(ds).far < on_all(ds).far_high
    with pytest.raises(be.DataError, match="`folds` is 5, but these pairs define folds"):
        be.study_threshold(pairs, folds=5)
    unknown = be.study_threshold(be.Scores.from_pairs(pairs.values, same, pair_folds=fold), "eer")
    assert math.isnan(on_all(unknown).far_low.item())
    assert "no-interval-by-subject" in codes(unknown)
    divided = be.study_threshold(be.Scores.from_pairs(pairs.values, same), folds=5, repeats=1)
    assert "pairs-divided" in codes(divided) and "subjects" not in divided


@pytest.mark.slow
def test_only_a_promise_says_install(shown):
    people = be.simulate(60, 4, random_state=1)
    with_subjects = people.at_pairs(*np.triu_indices(240, 1))
    unknown = be.Scores.from_pairs(with_subjects.values, with_subjects.genuine)
    for word, scores, target, assure in (
        ("Chosen: ", people, "far=0.05", None),
        ("Chosen: ", with_subjects, "far=0.05", None),
        ("Given: ", unknown, 3.0, None),
        ("Provisional: ", people, "far=0.0001", None),
        ("Provisional: ", unknown, "far=0.05", None),
        ("Install ", people, "far=0.05", 0.9),
    ):
        study = be.study_threshold(scores, target, repeats=1, random_state=0, assure=assure)
        text = shown(study, 100)
        assert word in text and ("Install" in text) == (word == "Install ")
        assert ("the people are unknown" in text) == (word == "Provisional: " and scores is unknown)
    assert "pairs of 60 subjects" in shown(be.verification(with_subjects), 100)
    assert "28,680 pairs; subjects unknown" in shown(be.verification(unknown), 100)


def test_how_far_the_data_reach_by_hand(scores):
    """40 subjects of 4: 160 * 156 impostor attempts, each pair twice."""
    ds = be.study_threshold(scores, "far=0.001", folds=4, repeats=1)
    assert ds.impostor_attempts == 160 * 156
    assert ds.impostor_pairs == 80 * 156
    assert (ds.subjects, ds.disjoint_pairs, ds.pairs_of_people) == (40, 20, 780)
    needs = ds["needs"]
    assert needs.impostors_needed.to_series().to_dict() == {3: 3000, 30: 30_000}
    assert needs.impostors_missing.to_series().to_dict() == {3: 3000 - 780, 30: 30_000 - 780}
    needs_of_loose_target = be.study_threshold(scores, "far=0.1", folds=4, repeats=1)["needs"]
    assert needs_of_loose_target.impostors_missing.values.tolist() == [0, 0]
    # A pair of people counts once, however many templates they have: N (N - 1) / 2 >= wanted.
    for rule, pairs_needed in ((3, 3000), (30, 30_000)):
        people = next(n for n in range(2, 1000) if n * (n - 1) / 2 >= pairs_needed)
        assert needs.subjects_needed.sel(rule=rule) == people
    message_arguments = arguments(ds, "target-not-shown")
    assert (
        message_arguments["needed"] == {"people": 78, "pairs of people": 3000}
        and message_arguments["target"] == 0.001
    )
    study_of_percent = be.study_threshold(scores, "far=0.01", folds=4, repeats=1)
    uncertain = arguments(study_of_percent, "threshold-uncertain")
    assert uncertain["needed"] == {"people": 78, "pairs of people": 3000}
    rejects = be.study_threshold(scores, "frr=0.01", folds=4, repeats=1)
    assert rejects["needs"].subjects_needed.values.tolist() == [300, 3000]
    assert "impostors_missing" not in rejects["needs"]
    assert arguments(rejects, "target-not-shown") == {
        "rate": "frr", "target": 0.01, "error": "false reject", "needed": {"people": 300},
    }  # fmt: skip
    rare = be.study_threshold(scores, "far=1e-5", folds=4, repeats=1)
    assert arguments(rare, "target-not-shown")["target"] == 1e-5


@pytest.mark.slow
def test_a_study_is_read_from_its_file_as_a_tree(scores, shown, tmp_path):
    study = be.study_threshold(scores, "far=0.01", folds=4, repeats=2)
    study.to_netcdf(tmp_path / "study.nc", engine="h5netcdf")
    with xr.open_datatree(tmp_path / "study.nc", engine="h5netcdf") as tree:
        read = tree.load()
    assert read.identical(study) and shown(read, 100) == shown(study, 100)
    assert be.messages(read) == be.messages(study)
    rates = be.to_frame(study).query("task == 'threshold_study/rates'")
    assert rates["part"].unique().tolist() == ["all", "test"]
    with pytest.raises(be.DataError, match=r"node `folds`"):
        be.plot.folds(study)
    be.plot.folds(study["folds"])


def test_nothing_to_choose_on():
    one_score = be.Scores(np.ones((4, 4)), ["a", "a", "b", "b"])
    lone = be.Scores(np.ones((3, 3)), ["a", "b", "c"])  # no genuine attempt at all
    ds = be.study_threshold(lone, "eer", folds=3, repeats=1)
    assert math.isnan(ds.threshold.item())
    assert math.isnan(on_all(ds).far.item())
    assert "no attempts of both classes" in arguments(ds, "nothing-to-install")["why"]
    with pytest.raises(be.DataError, match="only 2 subjects"):
        be.study_threshold(one_score, folds=3)
    with raises_about(be.DataError, "target"):
        be.study_threshold(one_score, "faar")
    order = be.Scores(np.ones((4, 4)), ["a", "a", "b", "b"], kind="order")
    with pytest.raises(be.ProtocolError, match="order"):
        be.study_threshold(order)


def test_nothing_is_accepted():
    subject = np.repeat(np.arange(4), 3)
    scores = be.Scores(np.ones((12, 12)), subject)
    ds = be.study_threshold(scores, "far=0.0", folds=2, repeats=1)
    assert ds.threshold == -np.inf
    assert arguments(ds, "threshold-accepts-nothing") == {"status": "Chosen"}


def test_a_far_is_said_to_be_above_its_target_only_if_it_may_be(scores):
    """Coarse scores have a FAR of 0 or of 20 %: a target of 10 % is met with room to spare."""
    options = {"folds": 3, "repeats": 2}
    near = be.study_threshold(scores, "far=0.05", **options)
    subject = np.repeat(np.arange(40), 4)
    rng = np.random.default_rng(0)
    values = np.where(subject[:, None] == subject, 1.0, 2.0 + (rng.random((160, 160)) < 0.8))
    values = np.where(rng.random((160, 160)) < 0.01, 1.0, values)
    coarse = be.study_threshold(be.Scores(values, subject), "far=0.1", **options)
    for study, is_above in ((near, True), (coarse, False)):
        far_high = study["rates"].far_high.sel(part="test").item()
        target = float(study.attrs["threshold_rule"].partition("=")[2])
        assert (far_high > target) == is_above
        assert ("target" in arguments(study, "threshold-accepts")) == is_above


def test_a_study_says_what_its_claims_compare_and_whether_its_threshold_was_given(scores, shown):
    options = {"folds": 3, "repeats": 1}
    of_claims = shown(be.study_threshold(be.claim_scores(scores), "far=0.05", **options), 200)
    assert "all templates" in of_claims and "single-template" not in of_claims
    given = shown(be.study_threshold(scores, 4.0, **options), 200)
    assert "single-template" in given and "by the rule" not in given


def test_no_errors_in_any_fold_are_no_certainty():
    subject = np.repeat(np.arange(12), 3)
    scores = be.Scores(1.0 * (subject[:, None] != subject), subject)
    ds = be.study_threshold(scores, "eer", folds=4, repeats=2)
    of_test = ds["rates"].to_dataset().sel(part="test")
    assert of_test.far == 0 and (ds["folds"].far.sel(part="test") == 0).all()
    assert np.isnan([of_test.far_low, of_test.far_high, of_test.hter_high]).all()
    assert on_all(ds).far_low == 0 < on_all(ds).far_high
    assert "far" in [x.arguments.get("rate") for x in be.messages(ds) if "no-spread" in x.code]


@pytest.mark.parametrize(("constant", "other"), [("frr", "far"), ("far", "frr")])
def test_the_answer_expects_a_rate_beside_one_without_spread(constant, other):
    """Genuine scores of 0, or impostor scores of 1, are on one side of all thresholds."""
    subject = np.repeat(np.arange(45), 2)  # enough people in training for a rate of 10 %
    is_genuine = subject[:, None] == subject
    drawn = np.random.default_rng(1).uniform(size=is_genuine.shape)
    drawn = (drawn + drawn.T) / 2
    if constant == "frr":
        scores = be.Scores(np.where(is_genuine, 0.0, drawn), subject)
    else:
        scores = be.Scores(np.where(is_genuine, drawn, 1.0), subject)
    study = be.study_threshold(scores, f"{other}=0.1", folds=4, repeats=2)
    of_test = study["rates"].to_dataset().sel(part="test")
    assert of_test[constant] == 0 and np.isnan(of_test[f"{constant}_high"])
    (answer,) = (x for x in be.messages(study) if x.code == "threshold-accepts")
    for name, end in (("new", ""), ("low", "_low"), ("high", "_high")):
        assert answer.arguments[f"{other}_{name}"] == of_test[f"{other}{end}"]
        assert f"{constant}_{name}" not in answer.arguments
    assert answer.arguments[f"{constant}_without"].code == "no-spread-between-parts"


def test_the_plot_shows_the_folds(scores):
    ds = be.study_threshold(scores, "far=0.01", folds=4, repeats=2)
    display = be.plot.threshold_study(ds)
    far = display.ax_.lines[0].get_xdata()
    np.testing.assert_array_equal(far, ds["folds"].far.sel(part="test").values.ravel())
    assert display.ax_.get_xlabel().startswith("False accept rate")
    (key,) = display.figure_.findobj(Legend)
    markers = [line.get_marker() for line in key.get_lines()]
    assert markers == ["o", "o", "D"]  # points without their bars
    assert not key.findobj(LineCollection)
    with pytest.raises(be.DataError, match="study_threshold"):
        be.plot.threshold_study(be.verification(scores))


@pytest.mark.parametrize("swap", [False, True])
def test_the_hter_is_not_surer_than_its_parts(swap):
    """FRR (or FAR) is 0, and stays so in whatever is resampled."""
    subject = np.repeat(np.arange(12), 3)
    same = subject[:, None] == subject
    values = 1.0 * ~same
    wrong = [(0, 4), (9, 30), (13, 25)] if not swap else [(0, 1), (9, 11), (13, 14)]
    for i, j in wrong:
        values[i, j] = values[j, i] = 1.0 * same[i, j]
    scores = be.Scores(values, subject)
    study = be.study_threshold(scores, 0.5, folds=4, repeats=1)
    none, with_errors = ("far", "frr") if swap else ("frr", "far")
    rates = on_all(study)
    assert rates[none] == 0 < rates[with_errors]
    ends = {
        end: [rates[f"{rate}_{end}"].item() for rate in ("far", "frr")] for end in ("low", "high")
    }
    assert rates.hter_low <= sum(ends["low"]) / 2
    assert rates.hter_high >= sum(ends["high"]) / 2 > 0


def test_a_list_and_a_matrix_of_the_same_comparisons_need_as_many_people():
    matrix = be.simulate(20, 3, random_state=1)
    options = {"interval": "people", "folds": 4, "repeats": 1}
    list_of_pairs = matrix.at_pairs(*np.nonzero(~np.eye(60, dtype=bool)))
    result = [be.study_threshold(x, "far=0.001", **options) for x in (matrix, list_of_pairs)]
    assert result[0]["needs"].to_dataset().equals(result[1]["needs"].to_dataset())
    for name in ("impostor_pairs", "subjects"):
        assert result[0][name].item() == result[1][name].item(), name
    # One direction alone: the same pairs, each listed.
    order = list_of_pairs.pair_subjects[:, 0] <= list_of_pairs.pair_subjects[:, 1]
    of_list = be.study_threshold(
        list_of_pairs.select(np.flatnonzero(order)), "far=0.001", **options
    )
    assert of_list["impostor_pairs"] == result[0]["impostor_pairs"]
    people = [x["needs"].subjects_needed.sel(rule=30) for x in (of_list, result[0])]
    # Where few people are compared, the same number of people has to be, all with each other.
    some_pairs = list_of_pairs.select(
        np.flatnonzero(abs(np.diff(list_of_pairs.pair_subjects, axis=1)[:, 0]) <= 1)
    )
    sparse = be.study_threshold(some_pairs, "far=0.001", **options)
    assert [*people, sparse["needs"].subjects_needed.sel(rule=30)] == [246] * 3


def test_a_promise_beside_a_target_that_is_not_measured_says_why_both_are_true():
    """40 people bound FAR 2 %, and 30 of their 780 pairs are more than are expected there."""
    scores = be.simulate(40, 2, random_state=1)
    options = {"folds": 2, "repeats": 1, "assure": 0.95}
    study = be.study_threshold(scores, "far=0.02", **options)
    assert np.isfinite(study.assured_threshold)
    uncertain = arguments(study, "threshold-uncertain")
    assert uncertain["needed"] == {"people": 56, "pairs of people": 1500}
    at_target = be.verification(scores, far_targets=[0.02], auc=False)
    assert arguments(at_target, "target-uncertain")["have"] == {"people": 40}


def test_a_rule_keeps_its_digits_in_the_folds():
    """A third of the 270 impostor attempts of a fold is 90; 0.333333 would allow fewer."""
    scores = be.simulate(9, 3, random_state=1)
    study = be.study_threshold(scores, "far=1/3", folds=3, repeats=1, random_state=0)
    assert study.attrs["threshold_rule"] == "far=0.3333333333333333"
    splitter = be.partition.SubjectKFold(3, n_repeats=1, shuffle=True, random_state=0)
    labels = scores.probe_labels
    for k, (train, _) in enumerate(splitter.split(range(len(labels)), labels)):
        part = be.verification(scores.select(train), far_targets=[1 / 3])
        assert study["folds"].threshold.values[0, k] == part.threshold_at_far.item()
    at_threshold = be.study_threshold(scores, 0.1234567890123, folds=3, repeats=1)
    assert at_threshold.attrs["threshold_rule"] == "fixed=0.1234567890123"
    judged = be.judge_threshold(scores, scores, "cost=1/3,1,1".replace("1/3", repr(1 / 3)))
    assert judged.attrs["threshold_rule"] == "cost=0.3333333333333333,1,1"


@pytest.mark.parametrize(("people", "folds"), [(4, 2), (9, 4), (19, 9), (20, 10), (30, 10)])
def test_the_usual_folds_have_two_people_each(people, folds):
    study = be.study_threshold(be.simulate(people, 2, random_state=1), "far=0.1", repeats=1)
    assert study["folds"].sizes["fold"] == folds
    assert ("fewer-folds" in study.attrs["messages"]) == (folds < 10)


@pytest.mark.slow
@pytest.mark.parametrize("templates", ["single", "multi"])
def test_it_is_an_evaluation_and_a_cross_evaluation(scores, templates):
    claims = be.claim_scores(scores, templates=templates)
    ds = be.study_threshold(claims, "far=0.01", folds=4, repeats=3)
    verified = be.verification(scores, templates=templates, far_targets=(0.01,))
    assert ds.threshold == verified.threshold_at_far.item()
    assert on_all(ds).frr == verified.frr_at_far.item()
    splitter = be.partition.SubjectKFold(4, n_repeats=3, shuffle=True, random_state=0)
    by_fold = be.cross_evaluate(scores, splitter, threshold="far=0.01", templates=templates)
    assert ds["folds"].to_dataset().drop_attrs().identical(by_fold.drop_attrs())
    of_test = ds["rates"].to_dataset().sel(part="test")
    means = by_fold[["far", "frr", "hter"]].sel(part="test").mean()
    for name in means:
        assert of_test[name].item() == pytest.approx(means[name].item(), abs=1e-12)
