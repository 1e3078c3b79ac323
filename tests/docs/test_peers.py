"""Other programs: the frame of their scripts, and the tables that the page quotes."""

import re

import pytest
from pages import ROOT
from peers.frame import Figure, gallery, print_figures, trials

PAGE = ROOT / "docs" / "coming-from.md"
MODULES = sorted(
    path
    for path in (ROOT / "scripts" / "peers").glob("*.py")
    if path.stem not in ("__init__", "frame")
)
ROW = re.compile(r"^\| (.+) \| (\S+) \| (\S+) \| (\S+) \| (.+) \|$", re.MULTILINE)


def test_a_difference_has_a_reason_and_no_other_figure_has_one(capsys):
    figures = [Figure("EER", 0.2, 0.2), Figure("AUC", 0.9, 0.95, "by ties")]
    print_figures("other", [*figures, Figure("P@5", float("nan"), 0.3, "no match")])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Equal: EER."
    assert lines[4] == "| AUC | 0.9000 | 0.9500 | +0.0500 | by ties |"
    assert lines[5] == "| P@5 | nan | 0.3000 | +nan | no match |"
    for wrong in (Figure("EER", 0.2, 0.3), Figure("EER", 0.2, 0.2, "by ties")):
        with pytest.raises(AssertionError, match="EER"):
            print_figures("other", [wrong])


def test_the_data_are_what_they_say():
    values, genuine = trials(ties=True)
    assert (int(genuine.sum()), len(values)) == (397, 6397)
    assert len(set(values.tolist())) < 100
    data = gallery(absent=3)
    assert set(data.query_ids) - set(data.gallery_ids) == {0, 1, 2}
    assert 0.4 < (data.cosines < 0).mean() < 0.6


def test_each_script_names_its_packages():
    assert MODULES and all(x.read_text("utf-8").startswith("# packages:") for x in MODULES)


def test_rows_of_the_page_are_consistent():
    rows = [row for row in ROW.findall(PAGE.read_text(encoding="utf-8")) if row[3] != "---:"]
    rows = [row for row in rows if re.fullmatch(r"[-+.,\de]+|[-+]?nan", row[3])]
    assert len(rows) > 5
    for name, *numbers, _ in rows:
        theirs, ours, difference = (float(x.replace(",", "")) for x in numbers)
        assert difference != 0, name
        if theirs == theirs:
            assert ours - theirs == pytest.approx(difference, abs=1.01e-4), name
