"""A threshold of a training set on a test set, against plain loops."""

import json

import naive
import numpy as np
import pytest
from json_rows import rows
from result_messages import arguments, codes

import bioeval as be
from bioeval.cli import main


def scores_of_classes(scores):
    """The genuine and the impostor scores of a list, and their kind."""
    genuine = scores.genuine
    return scores.values[genuine].tolist(), scores.values[~genuine].tolist(), scores.kind


def least(scores, prior, miss, accept):
    """The least cost over the cost of the better trivial decision, and its strictest threshold."""
    value, threshold = naive.min_cost(*scores_of_classes(scores), prior, miss, accept)
    return float(value) / min(prior * miss, (1 - prior) * accept), threshold


def lists(seed, number=300, dtype=float, kind="similarity", decimals=2):
    """Return a list of pairs with ties."""
    rng = np.random.default_rng(seed)
    genuine = rng.random(number) < 0.3
    values = (rng.normal(size=number) + 1.5 * genuine).round(decimals)
    values = values if kind != "distance" else -values
    first_number, second_number = rng.integers(0, 30, (2, number)).tolist()
    subjects = [
        [f"p{first_number[i]}", f"p{first_number[i]}" if genuine[i] else f"q{second_number[i]}"]
        for i in range(number)
    ]
    return be.Scores.from_pairs(values.astype(dtype), genuine, kind=kind, subjects=subjects)


@pytest.mark.parametrize("kind", ["similarity", "distance"])
@pytest.mark.parametrize("costs", [(0.01, 1, 1), (0.05, 10, 1), (0.5, 1, 1)])
def test_rates_and_costs_are_those_of_the_definition(kind, costs):
    for seed in range(3):
        train, test = lists(seed, kind=kind), lists(seed + 10, kind=kind)
        ds = be.judge_threshold(train, test, "cost=" + ",".join(map(str, costs)), interval="wilson")
        train_cost, threshold = least(train, *costs)
        assert ds.threshold.item() == pytest.approx(threshold)
        *scores, scores_kind = scores_of_classes(test)
        _, (fr,), (fa,), _ = naive.verification_counts(*scores, [threshold], scores_kind)
        on_train, on_test = (ds.sel(part=part) for part in ("train", "test"))
        assert (on_test.fa.item(), on_test.fr.item()) == (fa, fr)
        far, frr = fa / len(scores[1]), fr / len(scores[0])
        assert (on_test.far.item(), on_test.frr.item()) == (far, frr)
        prior, miss, accept = costs
        trivial = min(prior * miss, (1 - prior) * accept)
        cost = (prior * miss * frr + (1 - prior) * accept * far) / trivial
        assert on_test.dcf.item() == pytest.approx(cost, abs=1e-12)
        assert ds.min_dcf.item() == pytest.approx(least(test, *costs)[0], abs=1e-12)
        assert on_train.dcf.item() == pytest.approx(train_cost, abs=1e-12)
        assert on_test.min_dcf <= on_test.dcf + 1e-12


def test_the_prior_of_min_dcf_is_a_cost_of_1():
    train, test = lists(1), lists(2)
    by_prior = be.judge_threshold(train, test, "min-dcf=0.01")
    for target in ("cost=0.01,1,1", "min_dcf=0.01,1,1"):
        assert be.judge_threshold(train, test, target).identical(by_prior)


def test_limits_of_the_cost_are_those_of_a_sum():
    judged = be.judge_threshold(lists(1), lists(2), "min-dcf=0.05", interval="wilson")
    ds = judged.sel(part="test")
    of_frr, of_far = 1.0, 0.95 / 0.05
    low = of_frr * (ds.frr - ds.frr_low), of_far * (ds.far - ds.far_low)
    high = of_frr * (ds.frr_high - ds.frr), of_far * (ds.far_high - ds.far)
    assert ds.dcf_low.item() == pytest.approx(max(0.0, float(ds.dcf - np.hypot(*low))))
    assert ds.dcf_high.item() == pytest.approx(float(ds.dcf + np.hypot(*high)))
    assert ds.far_low < ds.far < ds.far_high
    where_chosen = judged.sel(part="train")
    assert all(
        np.isnan(where_chosen[f"{x}_{end}"]) for x in ("far", "dcf") for end in ("low", "high")
    )


def test_a_threshold_that_accepts_nothing_and_one_that_accepts_all():
    train = be.Scores.from_pairs([0.9, 0.1, 0.2], [0, 1, 1], kind="similarity")
    test = lists(3)
    ds = be.judge_threshold(train, test, "far=0.0").sel(part="test")
    assert ds.far == 0 and ds.frr == 1 and np.isinf(ds.threshold) and np.isnan(ds.far_low)
    ds = be.judge_threshold(train, test, -np.inf).sel(part="test")
    assert ds.far == 1 and ds.frr == 0 and ds.attrs["chosen_on"] == "given"


def test_messages_name_what_makes_rates_optimistic():
    train, other = lists(1), lists(2)
    shared = {*train.subjects.tolist()} & {*other.subjects.tolist()}
    both_sets = arguments(be.judge_threshold(train, other, "eer"), "people-of-both-sets")
    assert both_sets["who"] == f"{len(shared)} of {len(other.subjects)} subjects"
    lone = be.Scores.from_pairs([0.1, 0.2], [0, 0], kind="similarity")
    ds = be.judge_threshold(train, lone, "eer")
    assert "no-attempt" in codes(ds)
    assert np.isnan(ds.frr).values.tolist() == [False, True] and not np.isnan(ds.far).any()


def test_what_is_refused():
    train, test = lists(1), lists(2)
    with pytest.raises(be.DataError, match="means nothing to the other"):
        be.judge_threshold(train, lists(2, kind="distance"), "eer")
    lone = be.Scores.from_pairs([0.1, 0.2], [0, 0], kind="similarity")
    with pytest.raises(be.ProtocolError, match="no genuine attempt"):
        be.judge_threshold(lone, test, "eer")


def write(folder, name, scores):
    """Write a list of pairs as scores and as trials, as of Kaldi."""
    words = [f"{name}{i}a {name}{i}b" for i in range(len(scores.values))]
    lines = zip(words, scores.values, scores.genuine, strict=True)
    rows = [(pair, float(x), "target" if g else "nontarget") for pair, x, g in lines]
    (folder / f"{name}.scores").write_text("".join(f"{p} {x!r}\n" for p, x, _ in rows))
    (folder / f"{name}.txt").write_text("".join(f"{p} {g}\n" for p, _, g in rows))
    return [str(folder / f"{name}.scores"), str(folder / f"{name}.txt")]


@pytest.fixture
def files(tmp_path):
    return [write(tmp_path, name, lists(i)) for i, name in enumerate(("train", "eval"), 1)]


def test_the_command(files, tmp_path, capsys):
    (train, train_trials), (test, trials) = files
    plain = ["threshold", train, "--kind", "similarity", "--trials", train_trials]
    plain += ["--format", "kaldi"]
    arguments = [*plain, "--on", test, "--on", trials, "--target", "min-dcf=0.01"]
    assert main([*arguments, "--report", str(tmp_path / "p.html")]) == 0
    ds = be.judge_threshold(lists(1), lists(2), "min-dcf=0.01", interval="wilson")
    dcf = f"{ds.dcf.sel(part='test').item():.4f}"
    assert dcf in capsys.readouterr().out
    assert dcf in (tmp_path / "p.html").read_text()
    for test_files, says in (
        ((trials, test), "score is '"),  # exchanged
        ((test, train_trials), "none of the names"),  # of the other set
    ):
        assert main([*plain, "--on", test_files[0], "--on", test_files[1]]) == 2
        assert says in capsys.readouterr().err


@pytest.mark.parametrize(
    ("costs", "cost", "answer"),
    [
        ((0.5, 1, 1), (0.5 * 0.5 + 0.5 * 2 / 3) / 0.5, "rejects"),
        ((0.01, 1, 1), (0.01 * 0.5 + 0.99 * 2 / 3) / 0.01, "rejects"),
        ((0.9, 1, 1), (0.9 * 0.5 + 0.1 * 2 / 3) / 0.1, "accepts"),
    ],
)
def test_a_cost_above_1_names_the_cheaper_constant_answer(costs, cost, answer):
    train = be.Scores.from_pairs([0.5, 0.0], [1, 0], kind="similarity")
    test = be.Scores.from_pairs([-5.0, 1.0, 5.0, 6.0, -1.0], [1, 1, 0, 0, 0], kind="similarity")
    ds = be.judge_threshold(train, test, "cost=" + ",".join(map(str, costs)))
    assert ds.threshold.item() == 0.5
    (above,) = (x.arguments for x in be.messages(ds) if x.code == "actual-cost-above-1")
    assert above["prior"] == costs[0] and above["answer"] == answer
    assert above["cost"] == pytest.approx(cost)


def test_min_dcf_is_an_option_of_run(files, capsys):
    train, _ = files
    arguments = ["run", *train, "--kind", "similarity", "--format", "kaldi"]
    assert main([*arguments, "--min-dcf", "0.05,0.01", "--min-dcf", "0.01,0.1", "--json"]) == 0
    min_dcf_rows = rows(json.loads(capsys.readouterr().out), "min_dcf")
    assert [x["point"] for x in min_dcf_rows] == [0.05, 0.01, 0.1]
    assert main([*arguments, "--min-dcf", "0.01,5%"]) == 0
    printed = capsys.readouterr().out
    for prior in (0.01, 0.05):
        value = least(lists(1), prior, 1, 1)[0]
        assert f"minDCF at prior {prior}" in printed and f"{value:.4f}" in printed
    for wrong in ("1", "0.1,0.1", "x"):
        assert main([*arguments, "--min-dcf", wrong]) == 2
        assert "between 0 and 1" in capsys.readouterr().err


def test_intervals_of_unknown_people_name_an_option_that_there_is():
    train, test = lists(1), lists(2)
    unknown = be.Scores.from_pairs(test.values, test.genuine, kind=test.kind)
    ds = be.judge_threshold(train, unknown, "eer")
    assert "wilson-without-subjects" in codes(ds) and "dependent-attempts" not in codes(ds)
    judged = be.judge_threshold(train, test, "eer", interval="wilson")
    assert "dependent-attempts" in codes(judged)
