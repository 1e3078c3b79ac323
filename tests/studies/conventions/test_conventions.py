"""Conventions: each row is the evaluation of its card."""

import re

import numpy as np
import pytest

import bioeval as be
from bioeval import protocol
from bioeval.cli import main


def street(layout="probe-against-gallery"):
    counts = {"probes": 2, "unenrolled": 2} if layout == "probe-against-gallery" else {}
    return be.simulate(10, 3, layout=layout, within=1.2, cameras=3, random_state=3, **counts)


@pytest.mark.parametrize("layout", ["all-against-all", "probe-against-gallery"])
def test_each_row_is_the_evaluation_of_its_card(layout):
    scores = street(layout)
    ds = be.conventions(scores)
    assert ds.sizes["card"] > 10
    for card in ds.card.values:
        row, reason = ds.sel(card=card), ds.why_not.sel(card=card).item()
        if card == "sysu-mm01":
            assert "queries of camera 3" in reason, "the data are of other cameras"
            continue
        if reason:
            with pytest.raises(be.BioevalError):
                be.evaluate(scores, card)
            continue
        tree = be.evaluate(scores, card)
        tasks = {node.path.strip("/"): node.to_dataset() for node in tree.leaves}
        for task, names in {
            "reid": ("mean_ap", "mean_inp", "cmc", "queries"),
            "verification/single": ("eer", "frr_at_far", "auc"),
            "open_set": ("dir_at_far",),
            "closed_set": ("cms",),
        }.items():
            for name in names:
                if task not in tasks:
                    assert name not in ds or np.isnan(row[name]).all()
                    continue
                expected = tasks[task][name]
                if name == "dir_at_far":
                    expected = expected.isel(rank=0)
                for dimension in row[name].dims:
                    expected = expected.sel({dimension: ds[dimension].values})
                np.testing.assert_array_equal(row[name], expected)


def test_rates_that_too_few_people_search_for_are_withheld(capsys, tmp_path):
    path = tmp_path / "street.npz"
    scores = be.simulate(
        80, 3, layout="probe-against-gallery", probes=6, within=1.2, random_state=3
    )
    be.save(scores, path)
    assert not main(["conventions", str(path), "--out", str(tmp_path / "out")])
    printed = capsys.readouterr().out
    assert not re.search("(?<!- )DIR at FAR <= 1 %", printed) and "FRR at FAR <= 1 %" in printed
    assert "dir_at_far=0.01" in (tmp_path / "out" / "conventions.csv").read_text()
    result_messages = be.messages(be.conventions(scores))
    expected = be.open_set(scores, far_targets=[0.01, 0.001])
    missed = [x for x in be.messages(expected) if x.code == "target-not-supported"]
    assert missed and missed[0] in result_messages


def test_cards_that_lack_a_column_say_so():
    ds = be.conventions(street())
    assert "clothes" in ds.why_not.sel(card="prcc").item()
    assert np.isnan(ds.mean_ap.sel(card="prcc"))


def test_pairs_and_data_without_cameras_have_no_re_identification():
    assert "mean_ap" not in be.conventions(be.simulate(5, 2))
    pairs = be.conventions(be.Scores.from_pairs([0.1, 0.2, 0.3], [1, 0, 0]))
    assert set(map(str, pairs.dims)) == {"card", "far_target"}


@pytest.mark.parametrize(
    ("cards", "says"),
    [
        ([], "`cards` is empty"),
        (["gom-market1501"], "gom-market1501 does not fit: it has no task"),
        (["course-kfold"], "course-kfold does not fit: .*layout"),
        (["prcc"], "prcc does not fit: .*clothes"),
        (["nobody"], "nobody"),
    ],
)
def test_cards_that_are_asked_for_must_fit(cards, says):
    with pytest.raises(be.CardError, match=says):
        be.conventions(street(), cards=cards)


def test_a_card_of_ones_own():
    card = protocol.load("market1501")
    ds = be.conventions(street(), cards=["market1501", card])
    assert ds.mean_ap.values[0] == ds.mean_ap.values[1]
