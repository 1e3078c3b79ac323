"""The worked examples of the biometrics lecture, through the public functions."""

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from reference import one_thread  # noqa: F401

import bioeval as be


@pytest.fixture
def example(root, request) -> dict[str, Any]:
    """The example that the test names by an indirect parameter."""
    path = root / "tests" / "data" / "lecture" / request.param
    return json.loads(path.read_text(encoding="utf-8"))


def each_example(*names: str):
    return pytest.mark.parametrize("example", names, indirect=True, ids=lambda x: x)


def as_scores(example: dict[str, Any], kind: str = "order") -> be.Scores:
    labels = [probe["label"] for probe in example["expected"]]
    return be.Scores(example["order_matrix"], labels, example["gallery_labels"], kind=kind)


def rows(example: dict[str, Any]):
    """Each probe alone: within one row the orders can be compared as distances."""
    scores = as_scores(example, kind="distance")
    for i, probe in enumerate(example["expected"]):
        yield i, probe, scores.select(probes=[i])


# ------------------------------------------------------------------------------- denominators


@each_example("error_rate_normalisation.json")
def test_each_rate_divides_by_the_attempts_of_its_own_class(example):
    for row in example["rows"]:
        genuine = [1.0] * row["FR"] + [0.0] * (row["genuine"] - row["FR"])
        impostor = [0.0] * row["FA"] + [1.0] * (row["impostor"] - row["FA"])
        scores = np.array(genuine + impostor)
        classes = np.repeat([1, 0], [row["genuine"], row["impostor"]])
        pairs = be.Scores.from_pairs(scores, classes)
        masked = be.Scores(scores[None], mask=1 + classes[None])
        similar = be.Scores.from_pairs(1 - scores, classes, kind="similarity")
        for scores_given in (pairs, masked, similar):
            ds = be.verification(scores_given, thresholds=[0.5])
            assert (ds.fr.item(), ds.fa.item()) == (row["FR"], row["FA"])
            assert ds.frr.item() == row["FRR"] == float(Fraction(row["FRR_exact"]))
            assert ds.far.item() == row["FAR"] == float(Fraction(row["FAR_exact"]))
            assert round(ds.frr.item(), 2) == row["FRR_rounded"]
            assert round(ds.far.item(), 2) == row["FAR_rounded"]
            accuracy = (ds.ga + ds.gr) / (ds.genuine_attempts + ds.impostor_attempts)
            assert accuracy == row["accuracy"]


# ------------------------------------------------------------------------------- verification

VERIFICATION = ("verification_single.json", "verification_multiple.json")


def templates_of(example: dict[str, Any]) -> str:
    return "single" if example["template_policy"] == "single" else "multi"


@each_example(*VERIFICATION)
def test_the_claims_of_the_slides(example):
    templates = templates_of(example)
    order = sorted(x for row in example["order_matrix"] for x in row)
    for i, probe, scores in rows(example):
        column = example["gallery_templates"].index(probe["deciding_template"])
        assert example["order_matrix"][i][column] == probe["deciding_order"]
        enrolled = bool(be.ranks(scores).enrolled.item())
        assert enrolled == probe["label_in_gallery"]
        claimed = be.verification(
            scores, claims=[probe["claim"]], templates=templates, thresholds=sorted(set(order))
        )
        genuine = probe["role"] == "genuine"
        assert (claimed.genuine_attempts, claimed.impostor_attempts) == (genuine, not genuine)
        points = (claimed.isel(threshold=k) for k in range(99))
        for threshold, point in zip(claimed.threshold.values, points, strict=False):
            outcome = (
                probe["if_accepted"]
                if probe["deciding_order"] <= threshold
                else probe["if_rejected"]
            )
            counts = {name.upper(): int(point[name]) for name in ("ga", "fr", "fa", "gr")}
            assert counts == {"GA": 0, "FR": 0, "FA": 0, "GR": 0, outcome: 1}


# ------------------------------------------------------------------------------- identification


@each_example(
    "open_set_single.json",
    "open_set_multiple.json",
    "closed_set_single.json",
    "closed_set_multiple.json",
)
def test_the_ordered_lists_of_the_slides(example):
    """The place of a template is its rank where each template is a subject of its own."""
    templates = example["gallery_templates"]
    for i, probe in enumerate(example["expected"]):
        one_each = be.Scores(
            [example["order_matrix"][i]] * len(templates), templates, templates, kind="order"
        )
        place = be.ranks(one_each).identification_rank.values
        ordered = [templates[j] for j in np.argsort(place)]
        assert ordered == probe["ordered_templates"]


@each_example("open_set_single.json", "open_set_multiple.json")
def test_the_roles_of_the_open_set(example):
    ranks = be.ranks(as_scores(example))
    ranks_of, templates = ranks.identification_rank.values, example["gallery_templates"]
    for i, probe, scores in rows(example):
        row = example["order_matrix"][i]
        thresholds = np.arange(0, len(row) + 1)
        ds = be.open_set(scores, thresholds=thresholds)
        if probe["role"] == "genuine":
            mate = row[templates.index(probe["best_mate"])]
            assert ranks_of[i] == probe["best_mate_template_rank"]
            assert ranks.mate_distance[i] == mate
            assert (ds.genuine_attempts, ds.impostor_attempts) == (1, 1)
            k = probe["detected_and_identified_at_rank"]
            expected = np.zeros((len(thresholds), len(row)))
            expected[thresholds >= mate, k - 1] = 1
            np.testing.assert_array_equal(ds.di, expected)
            always = probe["counts_in_FRR"].startswith("always")
            np.testing.assert_array_equal(
                ds.frr, np.where((thresholds >= mate) & (not always), 0, 1)
            )
        else:
            assert np.isnan(ranks_of[i]) and not ranks.enrolled[i]
            nearest = row[templates.index(probe["nearest_template"])]
            assert ranks.nearest_other[i] == nearest
            assert (ds.genuine_attempts, ds.impostor_attempts) == (0, 1)
            np.testing.assert_array_equal(ds.fa, thresholds >= nearest)
            np.testing.assert_array_equal(ds.gr, thresholds < nearest)
    roles = [probe["role"] for probe in example["expected"]]
    dataset = be.open_set(as_scores(example, kind="distance"))
    assert dataset.genuine_attempts == roles.count("genuine")
    assert dataset.impostor_attempts == roles.count("impostor")
    assert dataset.attrs["impostors"] == "unenrolled"


@each_example("closed_set_single.json", "closed_set_multiple.json")
def test_the_closed_set(example):
    scores = as_scores(example)
    for unit in ("template", "subject"):
        rank = be.ranks(scores, rank_unit=unit).identification_rank.values
        assert rank.tolist() == [probe[f"{unit}_rank"] for probe in example["expected"]]
        for ties in ("pessimistic", "optimistic", "stable", "expected"):
            closed = be.closed_set(scores, rank_unit=unit, ties=ties)
            assert closed.cms_count.values.tolist() == example[f"CMS_count_by_{unit}_rank"]
        assert closed.attempts == example["attempts"]
        assert closed.recognition_rate == example[f"CMS_count_by_{unit}_rank"][0] / 3
    mates = be.ranks(scores).mate_distance.values
    for i, probe in enumerate(example["expected"]):
        column = example["gallery_templates"].index(probe["best_mate"])
        assert mates[i] == example["order_matrix"][i][column]
        curve = be.closed_set(scores.select(probes=[i])).cms.values
        assert np.argmax(curve) + 1 == probe["contributes_to_CMS_from"]


@each_example("identity_dedup.json")
def test_ranks_of_identities(example):
    retrieved = example["retrieved_ids"]
    scores = be.Scores([np.arange(len(retrieved))], [example["query_id"]], retrieved, kind="order")
    assert be.ranks(scores).identification_rank.item() == example["template_rank"]
    closed = be.closed_set(scores, rank_unit="subject")
    assert len(closed.cms) == len(example["deduplicated"])
    for rank, hit in example["cmc_at"].items():
        assert closed.cms.sel(rank=int(rank)) == hit
    for place, subject in enumerate(example["deduplicated"], start=1):
        row = be.Scores([np.arange(len(retrieved))], [subject], retrieved, kind="order")
        assert be.ranks(row, rank_unit="subject").identification_rank.item() == place
