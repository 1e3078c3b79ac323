"""Open-set identification and GOM of top-K lists: exact where they determine it, else bounds."""

from __future__ import annotations

import json
import warnings
from typing import Any

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, strategies as st

import bioeval as be
from bioeval.cli import main
from bioeval.protocol import parse

#: Variables of a matrix that lists leave out where they do not determine them.
LEFT_OUT = {
    "tau_max",
    "tau_f1",
    "eer_threshold",
    "far_at_eer",
    "frr_at_eer",
    "eer_bracket_low",
    "eer_bracket_high",
}


def lists_of(scores: be.Scores, depth: int) -> be.TopKScores:
    """The nearest entries of each row, with their distances."""
    values = np.asarray(scores.values)
    sign = -1 if scores.kind == "similarity" else 1
    order = np.argsort(sign * values, axis=1, kind="stable")[:, :depth]
    return be.TopKScores(
        order, scores.probe_labels, scores.gallery_labels, kind=scores.kind,
        distances=np.take_along_axis(values, order, 1),
        probe_meta=scores.probe_meta, gallery_meta=scores.gallery_meta,
    )  # fmt: skip


@st.composite
def matrices(draw) -> be.Scores:
    """Few probes of few subjects, some of them not enrolled, with ties in every second draw."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    m, n, kind = draw(st.integers(2, 12)), draw(st.integers(2, 9)), draw(st.booleans())
    probe = rng.integers(0, draw(st.integers(2, 7)), m)
    gallery = rng.integers(0, draw(st.integers(1, 5)), n)
    values = rng.normal(5, 1, (m, n)) - 2 * (probe[:, None] == gallery)
    values = values if draw(st.booleans()) else values.round()
    cameras = {"camera": rng.integers(0, 3, m)}, {"camera": rng.integers(0, 3, n)}
    return be.Scores(
        -values if kind else values, probe, gallery, kind="similarity" if kind else "distance",
        probe_meta=cameras[0], gallery_meta=cameras[1],
    )  # fmt: skip


def assert_bounds(result: xr.Dataset, whole: xr.Dataset) -> dict[str, float]:
    """Hold a result of lists to that of the matrix; return the width of each pair of bounds."""
    widths = {}
    for name in map(str, whole.data_vars):
        expected = whole[name].values
        if name in result:
            values = result[name].values
            known = ~np.isnan(values)
            np.testing.assert_array_equal(values[known], expected[known], name)
            if f"{name}_at_least" not in result and name != "threshold_at_far":
                np.testing.assert_array_equal(values, expected, name)
        if f"{name}_at_least" in result:
            low, high = (result[f"{name}_at_{end}"].values for end in ("least", "most"))
            rounding = 1e-12 if name == "eer" else 0.0  # an interpolated crossing
            inside = (low <= expected + rounding) & (expected <= high + rounding)
            if name in ("tau_nz", "micro_f1"):  # which may not exist: that side is open
                inside |= np.isnan(low) | np.isnan(high)
            assert (inside | np.isnan(expected)).all(), (name, low, expected, high)
            widths[name] = float(np.nansum(high - low))
        else:
            assert name in result or name in LEFT_OUT, name
    return widths


def assert_closing(widths: list[dict[str, float]]) -> None:
    """The bounds do not part where lists grow, and meet where they hold everything."""
    for before, after in zip(widths, widths[1:], strict=False):
        assert set(after) <= set(before)
        assert all(width <= before[name] + 1e-6 for name, width in after.items())
    assert not widths[-1]


@given(
    matrices(),
    st.sampled_from(("template", "subject")),
    st.sampled_from(("pessimistic", "optimistic", "stable")),
    st.sampled_from(("auto", "both", "leave-subject-out", "unenrolled")),
)
def test_open_set_of_lists_holds_that_of_the_matrix(scores, unit, ties, impostors):
    values = np.asarray(scores.values)
    options: dict[str, Any] = {"rank_unit": unit, "ties": ties, "impostors": impostors}
    options["thresholds"] = np.linspace(values.min() - 0.5, values.max() + 0.5, 9)
    whole = be.open_set(scores, **options)
    n = scores.shape[1]
    assert_closing([
        assert_bounds(
            be.open_set(lists_of(scores, k), **options, max_rank=whole.sizes["rank"]), whole
        )
        for k in range(1, n + 1)
    ])  # fmt: skip


@given(matrices(), st.sampled_from(("market1501", "vehicleid", "cuhk03")), st.integers(1, 9))
def test_gom_of_lists_holds_that_of_the_matrix(scores, convention, budget):
    values = np.asarray(scores.values)
    if scores.kind == "similarity":
        ends = -float(values.max()) - 1, -float(values.min()) + 1
    else:
        ends = float(values.min()) - 1, float(values.max()) + 1
    options: dict[str, Any] = {"convention": convention, "budget": budget, "normalize": ends}
    options |= {"per_query": True, "thresholds": np.linspace(0, 1, 13), "max_rank": 5}
    whole = be.gom(scores, **options)
    widths = []
    for depth in range(1, scores.shape[1] + 1):
        lists = lists_of(scores, depth)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", be.BioevalWarning)  # more matches than places
            result = be.gom(lists, **options)
        widths.append(assert_bounds(result, whole))
    assert_closing(widths)


def bounded_names(result: xr.Dataset) -> set[str]:
    """The variables that the messages of a result call bounded."""
    message = message_of(result, "values-within-bounds")
    names = message.arguments["values"] if message else []
    return {name.removesuffix(" (in part)") for name in names}


def message_of(result: xr.Dataset, code: str) -> Any:
    """The message of a result with a code, if it has one."""
    return next((message for message in be.messages(result) if message.code == code), None)


@pytest.mark.parametrize("depth", [1, 3, 12])
def test_warnings_name_the_figures_that_lists_only_bound(depth):
    rng = np.random.default_rng(1)
    gallery = np.repeat(np.arange(6), 2)
    values = rng.normal(5, 1, (6, 12)) - 1.5 * (np.arange(6)[:, None] == gallery)
    scores = be.Scores(values, np.arange(6), gallery)
    lists = lists_of(scores, depth)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", be.BioevalWarning)  # more matches than places
        gom = be.gom(lists, convention="vehicleid", normalize=(0.0, 9.0))
    opened = be.open_set(lists, thresholds=[3.0, 4.0, 9.0], max_rank=1)
    for result in (gom, opened):
        ends = {str(x).removesuffix("_at_least") for x in result if str(x).endswith("_at_least")}
        assert bounded_names(result) == ends
        assert bool(ends) == (depth < 12)
    if depth == 3:
        assert "mean_ap" in bounded_names(gom)
        message = message_of(gom, "values-within-bounds")
        assert message.arguments["depth"] == 3 and "mrp (in part)" in message.arguments["values"]


@pytest.mark.parametrize("seed, depth", [(81, 3), (100, 10)])
def test_rounding_puts_no_bound_beyond_the_value(seed, depth):
    """The bounds of mReP were 1e-16 above it (the lower one) and below it (the upper one)."""
    rng = np.random.default_rng(seed)
    m, n = rng.integers(1, 4), rng.integers(2, 14)
    probe, gallery = rng.integers(0, 3, m), rng.integers(0, 3, n)
    values = rng.normal(5, 1, (m, n))
    scores = be.Scores(values.round(1) if seed % 2 else values, probe, gallery)
    low, high = float(scores.values.min()) - 1, float(scores.values.max()) + 1
    options: dict[str, Any] = {"convention": "vehicleid", "normalize": (low, high)}
    options["thresholds"] = np.linspace(0, 1, 9)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", be.BioevalWarning)  # more matches than places
        assert_bounds(be.gom(lists_of(scores, depth), **options), be.gom(scores, **options))


def test_precisions_are_added_in_order_of_rank():
    values, gallery = [[1.0, 2.0, 3.0, 4.0, 5.0]], [8, 9, 7, 7, 7]
    options: dict[str, Any] = {"convention": "vehicleid", "normalize": False}
    whole = be.gom(be.Scores(values, [7], gallery), **options)
    lists = be.TopKScores([[0, 1, 2]], [7], gallery, distances=[[1.0, 2.0, 3.0]])
    result = be.gom(lists, **options)
    # The last two can only be the other matches, and (1/3 + 2/4) + 3/5 is not 1/3 + (2/4 + 3/5).
    assert float(result.mean_ap) == float(whole.mean_ap)


def test_by_hand():
    """One query, whose second match is not listed: at 0.6 one more entry of two may be within."""
    lists = be.TopKScores(
        [[0, 1]], [7], [7, 8, 7, 9], distances=[[0.1, 0.5]],
    )  # fmt: skip
    result = be.gom(lists, convention="vehicleid", normalize=False, thresholds=[0.2, 0.6])
    assert result.mvp.values.tolist()[0] == 0.5  # one of two matches, nothing else
    assert np.isnan(result.mvp.values[1])
    assert result.mvp_at_least.values.tolist() == [0.5, 1 / 4]  # 1 / (2 + two others)
    assert result.mvp_at_most.values.tolist() == [0.5, 2 / 3]
    np.testing.assert_allclose(result.mrp_at_least, [1, (1 + 2 / 4) / 2])
    np.testing.assert_allclose(result.mrp_at_most, [1, 1])
    assert float(result.mean_ap_at_most) == (1 + 2 / 3) / 2
    message = message_of(result, "lists-retrieved-whole")
    assert message.arguments == {"whole": 1, "queries": 1, "depth": 2}
    people = be.TopKScores([[0, 1], [1, 2]], ["ann", "bob"], ["ann", "cat", "dan", "bob"],
                           distances=[[1, 3], [2, 4]])  # fmt: skip
    ds = be.open_set(people, thresholds=[1, 3, 5], max_rank=3, impostors="leave-subject-out")
    assert ds.dir.sel(rank=1).values.tolist() == [0.5, 0.5, 0.5]
    assert ds.far.values.tolist() == [0, 1, 1]
    assert ds.dir_at_most.sel(rank=3).values.tolist() == [0.5, 0.5, 1.0]
    assert ds.dir_at_least.sel(rank=3).values.tolist() == [0.5, 0.5, 0.5]
    assert message_of(ds, "mates-beyond-lists").arguments == {"searches": 1, "depth": 2}


def test_what_lists_do_not_determine_is_refused():
    lists = be.TopKScores([[0, 1]], [7], [7, 8, 7], distances=[[0.1, 0.5]])
    bare = be.TopKScores([[0, 1]], [7], [7, 8, 7])
    for call, says in (
        (lambda: be.gom(lists, convention="vehicleid"), r"give normalize = \(low, high\)"),
        (lambda: be.gom(lists, convention="vehicleid", normalize=False, variant="reference"),
         'do not determine GOM with variant="reference"; give variant="paper"'),
        (lambda: be.gom(lists, convention="vehicleid", normalize=False, ties="optimistic"),
         'give ties="stable"'),
        (lambda: be.gom(lists, normalize=False, convention="vehicleid", interval="wilson"),
         "GOM of top-K lists has bounds"),
        (lambda: be.gom(bare, convention="vehicleid", normalize=False), "give distances"),
        (lambda: be.open_set(bare), "open-set identification compares distances"),
        (lambda: be.open_set(lists, ties="expected"), "with ties = 'expected'"),
        (lambda: be.open_set(lists, rank_unit="subject", fusion="mean"), "with fusion = 'mean'"),
        (lambda: be.open_set(lists, gallery="single"), "needs the scores of all 3 gallery"),
        (lambda: be.open_set(lists, interval="wilson"), "needs the scores of all 3 gallery"),
    ):  # fmt: skip
        with pytest.raises(be.ProtocolError, match=says):
            call()
    with pytest.raises(be.DataError, match=r"the listed distances reach from 0.1 to 0.5"):
        be.gom(lists, convention="vehicleid", normalize=(0.2, 1.0))
    many = be.TopKScores([[0, 1]], [7], [7, 7, 7], distances=[[0.1, 0.5]])
    with pytest.warns(be.BioevalWarning, match="more matches in the gallery .* cut at rank 2"):
        be.gom(many, convention="vehicleid", normalize=False)


CARD = """
schema = 1
name = "mine"
title = "T"
summary = "S"
layout = "probe-against-gallery"
[source]
text = "X"
[open_set]
"""


def test_cards_and_commands_take_lists(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    gallery = np.repeat(np.arange(10), 3)
    probe = np.repeat(np.arange(15), 2)
    values = rng.uniform(3, 7, (30, 30)) - 2.5 * (probe[:, None] == gallery)
    lists = lists_of(be.Scores(values, probe, gallery), 8)
    be.save(lists, "lists.npz")
    (tmp_path / "mine.toml").write_text(CARD)
    tree = be.evaluate(lists, parse(CARD, "mine.toml"))
    result = tree["open_set"].to_dataset()
    assert result.equals(be.open_set(lists))
    assert be.summary(lists, parse(CARD, "mine.toml"))["open_set"]["eer"] == float(result.eer)
    assert main(["run", "lists.npz", "--protocol", "mine.toml", "--json"]) == 0
    task = json.loads(capsys.readouterr().out)["tasks"]["open_set"]
    assert task["eer"] == float(result.eer)
    assert main(["run", "lists.npz", "--protocol", "mine.toml"]) == 0
    assert "EER" in capsys.readouterr().out
    args = ["gom", "lists.npz", "--protocol", "vehicleid", "--normalize", "0,10"]
    assert main([*args, "--json"]) == 0
    system = json.loads(capsys.readouterr().out)["results"]["lists"]
    ds = be.gom(lists, convention="vehicleid", normalize=(0, 10))
    assert system["mrep_area_at_least"] == float(ds.mrep_area_at_least)
    assert main([*args, "--out", "o", "--plots"]) == 0
    assert "at least" in capsys.readouterr().out
    assert main(args[:4]) == 2
    assert "give --normalize" in capsys.readouterr().err
