"""The threshold of a study in other studies: its value, its claims, and what cannot follow it."""

import json
from pathlib import Path

import numpy as np
import pytest
from result_messages import codes

import bioeval as be
from bioeval.cli import main
from bioeval.results import read_results


def people(kind="distance", seed=3):
    scores = be.simulate(60, 3, random_state=seed)
    times = {"seen_at": np.arange(180.0), "enrolled_at": np.zeros(180)}
    values = np.asarray(scores.values) * (1 if kind == "distance" else -1)
    return be.Scores(values, scores.probe_labels, kind=kind, probe_meta=times)


@pytest.fixture(scope="module")
def scores():
    return people()


@pytest.fixture(scope="module")
def studies(scores):
    """A study without a promise, and one of multi-template claims with one."""
    multi = {"templates": "multi", "fusion": "mean", "repeats": 1}
    return {
        "single": be.study_threshold(scores, "far=0.05", repeats=1),
        "multi": be.study_threshold(scores, "far=0.1", assure=0.9, **multi),
    }


def naive_rates(scores, threshold):
    """FRR and FAR of claims by the mean score of the claimed subject's templates."""
    label, values = np.asarray(scores.probe_labels), np.asarray(scores.values)
    errors, attempts = {True: 0, False: 0}, {True: 0, False: 0}
    for i in range(len(label)):
        for subject in np.unique(label):
            of_subject = [values[i, j] for j in np.flatnonzero(label == subject) if j != i]
            accepted = sum(of_subject) / len(of_subject) <= threshold
            genuine = label[i] == subject
            attempts[genuine] += 1
            errors[genuine] += accepted != genuine
    return errors[True] / attempts[True], errors[False] / attempts[False]


def same(result, other):
    """Whether two results have the same numbers."""
    assert set(result.variables) == set(other.variables)
    for name in result.variables:
        np.testing.assert_array_equal(result[name].values, other[name].values)


CALLS = {
    "zoo": lambda scores, **how: be.zoo(scores, permutations=50, **how),
    "groups": lambda scores, **how: be.by_group(
        scores, np.where(np.arange(180) % 6 < 3, "a", "b"), **how
    ),
    "time": lambda scores, **how: be.over_time(scores, 2, **how),
}
OF_STUDIES = [pytest.param(x) for x in CALLS]


@pytest.mark.parametrize("call", OF_STUDIES)
@pytest.mark.parametrize("which", ["single", "multi"])
def test_a_study_is_its_threshold_with_its_claims(scores, studies, call, which):
    study = studies[which]
    at = study["assured_threshold" if which == "multi" else "threshold"].item()
    assert np.isfinite(at)
    how = {"templates": "multi", "fusion": "mean"} if which == "multi" else {}
    result = CALLS[call](scores, threshold=study)
    same(result, CALLS[call](scores, threshold=at, **how))
    assert "study-of-these-data" in codes(result)
    assert result.attrs["templates"] == which
    others = CALLS[call](people(seed=4), threshold=study)
    assert "study-of-these-data" not in codes(others)


def test_the_rates_are_those_of_the_definition(scores, studies):
    study = studies["multi"]
    at = study["assured_threshold"].item()
    frr, far = naive_rates(scores, at)
    rates = be.verification(scores, templates="multi", fusion="mean", thresholds=[at])
    day = {"people_per_day": 100, "impostor_share": 0.5}
    work = be.workload(rates, threshold=study, **day)
    assert work.rate.values.tolist() == [far, frr]
    zoo = be.zoo(scores, threshold=study, permutations=50)
    assert float(zoo.fr.sum() / zoo.genuine_attempts.sum()) == pytest.approx(frr)
    assert study["assured_frr"].item() == pytest.approx(frr)


def test_without_a_promise_it_is_the_chosen_threshold(scores, studies):
    study = studies["multi"].assign(assured_threshold=((), np.nan))
    zoo = be.zoo(scores, threshold=study, permutations=50)
    assert float(zoo.threshold) == float(study.threshold)
    assert zoo.attrs["threshold_of_study"] == "chosen"
    nothing = study.assign(threshold=((), np.nan))
    with pytest.raises(be.DataError, match="could not choose a threshold"):
        be.zoo(scores, threshold=nothing)


def test_similarities_and_float32(scores):
    turned = people("similarity")
    single = be.Scores(np.asarray(turned.values, np.float32), turned.probe_labels, kind=turned.kind)
    study = be.study_threshold(single, "far=0.05", repeats=1)
    zoo = be.zoo(single, threshold=study, permutations=50)
    assert float(zoo.threshold) == float(study.threshold)
    assert zoo.fa_as_probe.sum() == round(float(study.optimistic_far) * 180 * 177)
    with pytest.raises(be.DataError, match="kind similarity, and these are of the kind distance"):
        be.zoo(scores, threshold=study)


@pytest.mark.parametrize("call", OF_STUDIES)
def test_what_cannot_follow_a_study(scores, studies, call):
    with pytest.raises(be.DataError, match="is not that of the study"):
        CALLS[call](scores, threshold=studies["multi"], fusion="max")
    searches = studies["single"].assign(unenrolled_people=((), 3))
    with pytest.raises(be.ProtocolError, match="of a study of searches"):
        CALLS[call](scores, threshold=searches)
    visits = studies["single"].assign_attrs(attempts="visit")
    with pytest.raises(be.BioevalError, match="attempts of several tries|no such column"):
        CALLS[call](scores, threshold=visits)
    with pytest.raises(be.DataError, match="without a threshold of its own"):
        CALLS[call](scores, threshold=be.verification(scores, auc=False))


def test_ageing_of_single_templates_and_what_workload_refuses(scores, studies):
    assert float(be.ageing(scores, threshold=studies["single"]).threshold) == float(
        studies["single"].threshold
    )
    day = {"people_per_day": 100, "impostor_share": 0.5}
    rates = be.verification(scores, thresholds=[4.0])
    with pytest.raises(be.DataError, match="whose templates is multi"):
        be.workload(rates, threshold=studies["multi"], **day)


def test_groups_of_searches_follow_a_study_of_searches():
    scores = be.simulate(60, 3, random_state=3)
    who = np.asarray(scores.probe_labels)
    gallery = np.flatnonzero((np.arange(180) % 3 == 0) & (who < 40))
    searched = scores.select(probes=np.flatnonzero(np.arange(180) % 3 > 0), gallery=gallery)
    study = be.study_threshold(searched, "far=0.2", task="open_set", rank_unit="subject", repeats=1)
    sides = searched.probe_labels, searched.gallery_labels
    group = tuple(np.where(np.asarray(x) % 2, "a", "b") for x in sides)
    ds = be.by_group(searched, group, task="open_set", threshold=study)
    at = float(study.threshold)
    same(ds, be.by_group(searched, group, task="open_set", threshold=at, rank_unit="subject"))
    with pytest.raises(be.ProtocolError, match="of a study of searches"):
        be.by_group(searched, group, threshold=study)


# -------------------------------------------------------------------------- the command line


@pytest.fixture
def files(tmp_path, monkeypatch, scores):
    monkeypatch.chdir(tmp_path)
    sex = np.where(np.arange(180) % 6 < 3, "a", "b")
    values = np.asarray(scores.values)
    seen = {"seen_at": np.arange(180.0), "enrolled_at": np.zeros(180)}
    np.savez("scores.npz", scores=values, labels=scores.probe_labels, sex=sex, **seen)
    study = ["threshold", "scores.npz", "--target", "far=0.1", "--assure", "0.9", "--repeats", "1"]
    assert main([*study, "--templates", "multi", "--out", "study"]) == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["zoo", "--permutations", "50"]),
        pytest.param(["groups", "--by", "sex"]),
        pytest.param(["over-time", "--bins", "2"]),
    ],
)
def test_the_command_is_the_threshold_with_its_claims(files, capsys, words):
    name, *options = words
    capsys.readouterr()
    assert main([name, "scores.npz", *options, "--threshold-of", "study", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    at = json.loads(Path("study/summary.json").read_text())["assured_threshold"]
    given = ["--threshold", repr(at), "--templates", "multi", "--json"]
    assert main([name, "scores.npz", *options, *given]) == 0
    other = json.loads(capsys.readouterr().out)
    result = next(iter(result["results"].values())) if name == "over-time" else result
    other = next(iter(other["results"].values())) if name == "over-time" else other
    assert result["threshold"] == at
    assert result["rule_of_study"] == "far=0.1"
    for key, value in other.items():
        if key != "messages":
            assert result[key] == value


def test_workload_and_run_have_the_rates_of_the_study(files, capsys):
    study = json.loads(Path("study/summary.json").read_text())
    capsys.readouterr()
    day = ["--people", "100", "--impostors", "0.5"]
    assert main(["workload", "scores.npz", *day, "--threshold-of", "study/results.nc"]) == 0
    assert "the assured threshold of a study (FAR at most 10 %" in capsys.readouterr().out
    assert main(["run", "scores.npz", "--threshold-of", "study", "--json"]) == 0
    tasks = json.loads(capsys.readouterr().out)["tasks"]
    assert "verification/single" not in tasks
    task = tasks["verification/multi"]
    assert task["fixed_threshold"] == study["assured_threshold"]
    assert task["frr_at_fixed"] == study["assured_frr"]
    assert task["far_at_fixed"] == study["assured_far_attempts"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["zoo", "--threshold", "4"], "--threshold and --threshold-of both name the threshold"),
        (["zoo", "--templates", "single"], "--templates is single, and the study of"),
        (["run", "--target", "fixed=4"], "--target and --threshold-of both name the threshold"),
        (["run", "--templates", "single"], "--templates is single, and the study of"),
    ],
)
def test_what_the_command_refuses(files, capsys, words, says):
    name, *options = words
    assert main([name, "scores.npz", *options, "--threshold-of", "study"]) == 2
    assert says in capsys.readouterr().err


def test_a_file_that_is_no_study(files, capsys):
    assert main(["zoo", "scores.npz", "--threshold-of", "scores.npz"]) == 2
    assert "bioeval threshold --out" in capsys.readouterr().err
    assert main(["zoo", "scores.npz", "--threshold-of", "nothing"]) == 2
    assert "nothing" in capsys.readouterr().err


@pytest.mark.slow
def test_folders_go_on_one_page_with_one_threshold(files, capsys):
    study = ["--threshold-of", "study"]
    assert main(["zoo", "scores.npz", "--permutations", "50", *study, "--out", "zoo"]) == 0
    assert main(["run", "scores.npz", *study, "--out", "run"]) == 0
    assert main(["report", "run", "study", "zoo", "--out", "page.html"]) == 0
    text = Path("page.html").read_text()
    assert "These numbers are at another threshold" not in text
    assert "nearest threshold of these results" not in text


def of_visits(seed=5, *, times=True):
    """Visits of one or two tries; half of the templates are enrolled late."""
    rng = np.random.default_rng(seed)
    place = rng.normal(size=(24, 4))
    probe, gallery = np.repeat(np.arange(24), 4), np.repeat(np.arange(22), 3)
    visit = np.tile(["a", "a", "b", "c"], 24)
    seen = np.tile([50.0, 50.0, 120.0, 200.0], 24) + np.repeat(rng.integers(0, 30, 24), 4)
    enrolled = np.where(rng.random(66) < 0.5, 0.0, rng.integers(20, 180, 66))
    x = place[probe] + 0.6 * rng.normal(size=(96, 4))
    y = place[gallery] + 0.6 * rng.normal(size=(66, 4))
    values = np.linalg.norm(x[:, None] - y[None], axis=2)
    names = np.array([f"p{i:02}" for i in range(24)])
    meta = {"seen_at": seen} if times else {}
    return be.Scores(
        values, names[probe], names[gallery],
        probe_meta={"visit": visit, "sex": np.where(probe % 2, "f", "m"), **meta},
        gallery_meta={"sex": np.where(gallery % 2, "f", "m")}
        | ({"enrolled_at": enrolled} if times else {}),
    )  # fmt: skip


VISITS = {"templates": "multi", "enrol": "first:2", "attempts": "visit"}


def naive_claims(scores):
    """Return (person, claimed, time of the first try, score) of each claim of visits."""
    probe, gallery = np.asarray(scores.probe_labels), np.asarray(scores.gallery_labels)
    visit, seen = scores.probe_meta["visit"], scores.probe_meta["seen_at"]
    enrolled, values = scores.gallery_meta["enrolled_at"], np.asarray(scores.values)
    tries: dict[tuple, list[int]] = {}
    for i in range(len(probe)):
        tries.setdefault((probe[i], visit[i]), []).append(i)
    found = []
    for (person, _), rows in tries.items():
        for claimed in np.unique(gallery):
            first_two = np.flatnonzero(gallery == claimed)[:2]
            usable = [values[i, j] for i in rows for j in first_two if enrolled[j] <= seen[i]]
            if usable:
                found.append((person, claimed, seen[rows[0]], min(usable)))
    return found


def naive_errors(claims, at):
    impostor = [score <= at for person, claimed, _, score in claims if person != claimed]
    genuine = [score > at for person, claimed, _, score in claims if person == claimed]
    return sum(impostor), len(impostor), sum(genuine), len(genuine)


@pytest.fixture(scope="module")
def of_enrolled():
    """Scores without exclusions, and a study of them that leaves out what is not enrolled."""
    scores = of_visits()
    study = be.study_threshold(
        scores.excluding("not-enrolled"), "far=0.05", repeats=1, folds=3, **VISITS
    )
    return scores, study


def test_exclusions_of_a_study_are_part_of_its_protocol(of_enrolled):
    scores, study = of_enrolled
    fa, impostor, fr, genuine = naive_errors(naive_claims(scores), study.threshold.item())
    assert (study.impostor_attempts.item(), study.genuine_attempts.item()) == (impostor, genuine)
    zoo = be.zoo(scores, threshold=study, permutations=50)
    assert (zoo.fr.sum(), zoo.fa_as_probe.sum()) == (fr, fa)
    groups = be.by_group(scores, "sex", threshold=study)
    assert groups.fr.sum() == fr and groups.genuine_attempts.sum() == genuine
    for result in (zoo, groups):
        assert result.attrs["exclude"] == "not-enrolled"
        assert "study-of-these-data" in codes(result)
        excluded = scores.excluding("not-enrolled")
    same(be.zoo(excluded, threshold=study, permutations=50), zoo)


def test_exclusions_of_a_study_in_commands(of_enrolled, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    scores, study = of_enrolled
    be.save(scores, "door.npz")
    typed = [x for name, value in VISITS.items() for x in (f"--{name}", value)]
    made = ["threshold", "door.npz", "--target", "far=0.05", "--exclude", "not-enrolled"]
    assert main([*made, *typed, "--folds", "3", "--repeats", "1", "--out", "study"]) == 0
    fa, impostor, fr, genuine = naive_errors(naive_claims(scores), study.threshold.item())
    capsys.readouterr()
    at = ["door.npz", "--threshold-of", "study"]
    assert main(["run", *at, "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["tasks"].values()
    assert found["impostor_attempts"] == impostor and found["far_at_fixed"] == fa / impostor
    use = ["--people", "100", "--impostors", "0.5"]
    assert main(["workload", *at, *use, "--out", "work"]) == 0
    capsys.readouterr()
    work = read_results("work", "the workload")
    assert fa / impostor in work["rate"].values
    assert work.attrs["exclude"] == "not-enrolled"
    assert main(["report", "door.npz", "--threshold-study", "study", "--out", "page.html"]) == 0
    page = Path("page.html").read_text(encoding="utf-8")
    assert "templates that are not enrolled when the probe is seen" in page
    for command in (["run"], ["zoo"], ["workload", *use], ["groups", "--by", "sex"]):
        capsys.readouterr()
        assert main([*command[:1], *at, *command[1:], "--exclude", "sex"]) == 2
        assert "is not that of the study, not-enrolled" in capsys.readouterr().err
    given = ["report", "door.npz", "--threshold-study", "study", "--exclude", "sex"]
    assert main([*given, "--out", "other.html"]) == 2


def test_exclusions_that_scores_cannot_have_are_refused(of_enrolled):
    _, study = of_enrolled
    with pytest.raises(be.DataError, match="excludes not-enrolled, which these scores cannot"):
        be.zoo(of_visits(times=False), threshold=study)
    plain = be.study_threshold(of_visits(), "far=0.05", repeats=1, folds=3)
    with pytest.raises(be.DataError, match="not that of the study, none"):
        be.zoo(of_visits().excluding("sex"), threshold=plain)


def test_rates_with_other_exclusions_are_not_those_of_a_study(of_enrolled):
    scores, study = of_enrolled
    day = {"people_per_day": 10, "impostor_share": 0.5}
    at = {"thresholds": [study.threshold.item()], **VISITS}
    with pytest.raises(be.DataError, match="excludes not-enrolled, and the rates exclude nothing"):
        be.workload(be.verification(scores, **at), threshold=study, **day)
    rates = be.verification(scores.excluding("not-enrolled"), **at)
    assert be.workload(rates, threshold=study, **day).attrs["exclude"] == "not-enrolled"


@pytest.mark.parametrize("studied", ["enrolled alone", "all templates"])
def test_claims_over_time_are_with_the_templates_of_their_time(of_enrolled, studied):
    scores, study = of_enrolled
    if studied == "all templates":
        study = be.study_threshold(scores, "far=0.05", repeats=1, folds=3, **VISITS)
    at, edges = study.threshold.item(), [50, 100, 160, 300]
    claims = naive_claims(scores)
    gallery = np.asarray(scores.gallery_labels)
    enrolled = scores.gallery_meta["enrolled_at"]
    for given in (scores, scores.excluding("not-enrolled")):
        ds = be.over_time(given, edges, threshold=study)
        assert "study-of-these-data" in codes(ds)
        assert "enrolment-times-not-used" not in codes(ds)
        assert ds.attrs["exclude"] == "not-enrolled"
        for b in range(3):
            inside = [x for x in claims if edges[b] <= x[2] < edges[b + 1]]
            one = ds.isel(time=b)
            made = one.fa, one.impostor_attempts, one.fr, one.genuine_attempts
            assert tuple(map(int, made)) == naive_errors(inside, at)
            people, templates = [], []
            visits = {(p, v): t for p, v, t in zip(
                scores.probe_labels, scores.probe_meta["visit"], scores.probe_meta["seen_at"],
                strict=True,
            )}  # fmt: skip
            for t in visits.values():
                if edges[b] <= t < edges[b + 1]:
                    there = [
                        sum(enrolled[j] <= t for j in np.flatnonzero(gallery == who)[:2])
                        for who in np.unique(gallery)
                    ]
                    templates.append(sum(there))
                    people.append(sum(x > 0 for x in there))
            assert one.gallery_subjects == pytest.approx(np.mean(people))
            assert one.gallery_templates == pytest.approx(np.mean(templates))
            mated = {(p, t) for p, c, t, _ in inside if p == c}
            assert one.mated_searches == len(mated)
            assert one.mated_searches + one.non_mated_searches == one.probes


def test_a_claim_has_the_age_of_the_newest_enrolled_template(of_enrolled):
    scores, study = of_enrolled
    at, edges = study.threshold.item(), [0, 40, 90, 300]
    gallery = np.asarray(scores.gallery_labels)
    enrolled = scores.gallery_meta["enrolled_at"]
    newest = {who: max(enrolled[gallery == who][:2]) for who in np.unique(gallery)}
    claims = be.claim_scores(scores, attempts="visit", enrol="first:2")
    assert dict(zip(claims.gallery_labels, claims.gallery_meta["enrolled_at"], strict=True)) == (
        newest
    )
    ages = [
        (seen - newest[claimed], score)
        for person, claimed, seen, score in naive_claims(scores)
        if person == claimed and seen >= newest[claimed]
    ]
    ds = be.ageing(scores, edges, threshold=study)
    assert ds.attrs["exclude"] == "not-enrolled" and ds.attrs["attempts"] == "visit"
    assert "study-of-these-data" in codes(ds)
    for b in range(3):
        inside = [score for age, score in ages if edges[b] <= age < edges[b + 1]]
        one = ds.isel(age=b)
        assert one.genuine_attempts == len(inside)
        assert one.fr == sum(score > at for score in inside)
        assert one.genuine_mean.item() == pytest.approx(np.mean(inside))


def test_the_latest_time_of_templates_is_of_those_that_are_known():
    scores = be.Scores(
        np.ones((2, 5)), ["a", "b"], ["a", "a", "b", "b", "b"],
        gallery_meta={"enrolled_at": ["2020-01-01", "2021-05-01", "", "2019-02-03", ""]},
    )  # fmt: skip
    latest = be.claim_scores(scores).gallery_meta["enrolled_at"]
    assert latest.astype("datetime64[D]").astype(str).tolist() == ["2021-05-01", "2019-02-03"]
