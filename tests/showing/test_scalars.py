"""Each number is shown as what it is: rates in per cent, and neither thresholds nor costs."""

import pytest
from marked_up import markdown_tables

import bioeval as be
from bioeval.cli import main

SCORES = be.simulate(40, 4, random_state=1)
DS = be.verification(SCORES, costs=[(0.05, 1, 1)], far_targets=[0.01])

#: The value of each row of the table, and how it is printed; its threshold, where it has one.
SHOWN = {
    "EER": (100 * DS.eer, "{:.2f} %", DS.eer_threshold),
    "FRR at FAR <= 1 % (FMR100)": (100 * DS.frr_at_far[0], "{:.2f} %", DS.threshold_at_far[0]),
    "FRR at an observed FAR of 0 (ZeroFMR)": (100 * DS.zero_far, "{:.2f} %", DS.zero_far_threshold),
    "FAR at an observed FRR of 0 (ZeroFNMR)": (
        100 * DS.zero_frr,
        "{:.2f} %",
        DS.zero_frr_threshold,
    ),
    "AUC": (DS.auc, "{:.5f}", None),
    "minDCF at prior 0.05": (DS.min_cost[0] / 0.05, "{:.4f}", DS.min_cost_threshold[0]),
    "d'": (DS.d_prime, "{:.3f}", None),
    "EER on the hull": (100 * DS.eer_hull, "{:.2f} %", None),
}

#: Those that a short view leaves out.
VERBOSE = (
    "d'",
    "EER on the hull",
    "FRR at an observed FAR of 0 (ZeroFMR)",
    "FAR at an observed FRR of 0 (ZeroFNMR)",
)


def test_a_number_is_shown_as_what_it_is(tmp_path, capsys):
    (table,) = markdown_tables(be.to_markdown(DS))
    assert [row[0] for row in table[1:]] == [*SHOWN]
    page = be.report(DS, tmp_path / "x.html").read_text(encoding="utf-8")
    for label, value, threshold in table[1:]:
        number, form, expected_threshold = SHOWN[label]
        assert value == form.format(float(number))
        is_near = expected_threshold is not None and float(threshold) == pytest.approx(
            float(expected_threshold), rel=0.01
        )
        assert threshold == "" if expected_threshold is None else is_near
        if label not in VERBOSE:
            assert value.replace("%", "").strip() in page
    be.save(SCORES, tmp_path / "s.npz")
    assert main(["run", str(tmp_path / "s.npz"), "--far", "1%"]) == 0
    assert "FRR at FAR <= 1 %" in capsys.readouterr().out
