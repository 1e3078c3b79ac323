"""Checks of data: each fault is found where it is planted, and nothing is found in sound data."""

import csv
import json
from typing import Any

import numpy as np
import pytest
from reference import one_thread  # noqa: F401
from result_messages import arguments

import bioeval as be
from bioeval.cli import main

WHO = np.repeat(np.arange(40), 4)
TARGETS = (0.1,)
SOUND = {"samples", "layout", "labels", "names", "compared", "people"} | {
    "failed", "sentinels", "zero-distance", "kind", "complete",
}  # fmt: skip


def distances(seed: int = 0, who: np.ndarray = WHO) -> np.ndarray:
    rng = np.random.default_rng(seed)
    templates = 2 * rng.normal(size=(len(who), 6))[who] + rng.normal(size=(len(who), 6))
    return np.linalg.norm(templates[:, None] - templates[None], axis=2)


def checked(values: Any, labels: Any = WHO, gallery: Any = None, **options: Any) -> Any:
    return be.check_data(be.Scores(values, labels, gallery, **options), far_targets=TARGETS)


def end_values(finding: Any) -> list[float]:
    """Return the values at an end of the scores that many share."""
    return list(map(pytest.approx, finding.found.arguments["values"]))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_copies_are_found_whichever_way_their_comparison_is_rounded(dtype):
    """A cosine distance of a copy is 0 up to rounding, as its similarity is 1."""
    templates = np.random.default_rng(0).normal(size=(160, 6)) + 2 * distances()[:, :6]
    templates[7] = templates[31]
    templates = (templates / np.linalg.norm(templates, axis=1, keepdims=True)).astype(dtype)
    cosine = templates @ templates.T
    for values, kind in ((cosine, "similarity"), (1 - cosine, "distance")):
        finding = checked((values + values.T) / 2, kind=kind)["zero-distance"]
        assert finding.code == "copies-of-two" and finding.count == 1


def test_scores_that_are_not_counted_are_looked_at_nevertheless():
    values = np.random.default_rng(0).integers(0, 1 << 60, (160, 160))
    check = checked(values, kind="similarity")
    assert (check["kind"].severity, check["kind"].code) == ("error", "scores-not-counted")
    assert "exactly in float64" in check["kind"].message
    assert {x.check for x in check.findings} == SOUND


def test_sound_data_have_no_fault():
    sound_distances = distances()
    for values, kind in ((sound_distances, "distance"), (-sound_distances, "similarity")):
        result = checked(values, kind=kind)
        assert {x.check for x in result} == SOUND and not result.misleads
        assert {x.severity for x in result} == {"ok"}


def of_both_signs(seed):
    scores = be.simulate(40, 4, model="gaussian-scores", d_prime=3, random_state=seed)
    values = 3 * (1.5 - scores.values)
    np.fill_diagonal(values, 30)  # a template against itself
    return be.Scores(values, WHO, kind="similarity")


def listed(seed):
    genuine = np.arange(3000) < 1000
    distance = np.random.default_rng(seed).gamma(9, 0.1 + 0.15 * ~genuine)
    return be.Scores.from_pairs(distance, genuine)


FEW, UNEQUAL = np.repeat(np.arange(8), 6), np.repeat(np.arange(60), 1 + np.arange(60) % 9)
SOUND_SCORES = {
    "cosine of embeddings": lambda seed: be.simulate_embeddings(50, 5, random_state=seed).scores(
        "cosine"
    ),
    "similarities 0 to 1": lambda seed: be.Scores(
        np.exp(-distances(seed) / 4), WHO, kind="similarity"
    ),
    "integers 0 to 100": lambda seed: be.Scores(
        np.rint(np.clip(100 - 10 * distances(seed), 0, 100)).astype("u1"), WHO, kind="similarity"
    ),
    "similarities of both signs": of_both_signs,
    "1 to 9 templates": lambda seed: be.Scores(distances(seed, UNEQUAL), UNEQUAL),
    "8 subjects": lambda seed: be.Scores(distances(seed, FEW), FEW),
    "list of pairs": listed,
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", SOUND_SCORES)
def test_no_check_raises_alarm_in_sound_scores(kind):
    for seed in range(5):
        check = be.check_data(SOUND_SCORES[kind](seed))
        assert not check.with_severity("warning", "error"), seed


def test_samples():
    def samples(rows, columns=None):
        """Return the finding about all templates against all, or some rows against some columns."""
        if columns is None:
            return checked(distances()[rows, rows], WHO[rows])["samples"]
        return checked(distances()[rows, columns], WHO[rows], WHO[columns])["samples"]

    assert samples(slice(159)).message == "40 subjects with 3 to 4 templates each (median 4)"
    single = samples(slice(157))
    assert (single.severity, single.count, single.where) == ("note", 1, "39")
    for doubtful in (slice(None, None, 4), slice(4)):  # no mates, and one subject
        finding = samples(doubtful)
        assert (finding.severity, finding.code) == ("error", "labels-doubtful")
    unenrolled = samples(slice(80), slice(80, None))
    assert (unenrolled.severity, unenrolled.code) == ("error", "no-mate-in-gallery")
    assert unenrolled.found.arguments["probe_dtype"] == "int64"
    some_unenrolled = samples(slice(80), slice(40, None))
    assert some_unenrolled.severity == "ok"
    assert "40 probes of subjects that are not" in some_unenrolled.message
    mates_alone = be.check_data(be.Scores.from_pairs(np.arange(9.0), np.ones(9)))
    assert mates_alone["samples"].severity == "error"
    assert "1 genuine pair at distance 0" in mates_alone["zero-distance"].message


@pytest.mark.parametrize(
    ("one", "other", "shown"),
    [
        ("\u00e9va", "e\u0301va", ("'\\xe9va'", "'e\\u0301va'")),
        ("ann", "ann\u200b", ("'ann'", "'ann\\u200b'")),
        ("ann", "\ufeffann", ("'ann'", "'\\ufeffann'")),
        ("ann", "a\xadnn", ("'ann'", "'a\\xadnn'")),
        ("ann b", "ann\xa0b", ("'ann b'", "'ann\\xa0b'")),
        ("7", "007", ("'7'", "'007'")),
        ("0", "00", ("'0'", "'00'")),
    ],
)
def test_labels_that_look_alike(one, other, shown):
    labels = np.array([one, one, other, other, "zoe", "zoe"])
    for sides in ((labels,), (labels[[0, 1, 4]], labels[2:5])):  # of one side, or of both
        scores = be.Scores(np.ones([len(sides[0]), len(sides[-1])]), *sides)
        result = be.check_data(scores, read_scores=False)["labels"]
        assert (result.severity, result.count) == ("warning", 1)
        assert set(result.where.split(" and ")) == set(shown)


def test_the_same_list_of_labels_on_both_sides_is_no_fault():
    """The scores on the diagonal tell equal templates from different templates."""
    labels_of_both = np.concatenate([WHO, WHO])
    other_templates = be.Scores(distances(1, labels_of_both)[:160, 160:], WHO, WHO)
    assert be.check_data(other_templates, far_targets=TARGETS)["layout"].severity == "ok"
    unread = be.check_data(other_templates, far_targets=TARGETS, read_scores=False)["layout"]
    assert unread.severity == "note"
    # With one template a subject but for two, a mate of one's own is nearest anyway.
    few_labels = np.r_[np.arange(30), 0, 1]
    single = be.Scores(
        distances(2, np.concatenate([few_labels, few_labels]))[:32, 32:], few_labels, few_labels
    )
    assert be.check_data(single, far_targets=TARGETS)["layout"].severity == "ok"


def test_labels():
    names = np.array([f"p{x}" for x in WHO], dtype=object)
    assert checked(distances(), names)["labels"].severity == "ok"
    names[5] = "P1 "
    result = checked(distances(), names)["labels"]
    assert (result.severity, result.count, result.where) == ("warning", 1, "'p1' and 'P1 '")
    names[5:9] = "unknown"
    result = checked(distances(), names)["labels"]
    assert (result.severity, result.count, result.where) == ("note", 4, "'unknown'")


def test_names():
    names = [f"{i}.png" for i in range(160)]
    assert checked(distances(), probe_meta={"file": names})["names"].severity == "ok"
    names[7] = "3.png"
    assert checked(distances(), probe_meta={"img_path": names})["names"].severity == "warning"
    result = checked(distances(), probe_meta={"file": names})["names"]
    assert (result.severity, result.count, result.where) == ("warning", 1, "'3.png' (rows 3, 7)")
    scores_with_names = be.Scores(
        distances()[:80, 80:], WHO[:80], WHO[:80],
        probe_meta={"file": names[:80]}, gallery_meta={"file": names[79:159]},
    )  # fmt: skip
    assert (
        be.check_data(scores_with_names.select(probes=np.r_[:3, 4:80]))["names"].where == "'79.png'"
    )


@pytest.mark.parametrize("kind", ["distance", "similarity"])
def test_failed_and_infinite(kind):
    sign = 1 if kind == "distance" else -1
    values = sign * distances()
    values[3, 5] = values[9, 2] = np.nan
    result = checked(values, kind=kind)["failed"]
    assert (result.severity, result.count) == ("error", 2)
    assert checked(values, kind=kind, nan="exclude")["failed"].severity == "note"
    for infinite, severity in ((np.inf, "note"), (-np.inf, "warning")):
        values = sign * distances()
        values[3, 5] = sign * infinite
        assert checked(values, kind=kind)["failed"].severity == severity
    values = sign * distances()
    np.fill_diagonal(values, np.nan)
    assert checked(values, kind=kind)["failed"].severity == "ok"


def scattered(values: np.ndarray, value: float, part: float = 0.02) -> np.ndarray:
    """Return scores with a fixed value in some cells, at random templates."""
    values = values.copy()
    values[np.random.default_rng(9).random(values.shape) < part] = value
    return values


@pytest.mark.parametrize(
    ("values", "value", "severity"),
    [
        (distances() / 20, -1.0, "error"),  # far from distances below 1
        (distances(), -1.0, "error"),  # below 0, where no distance is
        (np.rint(4 * distances()), -1.0, "error"),
        (distances() + 2, 1.5, "error"),
        (distances(), 999.0, "warning"),  # rejected, as what failed may be
        (distances(), 1.2 * distances().max(), "warning"),
    ],
    ids=["far", "negative", "integers", "accepted", "rejected", "apart"],
)
def test_values_that_many_share_at_either_end(values, value, severity):
    result = checked(scattered(values, value))["sentinels"]
    assert result.severity == severity and end_values(result) == [value]
    ordinary = checked(values)["sentinels"]
    assert ordinary.severity == "ok"
    pairs = be.Scores.from_pairs(scattered(values, value).ravel(), (WHO[:, None] == WHO).ravel())
    check_of_list = be.check_data(pairs, far_targets=TARGETS)["sentinels"]
    assert check_of_list.severity == severity
    assert check_of_list.found.arguments["how"] == result.found.arguments["how"]
    assert end_values(check_of_list) == [value]


@pytest.mark.parametrize("value", [1.4, 7.0, -1.0, 0.0])
def test_values_that_many_share_at_either_end_of_similarities(value):
    values = np.exp(-distances() / 4) * 0.8 + 0.05
    assert checked(values, kind="similarity")["sentinels"].severity == "ok"
    result = checked(scattered(values, value), kind="similarity")["sentinels"]
    assert result.severity == ("error" if value >= 1 else "warning")
    assert end_values(result) == [value]


def test_a_negative_similarity_below_whole_numbers_is_a_failure_code():
    """As of fingers in BSSR1: many scores near 0, and -1 next to them."""
    rng = np.random.default_rng(3)
    same = np.arange(30)[:, None] // 2 == np.arange(30) // 2
    values = np.where(same, rng.integers(20, 200, (30, 30)), rng.poisson(4, (30, 30))).astype(float)

    def found(values):
        return checked(values, np.arange(30) // 2, kind="similarity")["sentinels"]

    assert found(values).severity == "ok"
    finding = found(scattered(values, -1.0))
    assert (finding.severity, finding.code) == ("warning", "values-of-failures")
    assert end_values(finding) == [-1]
    assert finding.found.arguments["how"] == "the only value below 0"


def copied(values: np.ndarray, one: int, other: int) -> np.ndarray:
    """Return distances where a template is a copy of another."""
    values = values.copy()
    values[other] = values[one]
    values[:, other] = values[:, one]
    values[one, other] = values[other, one] = values[other, other] = 0
    return values


@pytest.mark.parametrize("fill", [0.0, np.nan, 5.0])
def test_copies_under_one_label_and_under_two(fill):
    same, copied_to_other = copied(distances(), 4, 6), copied(distances(), 4, 60)
    for values in (same, copied_to_other):
        np.fill_diagonal(values, fill)
    zero = checked(same)["zero-distance"]
    assert (zero.severity, zero.count, zero.code) == ("note", 1, "copies-of-one")
    genuine = WHO[:, None] == WHO
    off = ~np.eye(160, dtype=bool)
    listed = be.Scores.from_pairs(copied_to_other[off], genuine[off])
    for found, number in (
        (checked(copied_to_other), 1),
        (checked(1 - copied_to_other, kind="similarity"), 1),
        (checked(copied_to_other[:80], WHO[:80], WHO), 2),
        (be.check_data(listed, far_targets=TARGETS), 2),
    ):
        zero = found["zero-distance"]
        assert (zero.severity, zero.count, zero.code) == ("warning", number, "copies-of-two")
    near = copied_to_other.copy()
    near[4, 60] = near[60, 4] = -1e-4  # no copy, whatever it is
    assert checked(near)["zero-distance"].severity == "ok"


def test_the_similarity_of_a_copy_is_not_known_beyond_1():
    values = 100 - 10 * distances()
    values[4, 60] = values[60, 4] = 1
    result = checked(values, kind="similarity")["zero-distance"]
    assert result.severity == "ok"
    genuine = WHO[:, None] == WHO
    list_of_pairs = be.Scores.from_pairs(values.ravel(), genuine.ravel(), kind="similarity")
    result = be.check_data(list_of_pairs, far_targets=TARGETS)["zero-distance"]
    assert result.severity == "ok"


def test_kind():
    sound_distances = distances()
    for values, kind, other_kind in (
        (sound_distances, "similarity", "distance"),
        (-sound_distances, "distance", "similarity"),
    ):
        result = checked(values, kind=kind)["kind"]
        assert result.severity == "error" and result.found.arguments["other"] == other_kind
        assert result.code == "kind-wrong"
    shuffled = WHO.copy()
    np.random.default_rng(0).shuffle(shuffled)
    chance = checked(sound_distances, shuffled)["kind"]
    assert chance.severity in ("note", "warning")
    against = checked(sound_distances[::2, 1::2], WHO[::2], WHO[1::2], kind="similarity")["kind"]
    assert against.severity == "error"


@pytest.mark.parametrize("form", ["counts", "proportions", "similarities", "roots", "float roots"])
def test_genuine_zeros_of_codes_are_no_fault(form):
    rng = np.random.default_rng(0)
    codes = (rng.random((40, 256)) < 0.5)[WHO] ^ (rng.random((160, 256)) < 0.2)
    counts = (codes[:, None] ^ codes[None]).sum(axis=2)
    values = {
        "counts": counts, "proportions": counts / 256, "similarities": 1 - counts / 256,
        "roots": np.sqrt(counts), "float roots": np.sqrt(counts / 256).astype(np.float32),
    }[form]  # fmt: skip
    kind = "similarity" if form == "similarities" else "distance"
    result = checked(values, kind=kind)
    assert len(np.unique(values)) < 160  # about 100 distinct scores
    assert not result.with_severity("warning", "error")


def test_masks_orders_cards_and_lists():
    values = distances()
    values[3, 5] = np.nan
    mask = np.full((160, 160), 1, dtype=np.uint8)
    mask[WHO[:, None] == WHO] = 2
    mask[3, 5] = 0
    np.fill_diagonal(mask, 0)
    assert checked(values, mask=mask)["failed"].severity == "ok"
    assert be.check_data(be.Scores(values, mask=mask), far_targets=TARGETS)["failed"].count == 0
    order = distances().argsort(axis=1).argsort(axis=1)
    result = be.check_data(be.Scores(order, WHO, kind="order"), far_targets=TARGETS)
    assert {x.check for x in result} & {"kind", "zero-distance"} == set()
    cameras = {"camera": np.arange(80) % 2}
    reid = be.Scores(
        distances()[:80, 80:], WHO[:80], np.r_[WHO[:76], -1, -1, -1, -1],
        probe_meta=cameras, gallery_meta=cameras,
    )  # fmt: skip
    auto = be.check_data(reid)
    assert auto["labels"].where == "-1"
    by_card = {x.check for x in be.check_data(reid, "market1501")}
    assert "labels" not in by_card
    lists = be.check_data(be.Scores.from_top_k([[0, 1]], ["a"], ["a", "b"]))
    assert lists["samples"].severity == "ok" or lists["samples"].message
    assert not {"kind", "failed"} & {x.check for x in lists.findings}


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("check") / "s.npz"
    be.save(be.Scores(distances(), WHO), path)
    return str(path)


@pytest.mark.slow
def test_the_command_says_by_its_exit_code_whether_a_result_would_mislead(file, tmp_path, capsys):
    assert main(["check", file, "--far", "0.1"]) == 0
    assert "nothing found" in capsys.readouterr().out
    out, undeclared = tmp_path / "o", str(tmp_path / "u.npz")
    np.savez(undeclared, scores=distances(), labels=WHO)
    assert main(["check", undeclared, "--kind", "similarity", "--out", str(out)]) == 1
    text = capsys.readouterr().out
    assert "give distance as --kind" in " ".join(text.split()) and "would be misleading" in text
    with open(out / "findings.csv", encoding="utf-8") as table:
        rows = {x["check"]: x["severity"] for x in csv.DictReader(table)}
    document = json.loads((out / "summary.json").read_text())
    assert rows == {x["check"]: x["severity"] for x in document["findings"]}
    assert document["misleads"] is True and rows["kind"] == "error"
    assert main(["check", file, "--json", "--far", "0.1"]) == 0
    assert json.loads(capsys.readouterr().out)["misleads"] is False
    assert main(["check", file + "x"]) == 2


def test_labels_are_doubted_where_a_metric_gave_the_kind():
    """Its distances cannot be given another kind."""
    rng = np.random.default_rng(0)
    embeddings = np.repeat(rng.normal(size=(20, 1)), 2, axis=0) + np.tile([[0.0], [9.0]], (20, 1))
    labels = np.repeat(np.arange(20), 2)
    result = be.verification(be.Scores.from_embeddings(embeddings, labels, metric="l2"))
    assert result.eer > 0.7
    assert "l2" in arguments(result, "labels-wrong")["metric"]
    from_callable = be.Scores.from_embeddings(
        embeddings, labels, metric=lambda a, b: abs(a - b.T), kind="distance"
    )
    with pytest.warns(be.BioevalWarning, match="give similarity as `kind`"):
        be.verification(from_callable)


@pytest.mark.parametrize("nan", ["exclude", "reject"])
def test_the_eer_of_a_check_is_that_of_an_evaluation(nan):
    values = np.asarray(be.simulate(12, 3, random_state=4).values).copy()
    values[:6, 6:] = values[6:, :6].T[...] = np.nan
    np.fill_diagonal(values, 0)
    scores = be.Scores(values, np.repeat(np.arange(12), 3), nan=nan)
    eer = 100 * be.verification(scores).eer.item()
    assert be.check_data(scores)["kind"].message == f"EER {eer:.3g} % over all attempts"


def test_messages_of_a_check_are_its_findings():
    scores = be.Scores(copied(distances(), 4, 60), WHO)
    result = be.check_data(scores)
    findings = [x for x in result if x.severity != "ok"]
    messages = be.messages(result)
    assert {x.code for x in messages} == {x.code for x in findings}
    assert messages[0].code in {x.code for x in result.with_severity("warning")}
    assert {x.sentence for x in messages} == {x.message for x in findings}
