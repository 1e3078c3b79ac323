"""Tables for a paper: LaTeX with booktabs, Markdown, and systems in rows."""

import shutil
import subprocess

import numpy as np
import pytest
from hypothesis import given, strategies as st
from marked_up import latex_tables, markdown_tables, of_latex, of_markdown

import bioeval as be
from bioeval.cli import main
from bioeval.showing.markup import LatexLines, MarkdownLines, as_latex, as_markdown
from bioeval.showing.text import Column, Facts, Label, Number, Rate, Section, Table


def street(seed: int) -> be.Scores:
    """Two queries of nine people against two other templates of each person."""
    simulated = be.simulate(9, 4, within=1.2, random_state=seed)  # parts of different rates
    values, query = np.asarray(simulated.values), np.tile([True, True, False, False], 9)
    return be.Scores(
        values[np.ix_(query, ~query)], simulated.probe_labels[query], simulated.probe_labels[~query]
    )


EVIL = r"\input{x}_%&#$~^|<b>[1](u)`*"


@given(st.text("ab1 %&#$_{}\\~^|<>=[]()`*.±×"))
def test_escaped_text_shows_the_text(text):
    assert of_latex(LatexLines().literal(text)) == text
    assert of_markdown(MarkdownLines().literal(text)) == text


def test_numbers_are_set_as_numbers():
    lines = LatexLines()
    assert lines.write(Number(-0.5, decimals=1)) == "$-$0.5"
    assert lines.write(Rate(0.005)) == r"0.5\,\%"
    difference = Number(-0.1, (-1.0, 2.0), decimals=1, difference=True)
    assert lines.write(difference) == "$-$0.1 [$-$1.0, +2.0]"


def test_a_hostile_label_is_text():
    rows = [(Label(EVIL), Rate(0.031), "[x]"), (Label("[1] a"), Rate(float("nan")), "-")]
    columns = (Column("name"), Column("value", "value"), Column("note", "note"))
    blocks = (Facts([("Name", Label(f"{EVIL}\x1b[2J"))]), Table("t", columns, rows))
    section = Section("s", Label(f"# {EVIL}"), blocks)
    expected = [["", "value", "note"], [EVIL, "3.10 %", "[x]"], ["[1] a", "n/a", "-"]]
    latex, markdown = as_latex(section), as_markdown(section)
    assert latex_tables(latex) == markdown_tables(markdown) == [expected]
    assert "\n{}[1] a" in latex
    assert "\x1b" not in latex + markdown


def test_a_row_for_each_system():
    systems = {name: be.reid(street(i), "viper") for i, name in enumerate(("ours_1", "theirs %"))}
    (rows,) = latex_tables(be.to_latex(systems, measures=["cmc=1", "mean_ap", "mrr"]))
    expected = [
        [name, *(f"{100 * float(x):.2f} %" for x in (ds.cmc[0], ds.mean_ap, ds.mrr))]
        for name, ds in systems.items()
    ]
    assert rows[1:] == expected and rows[0][2:] == ["mAP", "MRR"]
    (of_two,) = markdown_tables(be.to_markdown(systems))
    assert of_two[0][1:] == [*systems]
    assert of_two[1] == ["mAP", expected[0][2], expected[1][2]]
    five_systems = {str(i): systems["ours_1"] for i in range(5)}
    (of_five,) = markdown_tables(be.to_markdown(five_systems))
    assert of_five[0][1] == "mAP" and len(of_five[0]) > 10 and len(of_five) == 6
    (of_one,) = markdown_tables(be.to_markdown(systems["ours_1"], ["mean_ap"]))
    assert of_one == [["mAP"], [expected[0][2]]]  # a system without a name
    with pytest.raises(be.DataError, match=r"`measures` is 'rank1'; expected one of"):
        be.to_latex(systems, measures=["rank1"])
    with pytest.raises(be.DataError, match="expected a list"):
        be.to_latex(systems, measures="mAP")
    with pytest.raises(be.DataError, match="has none: leave it out"):
        be.to_latex(be.check_data(be.simulate(8, 3)), measures=["mean_ap"])


def test_measures_by_the_names_of_variables():
    """A name without a point is of all its points."""
    results = {"a": be.evaluate(be.simulate(40, 4, random_state=1))}

    def headings(*names):
        tables = markdown_tables(be.to_markdown(results, names))
        return [heading for table in tables for heading in table[0][1:]]

    for name in ("frr_at_far=0.01", "frr_at_far=1%", "frr_at_far = 1/100"):
        assert headings(name) == 2 * ["FRR at FAR <= 1 % (FMR100)"]
    assert headings("verification/multi/eer") == ["EER"]
    assert len(headings("frr_at_far")) == 2 * 2  # 0.1 % and 0.01 % are not supported
    assert headings("recognition_rate") == ["recognition rate"]
    assert headings("cms=1") == headings("cms@rank=1") == ["CMS, rank 1 (recognition rate)"]
    assert headings("dir_at_far=0.1@rank=5") == ["DIR at FAR <= 10 %, rank 5"]
    with pytest.raises(be.DataError, match="`measures` is 'frr_at_far=0.5'"):
        headings("frr_at_far=0.5")


def test_folds_and_partitions_are_mean_and_sd(capsys):
    scores = {name: be.simulate(9, 3, random_state=i) for i, name in enumerate("ab")}
    splitter = be.partition.SubjectKFold(3)
    folds = {name: be.cross_evaluate(x, splitter) for name, x in scores.items()}
    (rows,) = markdown_tables(be.to_markdown(folds, measures=["frr"]))
    for row, ds in zip(rows[1:], folds.values(), strict=True):
        values = 100 * ds.frr.sel(part="test").values
        assert row[1].partition(" [")[0] == f"{values.mean():.2f} %"
        assert row[2] == f"{values.std(ddof=1):.2f} %"
    parts = {name: be.repeat(street(i), splitter, "viper") for i, name in enumerate("ab")}
    (rows,) = latex_tables(be.to_latex(parts, measures=["mean_ap", "cmc=1"]))
    for row, tree in zip(rows[1:], parts.values(), strict=True):
        reid = tree["reid"]
        percentages = [100 * x.values for x in (reid["mean_ap"], reid["cmc"].sel(rank=1))]
        expected = [f"{number:.2f} %" for x in percentages for number in (x.mean(), x.std(ddof=1))]
        assert row[1:] == expected
    be.show(folds)
    expected = capsys.readouterr().out
    assert "a, b: 27 templates" in expected


def test_commands_print_tables_for_a_paper(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    be.save(be.simulate(8, 3, random_state=1), "s_1.npz")
    result = be.evaluate(be.load("s_1.npz"))
    for line in ("run s_1.npz --latex", "run s_1.npz --markdown"):
        assert main(line.split()) == 0
        text = capsys.readouterr().out
        tables = (latex_tables if "latex" in line else markdown_tables)(text)
        eer = float(result["verification/single"]["eer"])
        name, written_value = tables[0][1][:2]
        assert name == "EER" and written_value.startswith(f"{100 * eer:.2f} % [")  # with its limits
    assert main(["protocols", "--markdown"]) == 0
    assert len(markdown_tables(capsys.readouterr().out)) == 1
    for line in ("run s_1.npz", "protocols", "fuse s_1.npz s_1.npz"):
        assert main([*line.split(), "--latex", "--json"]) == 2
        assert "give one of --json, --latex and --markdown" in capsys.readouterr().err
    assert main(["protocols", "viper", "--latex"]) == 2


def test_summaries_of_re_identification_have_their_figures(capsys):
    ds = be.repeat(street(1), be.partition.SubjectKFold(3), "viper")
    be.show(ds)
    lines = capsys.readouterr().out.splitlines()
    row = next(line.replace(" %", "").split() for line in lines if "mAP" in line)
    values = 100 * ds["reid"]["mean_ap"].values.ravel()
    assert 0 < min(values) < max(values) < 100  # else figures of any formula agree
    assert row[1:] == [f"{x:.2f}" for x in (np.mean(values), np.std(values, ddof=1), min(values),
                                            max(values))]  # fmt: skip


def test_rates_at_different_thresholds_have_different_columns():
    scores = be.simulate(9, 3, random_state=1)
    neighbour = 0.9 + 1e-9  # printed like 0.9 in six digits
    systems = {
        name: be.verification(scores, thresholds=given)
        for name, given in {"a": [0.9], "b": [neighbour, 1.1], "c": [1.1]}.items()
    }
    far = {
        (name, t): float(ds.far.sel(threshold=t))
        for name, ds in systems.items()
        for t in ds.threshold.values
    }
    (rows,) = markdown_tables(
        be.to_markdown(systems, measures=[f"far={t!r}" for t in (0.9, neighbour, 1.1)])
    )
    assert rows[0][1:] == [*(f"FAR at threshold {t!r}" for t in (0.9, neighbour, 1.1))]
    for row in rows[1:]:
        for cell, threshold in zip(row[1:], (0.9, neighbour, 1.1), strict=True):
            expected = ""
            if (row[0], threshold) in far:
                expected = f"{100 * far[row[0], threshold]:.2f} %"
            assert cell == expected


SCORES = [[0, 2, 6, 9], [2, 0, 4, 7], [6, 4, 0, 5], [9, 7, 5, 0]]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is missing")
def test_it_compiles(tmp_path):
    names = "a_1 & b", "50 % #", "{x}\\y~^"
    row = be.explain(be.Scores(SCORES, [names[0], *names]), 1, threshold=5)
    head = "\\documentclass{article}\n\\usepackage[T1]{fontenc}\n\\usepackage{booktabs}\n"
    text = f"{head}\\begin{{document}}\n{be.to_latex(row)}\\end{{document}}\n"
    (tmp_path / "handout.tex").write_text(text, "utf-8")
    words = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "handout.tex"]
    process = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stdout[-2000:]
