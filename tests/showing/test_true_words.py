"""Sentences about results of odd data are true: numbers, directions, and what can be done."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import KFold

import bioeval as be

pytestmark = pytest.mark.filterwarnings("ignore::bioeval.BioevalWarning")

WHO = np.repeat(list("abcdef"), 9)
VISITS = np.tile(np.repeat(["v1", "v2", "v3"], 3), 6)


def values(random_state=1):
    return np.array(be.simulate(6, 9, within=1.0, random_state=random_state).values)


def visits(random_state=1):
    scores = be.Scores(values(random_state), WHO, probe_meta={"visit": VISITS})
    return be.claim_scores(scores, attempts="visit", enrol="first:2")


def shown(result, capsys, **options):
    be.show(result, **options)
    return " ".join(capsys.readouterr().out.split())


def sentences(result):
    return {x.code: x.sentence for x in be.messages(result)}


def test_a_dir_at_a_threshold_of_its_own_data_is_too_high(capsys):
    scores = be.simulate(24, 6, within=1.0, random_state=1)
    folds = be.partition.SubjectKFold(2)
    ds = be.cross_evaluate(scores, folds, task="open_set", threshold="eer", far_targets=[0.3])
    text = shown(ds, capsys, verbose=True)
    assert re.search(r"EER, rank 1[^:]*: too low, with a threshold chosen on the test part", text)
    assert re.search(r"DIR at FAR <= 30 %, rank 1[^:]*: too high, with a threshold", text)


def test_pairs_of_one_session_that_count_are_genuine_ones():
    scores = be.Scores(values(), WHO, probe_meta={"session": np.tile([1, 2, 3], 18)})
    sentence = sentences(be.verification(scores))["same-value-counted"]
    assert sentence.startswith("genuine pairs of the same session are counted, which can make")
    without = scores.excluding("session")
    assert without.failures == scores.failures
    counts = be.verification(without)
    assert counts["impostor_attempts"] == be.verification(scores)["impostor_attempts"]
    assert "same-value-counted" not in sentences(counts)


def test_rates_that_no_fold_has_have_no_means():
    pairs = be.Scores.from_pairs(np.arange(12.0), np.zeros(12, dtype=bool), kind="distance")
    ds = be.cross_evaluate(pairs, KFold(3), threshold=3.0)
    sentence = sentences(ds)["undefined-in-parts"]
    assert "in any fold: there is no genuine attempt;" in sentence
    assert "the others" not in sentence and "subject has" not in sentence


def test_visits_of_which_none_failed_are_not_said_to_have_failed():
    made = values()
    made[3, 4] = made[4, 3] = np.nan
    scores = be.Scores(made, WHO, probe_meta={"visit": VISITS}, nan="reject")
    claims = be.claim_scores(scores, attempts="visit", enrol="first:2")
    sentence = sentences(be.verification(claims)).get("failures-of-visits", "")
    assert "0 genuine and 0 impostor attempts" not in sentence


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([(0, 1)], "1 genuine comparison failed"),
        ([(0, 9), (0, 10)], "2 impostor comparisons failed"),
        ([(0, 1), (0, 9)], "1 genuine and 1 impostor comparison failed"),
    ],
)
def test_a_class_of_which_none_failed_is_left_out(cells, words):
    made = values()
    made[tuple(zip(*cells, strict=True))] = np.nan
    result = be.verification(be.Scores(made, WHO, nan="exclude"))
    assert sentences(result)["failures"].startswith(f"{words}: ")


def test_a_result_of_claims_says_how_their_templates_are_fused():
    scores = be.Scores(values(), WHO)
    for templates, fusion in (("single", "none"), ("multi", "mean")):
        options = {} if templates == "single" else {"fusion": fusion}
        claims = be.claim_scores(scores, templates=templates, enrol="first:2", **options)
        for made in (claims, claims.select(probes=np.arange(20))):
            assert be.verification(made).attrs["fusion"] == fusion


def test_ranked_subjects_are_ranked_and_have_an_error():
    zoo = be.zoo(visits(), permutations=9)
    frame = be.to_frame(zoo).query("measure == 'rate'")
    table = be.to_markdown(zoo).partition("Subjects with the highest rates**")[2].partition("**")[0]
    rows = [x.split("|")[1:-1] for x in table.splitlines() if x.startswith("|")][2:]
    assert rows
    kinds = {"false rejects": "fr", "false accepts by probe": "fa_as_probe"}
    kinds["false accepts by claim"] = "fa_as_claimed"
    error = ""
    by_error = {}
    for row in rows:
        error = kinds.get(row[0].strip(), error)
        by_error.setdefault(error, []).append((row[1].strip(), float(row[3].split("%")[0])))
    for error, listed in by_error.items():
        rates = [rate for _, rate in listed]
        assert rates == sorted(rates, reverse=True) and min(rates) > 0
        expected = frame[(frame["error"] == error) & (frame["value"] > 0)]
        assert {name for name, _ in listed} == {*expected["subject"].astype(str)}


def test_one_subject_has_two_halves():
    scores = be.Scores(values()[:11, :11], np.repeat(["a", "b"], [9, 2]))
    tests = [x.sentence for x in be.messages(be.zoo(scores)) if x.code == "animals-not-tested"]
    assert any("1 subject has two halves" in x for x in tests)
    assert not any("1 subject have" in x for x in tests)


def test_a_comparison_names_rates_of_visits_as_one_system_does(capsys):
    one = shown(be.verification(visits()), capsys, verbose=True)
    several = shown(be.compare({"a": visits(), "b": visits(2)}), capsys, verbose=True)
    for text in (one, several):
        assert "FAR: false accept rate;" in text and "ISO: FMR" not in text
        assert "FMR100" not in text


def test_the_order_of_rows_that_decides_sides_is_said():
    made = values()
    names = np.array([f"{who}_{i % 9}" for i, who in enumerate(WHO)])
    impression = {"impression": np.tile(np.arange(9), 6)}
    of_names = impression | {"name": names}
    uneven = np.triu(made) + np.tril(made + 0.25, -1)
    for meta, scores_of, is_said in (
        (impression, uneven, True),
        (impression, made, False),
        (of_names, uneven, False),
    ):
        found = sentences(be.evaluate(be.Scores(scores_of, WHO, probe_meta=meta), "fvc2004"))
        assert ("sides-by-order" in found) == is_said
        assert "first-by-order" not in found


def test_failed_attempts_are_why_no_threshold_has_a_rate():
    made = values()
    made[np.random.default_rng(0).random(made.shape) < 0.2] = np.nan
    scores = be.Scores(made, WHO, nan="reject")
    is_genuine = (WHO[:, None] == WHO) & ~np.eye(54, dtype=bool)
    failed = int(np.isnan(made[is_genuine]).sum())
    expected = rf"because none accepts failed attempts \({failed} of 432 genuine"
    with pytest.raises(be.ProtocolError, match=expected):
        be.zoo(scores, threshold="frr=0.01")


# What an error advises leads to the result.


@pytest.mark.parametrize("file", ["x.npz", "x.npy", "x.csv"])
def test_failed_scores_of_a_matrix_are_named(file, tmp_path):
    made = values()
    made[3, 4] = made[4, 3] = made[5, 50] = -1
    np.save(tmp_path / "x.npy", made)
    np.savez(tmp_path / "x.npz", scores=made, labels=WHO)
    pd.DataFrame(made).to_csv(tmp_path / "x.csv", index=False, header=False)
    pd.DataFrame({"label": WHO}).to_csv(tmp_path / "who.csv", index=False)
    labels = {} if file == "x.npz" else {"labels": tmp_path / "who.csv"}
    scores = be.load(tmp_path / file, failed=-1, nan="exclude", **labels)
    expected = np.where(made == -1, np.nan, made)
    np.testing.assert_array_equal(np.asarray(scores.values), expected)


def test_advice_on_suspected_failures_names_the_argument():
    made = values()
    made[7, :] = made[:, 7] = -1
    check = be.check_data(be.Scores(made, WHO))
    (sentence,) = [x.sentence for x in be.messages(check) if x.code == "values-of-failures"]
    assert "read the file with `failed=-1`" in sentence


def test_owners_in_exchanged_columns_are_suspected(tmp_path):
    i, j = np.triu_indices(54, 1)
    names = np.array([f"t{k}" for k in range(54)])
    columns = {"template_a": names[i], "template_b": names[j]}
    columns |= {"subject_a": WHO[j], "subject_b": WHO[i], "distance": values()[i, j]}
    pd.DataFrame(columns).to_csv(tmp_path / "x.csv", index=False)
    with pytest.raises(be.DataError, match="are subject_a and subject_b, or .*exchanged"):
        be.load(tmp_path / "x.csv")


def test_tables_in_other_forms_are_to_be_saved_as_csv(tmp_path):
    table = pd.DataFrame({"distance": [1.0, 2.0], "genuine": [1, 0]})
    table.to_csv(tmp_path / "x.csv", index=False, encoding="utf-16")
    (tmp_path / "x.xlsx").write_bytes(b"PK\x03\x04" + b"\0" * 26 + b"[Content_Types].xml")
    for name in ("x.csv", "x.xlsx"):
        with pytest.raises(be.DataError, match="save it as CSV, UTF-8"):
            be.load(tmp_path / name)


@pytest.mark.parametrize("splitter", [KFold, be.partition.SubjectKFold])
@pytest.mark.parametrize("call", [be.cross_evaluate, be.repeat])
def test_a_class_in_place_of_a_splitter(call, splitter):
    name = splitter.__name__
    with pytest.raises(be.DataError, match=rf"is the class {name}; .*give {name}\(\)"):
        call(be.Scores(values(), WHO), splitter)


def test_results_in_place_of_scores():
    result = be.verification(be.Scores(values(), WHO))
    for systems in ((result, result), ({"a": result, "b": result},)):
        with pytest.raises(be.DataError, match=r"a result \(verification, .* the scores of all"):
            be.compare(*systems)


def test_dissimilarities_are_distances():
    with pytest.raises(be.DataError, match="Did you mean 'distance'"):
        be.Scores(values(), WHO, kind="dissimilarity")


def test_the_columns_of_one_side_are_listed():
    made, meta = values(), {"sess": np.arange(27)}
    scores = be.Scores(made[:27, 27:], WHO[:27], WHO[27:], probe_meta=meta)
    with pytest.raises(be.DataError, match="the probe metadata have sess. Did you mean 'sess'"):
        scores.excluding("session")


def test_visits_without_a_name_are_said():
    scores = be.Scores(values(), WHO, probe_meta={"visit": np.tile(["v1", "v1", ""], 18)})
    with pytest.raises(be.DataError, match="give each probe its value, or leave these rows out"):
        be.claim_scores(scores, attempts="visit")


def test_one_subject_or_probe_takes_no_verb_of_several():
    scores = values()[:10, :10]
    scores[0, 1] = np.nan
    one = be.Scores(scores, [*WHO[:9], "b"], nan="exclude")
    found = sentences(be.check_data(one)) | sentences(be.closed_set(one, unmated="skip"))
    alone = "1 subject with one template, and so without a genuine attempt"
    assert found["subjects-with-one-template"].startswith(alone)
    part = "a part of the gallery was not compared with 1 of 10 probes (each probe"
    assert found["candidates-missing"].startswith(part)
