"""GOM as a protocol: curves as input, the card, merging by queries, the command and the figure."""

import numpy as np
import pytest

import bioeval as be

CARD = "gom-market1501"


def searched(**options) -> be.Scores:
    """Queries of 12 subjects, of whom 4 are not in the gallery, under three cameras."""
    people = 12
    simulated = be.simulate(people, 6, random_state=0)
    subject = np.repeat(np.arange(1, people + 1), 6)
    camera = np.tile([0, 1, 2], 2 * people)
    query = np.tile([True, True, True, False, False, False], people)
    enrolled = ~query & (subject <= people - 4)
    values = np.asarray(simulated.values)[np.ix_(query, enrolled)]
    return be.Scores(
        values,
        subject[query],
        subject[enrolled],
        probe_meta={"camera": camera[query]},
        gallery_meta={"camera": camera[enrolled]},
        **options,
    )


# ------------------------------------------------------------------------------------- curves


def test_gom_from_curves_by_hand():
    curves = {
        "mrep": [0.0, 0.5, 0.8, 0.8, 0.3],
        "mfr": [0.0, 0.0, 0.1, 0.6, 1.0],
        "mrp": [0.0, 0.9, 0.9, 0.8, 0.7],
        "mvp": [0.0, 0.4, 0.8, 0.9, 0.2],
    }
    ds = be.gom_from_curves([0.0, 0.2, 0.4, 0.8, 1.0], **curves, cmc=[0.6, 0.6, 1], name="A")
    expected = {
        "mrep_area": 0.2 * 0.25 + 0.2 * 0.65 + 0.4 * 0.8 + 0.2 * 0.55,
        "mfr_area": 0.2 * 0.05 + 0.4 * 0.35 + 0.2 * 0.8,
        "tau_max": 0.4,  # the first of two
        "tau_nz": 0.4,
        "max_mrep": 0.8,
        "max_mvp": 0.9,
        "mean_ap": 0.7,
    }
    assert {name: float(ds[name]) for name in expected} == pytest.approx(expected, abs=1e-15)
    assert {name: ds[name].values.tolist() for name in curves} == curves
    assert ds.cmc.sel(rank=2) == 0.6
    assert ds.attrs["system"] == "A"
    measures = be.gom_from_curves([0.0, 0.5], mrep=[0, 1], mfr=[np.nan] * 2, mrp=[0, 1])
    assert not {"mean_ap", "max_mvp", "mvp", "cmc"} & set(measures)  # the curves end below 1
    assert measures.mrep_area == 0.25
    assert np.isnan([measures.mfr_area, measures.tau_nz]).all()


@pytest.mark.parametrize("variant", ["paper", "reference"])
def test_the_curves_of_a_result_give_its_numbers(variant):
    result = be.gom(searched(), budget=4, variant=variant)
    curves = {name: result[name] for name in ("mrep", "mfr", "mrp", "mvp")}
    again = be.gom_from_curves(result.threshold, **curves, cmc=result.cmc)
    for name in again.data_vars:
        np.testing.assert_allclose(again[name], result[name], rtol=1e-14, err_msg=str(name))
    # A mean of roots is not the root of the means.
    assert (result.mrep < np.sqrt(result.mrp * result.mvp) - 0.001).any()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"threshold": [0, 1, 1]}, "do not increase"),
        ({"threshold": 3}, r"mrep has shape \(3,\)"),
        ({"mrep": [0, 50, 10]}, r"mrep\[1\] = 50; .*divide per cent by 100"),
        ({"mfr": [0, 1]}, r"mfr has shape \(2,\) .* expected 3 numbers"),
        ({"mfr": [0, np.nan, 1]}, r"mfr\[1\] is NaN"),
        ({"mrep": [np.nan] * 3}, r"mrep\[0\] is NaN"),
        ({"mrep": [[0], [0, 1]]}, "mrep is not an array"),
        ({"cmc": [0.5, 0.4]}, "cmc falls"),
        ({"cmc": []}, "cmc has shape"),
        ({"mrp": [0, 0.5, 0.5], "mvp": [0, 0.5, 0.2]}, r"mrep\[2\] = 0.4 is larger than the root"),
    ],
)
def test_curves_that_are_none(changes, words):
    curves = {"threshold": [0, 0.5, 1], "mrep": [0, 0.5, 0.4], "mfr": [0, 0, 1], **changes}
    with pytest.raises(be.DataError, match=words):
        be.gom_from_curves(**curves)


def test_thresholds_and_limits_of_similarities_are_in_their_unit():
    """Scores are not scaled; the smallest similarity is the loosest threshold."""
    distances, taus = searched(), np.array([1.0, 2.5, 4.0])
    sides = {"probe_meta": distances.probe_meta, "gallery_meta": distances.gallery_meta}
    labels = distances.probe_labels, distances.gallery_labels
    similar = be.Scores(-distances.values, *labels, kind="similarity", **sides)
    options = {"scaled": False, "budget": 5, "interval": "people"}
    expected = be.gom(distances, thresholds=taus, **options)
    of_similarities = be.gom(similar, thresholds=-taus[::-1], **options)
    assert of_similarities.threshold.values.tolist() == (-taus[::-1]).tolist()
    for name, values in expected.data_vars.items():
        turned = values.values[::-1] if "threshold" in values.dims else values.values
        turned = 0.0 - turned if name.startswith("tau_") else turned
        np.testing.assert_allclose(of_similarities[name], turned, rtol=1e-12, err_msg=name)


# --------------------------------------------------------------------------------------- card


def card(*lines: str, before: str = "") -> be.Protocol:
    """A card with [gom], of these lines."""
    head = ["schema = 1", 'name = "mine"', 'title = "T"', 'summary = "S"',
            'layout = "probe-against-gallery"', "[source]", 'text = "X"', before]  # fmt: skip
    return be.protocol.parse("\n".join([*head, "[gom]", *lines]), "mine.toml")


def test_the_card_gives_what_the_function_gives():
    scores = searched()
    result = be.evaluate(scores, CARD)["gom"].to_dataset()
    alone = be.gom(scores, convention=CARD)
    assert result.equals(alone) and result.equals(be.gom(scores, max_rank=20))
    assert result.attrs["convention"] == result.attrs["protocol"] == CARD
    options = {"interval": be.stats.IntervalMethod("subject-bootstrap", replicates=100)}
    limits = be.evaluate(scores, CARD, **options)["gom"].to_dataset()
    assert "mrep_area_low" in limits
    assert limits.equals(be.gom(scores, convention=CARD, **options))
    narrow = be.evaluate(scores, CARD, thresholds=[0.2, 0.5], max_rank=2)["gom"].to_dataset()
    assert narrow.equals(be.gom(scores, thresholds=[0.2, 0.5], max_rank=2))


@pytest.mark.slow
def test_every_field_of_the_section_has_its_effect():
    scores = searched()
    lines = {
        "removed": ('removed = "none"', {"convention": "vehicleid"}),
        "distances": ('distances = "as-given"', {"scaled": False}),
        "thresholds": ("thresholds = [0.1, 0.3]", {"thresholds": [0.1, 0.3]}),
        "budget": ("budget = 7", {"budget": 7}),
        "variant": ('variant = "reference"', {"variant": "reference"}),
        "max_rank": ("max_rank = 3", {"max_rank": 3}),
    }
    usual = be.gom(scores)
    for name, (line, options) in lines.items():
        mine = card(line)
        result = be.evaluate(scores, mine)["gom"].to_dataset()
        assert result.equals(be.gom(scores, **options)), name
        assert result.equals(be.gom(scores, convention=mine)), name
        assert not result.equals(usual), name
    strict = card('ties = "pessimistic"')
    assert be.gom(scores, convention=strict).attrs["ties"] == "pessimistic"
    assert be.gom(scores, convention=strict, ties="optimistic").attrs["ties"] == "optimistic"


def test_gom_beside_other_tasks():
    """Verification is over the candidates of a query, at the thresholds of verification."""
    two_tasks = card(before='[verification]\ntemplates = ["single"]\n[reid]\nties = "expected"')
    scores = searched()
    tree = be.evaluate(scores, two_tasks, thresholds=[2.0, 4.0])
    filtered = be.verification(searched(exclude=["camera"]), thresholds=[2.0, 4.0])
    assert tree["verification/single"].far.equals(filtered.far)
    assert tree["gom"].to_dataset().equals(be.gom(scores))
    assert tree["reid"].ds.attrs["ties"] == "expected"


@pytest.mark.parametrize(
    ("lines", "before", "says"),
    [
        (['ties = "expected"'], "", 'ties = "expected"; expected one of "pessimistic"'),
        (["budget = 0"], "", "budget = 0; expected an integer >= 1"),
        (["thresholds = [1, 0.5]"], "", "thresholds holds 1.0 before 0.5"),
        (['removed = "none"'], "[reid]", 'removed = "none"; expected "same-id-same-camera", as in'),
        ([], '[partition]\nby = "subject-folds"', r"\[gom\] is not evaluated in folds"),
    ],
)
def test_cards_that_are_not_valid(lines, before, says):
    with pytest.raises(be.CardError, match=says):
        card(*lines, before=before)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"far_targets": [0.1]}, "does nothing under protocol gom-market"),
        ({"per_query": True}, "`per_query` applies to re-identification only"),
        ({"n_thresholds": 5}, "`n_thresholds` does nothing under protocol gom-market"),
    ],
)
def test_options_without_effect_are_refused(options, says):
    with pytest.raises(be.ProtocolError, match=says):
        be.evaluate(searched(), CARD, **options)


def test_queries_with_one_match_are_in_the_curve_of_ranks():
    """The mates are at ranks 1, 1, 2 and 3; all have another camera."""
    distances = np.array([[0, 1, 2, 3], [1, 0, 5, 1.5], [2, 5, 0, 4], [3, 1.5, 4, 0]])
    camera = {"camera": [0, 1, 0, 1]}
    scores = be.Scores(
        distances, list("aabb"), list("aabb"), probe_meta=camera, gallery_meta=camera
    )
    ds = be.gom(scores, thresholds=[1.0, 3.0], budget=1, max_rank=3, scaled=False)
    assert ds.cmc.values.tolist() == [0.5, 0.75, 1.0]
    crowd = be.simulate(12, 2, within=0.9, random_state=1)
    camera = {"camera": [0, 1] * 12}
    labels = crowd.probe_labels
    scores = be.Scores(crowd.values, labels, labels, probe_meta=camera, gallery_meta=camera)
    ds = be.gom(scores, thresholds=[2.0, 3.0], max_rank=3, scaled=False, interval="people")
    assert ((ds.cmc_low < ds.cmc) & (ds.cmc < ds.cmc_high)).all()
