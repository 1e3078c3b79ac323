"""Expected performance and spoofability, held to its definition."""

from __future__ import annotations

import naive_attacks
import numpy as np
import pytest
import strategies as cases
from hypothesis import given, settings, strategies as st
from twins import floats, one_thread  # noqa: F401

import bioeval as be
from bioeval.base.errors import DataError
from bioeval.tallies import point_search

OMEGAS = (0.0, 0.3, 0.5, 1.0)


@st.composite
def attacked(draw, kind):
    """Draw a case with attack rows, whose targets are all enrolled."""
    case = draw(cases.matrices(kinds=(kind,), unenrolled=False, masks=("none", "labelled")))
    labels = np.asarray(case.probe_labels).tolist()
    names = st.sampled_from(("", "print", "mask"))
    species = draw(st.lists(names, min_size=len(labels), max_size=len(labels)))
    square = case.gallery_labels is None
    for i, label in enumerate(labels):
        others = [labels[j] for j in range(len(labels)) if not species[j]]
        if label not in (others if square else np.asarray(case.gallery_labels).tolist()):
            species[i] = ""
    return case, species


@settings(max_examples=cases.examples_of(40))
@given(
    data=st.data(),
    kind=st.sampled_from(("distance", "similarity")),
    templates=st.sampled_from(("single", "multi")),
    criterion=st.sampled_from(("eer", "wer")),
    beta=st.sampled_from((0.0, 0.3, 0.5, 0.9, 1.0)),
)
@pytest.mark.parametrize("few", [1 << 18, 0])
def test_thresholds_and_rates_are_as_defined(few, data, kind, templates, criterion, beta):
    sets = [data.draw(attacked(kind)) for _ in range(2)]
    if any(all(species) or not any(species) for _, species in sets):
        return
    options = {"templates": templates, "fusion": "min"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(point_search, "FEW", few)
        given_sets = [
            be.Scores(**case.scores(), probe_meta={"attack": species}) for case, species in sets
        ]
        ds = be.epsc(
            *given_sets, omegas=OMEGAS, beta=beta, criterion=criterion, templates=templates
        )
    result = [
        naive_attacks.lists(case.naive(), species, None, [True] * len(species), options)
        for case, species in sets
    ]
    expected = [naive_attacks.epsc(*result, kind, omega, beta, criterion) for omega in OMEGAS]
    np.testing.assert_array_equal(ds.threshold, floats([x["threshold"] for x in expected]))
    for name in ("far", "frr", "iapar_pooled", "far_w", "wer"):
        values = floats([x[name] for x in expected])
        np.testing.assert_allclose(ds[name], values, atol=1e-15, err_msg=name)
    for name in ("genuine", "impostor"):
        assert ds[f"dev_{name}_attempts"] == result[0]["attempts"][name]
    np.testing.assert_array_equal(ds.hter_w, (ds.far_w + ds.frr) / 2)


@pytest.fixture(scope="module")
def sets():
    return [be.simulate(25, 4, attacks="print=0.6,mask=0.9", random_state=i) for i in (1, 2)]


@pytest.mark.parametrize("beta", [0.1, 0.5, 0.9])
@pytest.mark.cases(1)
def test_without_weight_of_attacks_it_is_the_epc(sets, beta):
    ds = be.epsc(*sets, omegas=[0.0], beta=beta, criterion="wer")
    plain = be.epc(*sets, alphas=[beta])
    for name in ("threshold", "far", "frr"):
        np.testing.assert_array_equal(ds[name].values, plain[name].values)
    np.testing.assert_array_equal(ds.hter_w.values, plain.hter.values)


def test_rejecting_everybody_may_cost_least(monkeypatch):
    monkeypatch.setattr(point_search, "FEW", 0)
    far = np.array([[0, 9, 1, 1], [9, 0, 1, 1], [1, 1, 0, 9], [1, 1, 9, 0]], dtype=float)
    meta = {"attack": ["print", "", "", ""]}
    scores = be.Scores(far, ["ann", "ann", "bob", "bob"], probe_meta=meta)
    ds = be.epsc(scores, scores, omegas=[0.0, 0.5], beta=0.9, criterion="wer")
    assert ds.threshold.values.tolist() == [-np.inf, -np.inf]
    assert ds.frr.values.tolist() == [1, 1]


@pytest.mark.slow
def test_more_weight_of_attacks_is_stricter(sets):
    for criterion in ("eer", "wer"):
        ds = be.epsc(*sets, criterion=criterion)
        assert ds.sizes["omega"] == 101
        assert (np.diff(ds.threshold) <= 0).all()
        assert (np.diff(ds.iapar_pooled) <= 0).all()
        assert ds.attrs["chosen_on"] == "the development set"
    equal = be.epsc(*sets)
    assert float(abs(equal.dev_far_w - equal.dev_frr).max()) < 0.01


def test_ties_go_to_the_stricter_by_decimal_value(tmp_path):
    words = ["target"] * 10 + ["spoof"] * 10 + ["nontarget"]
    values = [*[1.0] * 9, 3.0, *[2.0] * 3, *[9.0] * 7, 9.0]
    table = "\n".join(f"{word} {x}" for word, x in zip(words, values, strict=True))
    (tmp_path / "list.txt").write_text(table + "\n")
    scores = be.load(tmp_path / "list.txt", kind="distance")
    # At 1: FRR 0.1 and nothing accepted. At 2 IAPAR is 0.3, at 3 FRR is 0.
    for beta, at in ((0.25, 1.0), (0.2499, 3.0)):
        ds = be.epsc(scores, scores, omegas=[1.0], beta=beta, criterion="wer")
        assert ds.threshold.item() == at
    # |0.3 beta - 0.1 (1 - beta)| is 0.1 (1 - beta) at 1 and 0.4 beta - 0.1 at 2: equal at 0.4.
    for beta, at in ((0.4, 1.0), (0.39, 2.0)):
        ds = be.epsc(scores, scores, omegas=[1.0], beta=beta)
        assert ds.threshold.item() == at


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"omegas": [0.5, 0.4]}, "omegas is .*increasing"),
        ({"omegas": [1.1]}, "from 0 to 1"),
        ({"beta": -0.1}, r"beta is -0.1; expected a number in \[0, 1\]"),
        ({"criterion": "far"}, "criterion is 'far'"),
        ({"templates": "both"}, "templates is 'both'"),
    ],
)
def test_wrong_options_are_named(sets, options, message):
    with pytest.raises(DataError, match=message):
        be.epsc(*sets, **options)


def test_sets_that_cannot_be_used(sets):
    without = be.simulate(10, 3)
    with pytest.raises(DataError, match="'attack', but the probe metadata"):
        be.epsc(sets[0], without)
    other = be.simulate(10, 3, attacks="print=0.5", kind="similarity", model="gaussian-scores")
    with pytest.raises(DataError, match="dev holds distance scores and test similarity scores"):
        be.epsc(sets[0], other)


def test_a_class_without_attempts_is_not_defined(sets):
    alone = be.Scores(
        np.ones((3, 2)), ["a", "b", "a"], ["a", "b"], mask=[[0, 1], [1, 0], [2, 1]],
        probe_meta={"attack": ["", "", "print"]},
    )  # fmt: skip
    ds = be.epsc(alone, sets[0], omegas=[0.5])
    assert np.isnan(ds.threshold).all() and np.isnan(ds.wer).all()
    found = [m.arguments for m in be.messages(ds) if m.code == "set-without-attempts"]
    assert {"set": "development", "attempts": "genuine"} in found


def test_the_plot_draws_both_rates_of_each_system(sets):
    a, b = be.epsc(*sets, omegas=[0, 0.5, 1]), be.epsc(*sets[::-1], criterion="wer")
    display = be.plot.epsc(a)
    np.testing.assert_array_equal(display.curves["HTER_w"].y, a.hter_w)
    np.testing.assert_array_equal(display.curves["IAPAR"].y, a.iapar_pooled)
    assert len(be.plot.epsc({"a": a, "b": b}).lines_) == 4
    message = " ".join(" ".join(text.get_text() for text in display.ax_.texts).split())
    assert "0.5 FAR_w and 0.5 FRR; FAR_w = (1 - omega) FAR + omega IAPAR" in message
    assert "far_w" not in message
