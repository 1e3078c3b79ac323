"""Fusion of systems against plain loops, and from the shell."""

import json
import math
from collections.abc import Sequence

import numpy as np
import pytest
from json_rows import rows
from reference import one_thread  # noqa: F401
from result_messages import codes
from result_text import as_text

import bioeval as be
from bioeval.cli import main

RULES = ("mean", "min", "max")
LABELS = ["ann", "ann", "bob", "bob", "bob", "cy", "cy", "dan"] * 2


def system(seed: int, kind: str, labels: list = LABELS, **options) -> be.Scores:
    """Scores in which genuine scores are closer, with infinities and a diagonal of NaN."""
    rng = np.random.default_rng(seed)
    mates = np.equal.outer(labels, labels)
    values = np.round(rng.normal(size=mates.shape) + 1.2 * mates, 2)
    values[0, 2], values[1, 3] = np.inf, -np.inf
    np.fill_diagonal(values, np.nan)
    return be.Scores(values if kind != "distance" else -values, labels, kind=kind, **options)


@pytest.fixture
def systems() -> dict[str, be.Scores]:
    return {"face": system(1, "distance"), "finger": system(2, "similarity")}


def similarities(scores: be.Scores) -> np.ndarray:
    return -scores.values if scores.kind == "distance" else scores.values


def scaled(x: float, how: str, train: Sequence[float]) -> float:
    """One score (a similarity) on the common scale of several systems."""
    finite = [v for v in train if math.isfinite(v)]
    if how == "min-max":
        return (x - min(finite)) / (max(finite) - min(finite))
    mean = math.fsum(finite) / len(finite)
    sd = math.sqrt(math.fsum((v - mean) ** 2 for v in finite) / len(finite))
    return (x - mean) / sd if how == "z" else 0.5 * (math.tanh(0.01 * (x - mean) / sd) + 1)


def fused_score(scores: Sequence[float], method: str, weights: Sequence[float] = ()) -> float:
    if method == "product":
        return math.prod(min(1.0, max(0.0, x)) for x in scores)
    if method == "weighted":
        return sum(w * x for w, x in zip(weights, scores, strict=True))
    return {"min": min, "max": max, "mean": lambda x: sum(x) / len(x)}[method](scores)


@pytest.mark.parametrize("normalise", ["min-max", "z", "tanh"])
@pytest.mark.parametrize("method", [*RULES, "product", "weighted"])
def test_fused_scores_are_those_of_the_definition(systems, method, normalise):
    if method == "product" and normalise != "min-max":
        return
    weights = {"finger": 2.0, "face": 0.5} if method == "weighted" else None
    train = {"face": system(3, "distance"), "finger": system(4, "similarity")}
    fused = be.fuse(systems, method, normalise=normalise, weights=weights, train=train)
    others = ~np.eye(len(LABELS), dtype=bool)  # no template against itself
    train_scores = [similarities(s)[others].tolist() for s in train.values()]
    similarity_matrices = [similarities(s) for s in systems.values()]
    assert fused.kind == "similarity"
    for i, j in [(0, 1), (0, 2), (1, 3), (4, 9), (15, 3)]:
        scaled_scores = [
            scaled(x[i, j], normalise, t)
            for x, t in zip(similarity_matrices, train_scores, strict=True)
        ]
        expected = fused_score(scaled_scores, method, [0.5, 2.0])
        np.testing.assert_allclose(fused.values[i, j], expected, rtol=1e-12)
    assert fused.probe_labels.tolist() == LABELS
    assert "trained-on-same-scores" not in {x.code for x in fused.remarks}
    own = be.fuse(systems, method, normalise=normalise, weights=weights)
    assert "trained-on-same-scores" in codes(be.verification(own))


@pytest.mark.parametrize("kind", ["distance", "similarity"])
def test_without_normalisation_scores_and_kind_are_kept(kind):
    pair = {"a": system(1, kind), "b": system(2, kind), "c": system(3, kind)}
    values = [s.values for s in pair.values()]
    for method in RULES:
        fused = be.fuse(pair, method)
        expected = [fused_score([v[4, j] for v in values], method) for j in range(4)]
        np.testing.assert_allclose(fused.values[4, :4], expected)
        assert fused.kind == kind and not fused.remarks


@pytest.mark.parametrize(("nan", "expected"), [("reject", -np.inf), ("exclude", np.nan)])
def test_failed_comparisons(nan, expected):
    first, second = (system(i, "similarity", nan=nan) for i in (1, 2))
    first.values[4, 5], second.values[0, 2] = np.nan, -np.inf
    assert (
        be.fuse({"a": first, "b": second}).values[0, 2] == -np.inf
    )  # the mean of opposite infinities
    fused = be.fuse({"a": first, "b": second}, "min")
    np.testing.assert_equal(fused.values[4, 5], expected)
    assert be.verification(fused).impostor_attempts == be.verification(first).impostor_attempts
    raising = {"a": system(1, "similarity"), "b": system(2, "similarity")}
    raising["a"].values[4, 5] = np.nan
    with pytest.raises(be.DataError, match="1 NaN, the first at row 4, column 5"):
        be.verification(be.fuse(raising))


def test_pairs_and_selections_and_masks():
    first, second = system(1, "similarity"), system(2, "similarity")
    rows = [0, 4, 5, 9, 12]
    part = be.fuse({"a": first.select(rows, rows), "b": second.select(rows, rows)})
    fused = be.fuse({"a": first, "b": second})
    np.testing.assert_array_equal(part.values, fused.values[np.ix_(rows, rows)])
    assert part.layout == "all-against-all"
    pairs = {k: s.at_pairs([0, 3, 5], [1, 6, 7]) for k, s in (("a", first), ("b", second))}
    np.testing.assert_array_equal(be.fuse(pairs).values, fused.values[[0, 3, 5], [1, 6, 7]])
    mask = np.where(np.equal.outer(LABELS, LABELS), 2, 1)
    mask[0] = 0
    np.fill_diagonal(mask, 0)
    masked = {
        k: be.Scores(s.values, LABELS, kind="similarity", mask=mask)
        for k, s in (("a", first), ("b", second))
    }
    result = be.verification(be.fuse(masked))
    assert result.genuine_attempts == (mask == 2).sum()
    unlabelled = {k: be.Scores(s.values, kind="similarity", mask=mask) for k, s in masked.items()}
    result = be.verification(be.fuse(unlabelled, normalise="z"))
    assert result.impostor_attempts == (mask == 1).sum()


def kinds(**kinds):
    """Systems of these kinds with different scores."""
    return {name: system(i, kind) for i, (name, kind) in enumerate(kinds.items())}


PLAIN = kinds(a="similarity", b="similarity")
FLAT = be.Scores(np.ones((16, 16)), LABELS, kind="similarity")
RANKS = system(1, "order", nan="reject")


@pytest.mark.parametrize(
    ("systems", "options", "says"),
    [
        (PLAIN, {"method": "product"}, 'expected `normalise="min-max"`'),
        (PLAIN, {"method": "weighted"}, "`weights` is missing"),
        (PLAIN, {"weights": {"a": 1, "b": 1}}, "`weights` is given"),
        (PLAIN, {"method": "weighted", "weights": {"a": 1}}, "none for 'b'"),
        (PLAIN, {"method": "weighted", "weights": {"a": 1, "b": 1, "c": 2}}, "system is 'c'"),
        (PLAIN, {"method": "weighted", "weights": {"a": 0, "b": 0}}, "all 0"),
        (PLAIN, {"method": "weighted", "weights": {"a": 2, "b": -1}}, "'b' is -1; expected 0"),
        (PLAIN, {"method": "median"}, "`method` is 'median'"),
        (PLAIN, {"normalise": "minmax"}, "Did you mean 'min-max'"),
        (PLAIN | {"b": FLAT}, {"normalise": "z"}, "z normalisation of 'b' .* equal"),
        (kinds(a="distance", b="similarity"), {}, "'a' holds distances, 'b' holds similarities"),
        (
            {"a": PLAIN["a"], "x": system(2, "similarity", [*LABELS[:-1], "eve"])}, {},
            "'a' and 'x': .* first is probe 15 .'dan' and 'eve'",
        ),
        ({"a": PLAIN["a"]}, {}, "two or more systems"),
        ({"a": PLAIN["a"], "b": [[1, 2]]}, {}, "b"),
        (PLAIN | {"b": system(2, "similarity", nan="reject")}, {}, "is 'raise' and 'reject'"),
        ({"a": RANKS, "b": RANKS}, {}, "order within each row"),
    ],
)  # fmt: skip
def test_what_cannot_be_fused_is_refused(systems, options, says):
    with pytest.raises((be.DataError, be.ProtocolError), match=says):
        be.fuse(systems, **options)


def test_training_scores_are_of_the_same_systems_and_kinds(systems):
    with pytest.raises(be.DataError, match="the systems are 'a', 'b'; .*, 'face', 'finger'"):
        be.fuse(PLAIN, normalise="z", train=systems)
    train = {**systems, "face": system(1, "similarity")}
    with pytest.raises(be.DataError, match="on two scales: the kind of the scores of 'face' is"):
        be.fuse(systems, normalise="z", train=train)
    vectors = np.random.default_rng(0).normal(size=(len(LABELS), 3))
    metrics = [be.Scores.from_embeddings(vectors, LABELS, metric=x) for x in ("l2", "l1")]
    with pytest.raises(be.DataError, match="the metric of the scores of 'a' is 'l2', and of its"):
        be.fuse(
            {"a": metrics[0], "b": metrics[0]},
            normalise="z",
            train=dict(zip("ab", metrics[::-1], strict=True)),
        )


def test_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for i, name in enumerate(("face", "finger")):
        be.save(be.simulate(12, 3, within=1.2, random_state=i), f"{name}.npz")
    files = ["face.npz", "finger.npz"]
    assert main(["fuse", *files, "--normalise", "z", "--out", "fused.npz", "--json"]) == 0
    eer_rows = rows(json.loads(capsys.readouterr().out), "eer")
    eer = {row["system"]: row["value"] for row in eer_rows}
    assert list(eer) == ["face", "finger", "fused"]
    assert eer["fused"] == be.verification(be.load("fused.npz")).eer
    weights = ["--method", "weighted", "--weights", "face=2", "--weights", "finger=1"]
    assert main(["fuse", *files, *weights, "--train", *files[:1], "--train", *files[1:]]) == 0
    capsys.readouterr()
    for options, message in (
        (["--out", "fused.npz"], "would be replaced"),
        (["--weights", "face=x", "--method", "weighted"], "'face=x'; expected NAME=NUMBER"),
        (["--name", "fused", "--name", "b"], "give each system another --name"),
        (["--method", "product"], "expected --normalise min-max"),
        (["--name", "a"], "--name is given 1 time for 2 systems"),
        (["--train", "face.npz"], "--train is given 1 time for 2 systems"),
    ):
        assert main(["fuse", *files, *options]) == 2
        assert message in capsys.readouterr().err


WORDS = {
    "distance": "distances, accepted if <= threshold",
    "similarity": "similarities, accepted if >= threshold",
}


def test_systems_of_two_kinds_are_headed_by_theirs():
    scores = {kind: system(i, kind) for i, kind in enumerate(WORDS)}
    scores["other"] = system(5, "distance")
    results = {name: be.verification(x) for name, x in scores.items()}
    lines = as_text(results, width=200).splitlines()
    assert [x.removeprefix("Scores").strip() for x in lines if x.startswith("Scores")] == [
        f"distance and other: {WORDS['distance']}",
        f"similarity: {WORDS['similarity']}",
    ]
