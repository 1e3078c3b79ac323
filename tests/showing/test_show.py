"""be.show: the table of every result, as text and as HTML."""

import re
import sys
from types import SimpleNamespace

import pytest
import xarray as xr
from browser import Visit, chromium
from marked_up import latex_tables, markdown_tables
from reference import one_thread  # noqa: F401
from small_results import SMALL_RESULTS, square, street

import bioeval as be
from bioeval.showing.markup import as_html
from bioeval.showing.show import document_of
from bioeval.showing.text import Column, Explained, Facts, Label, Rate, Section, Table

EVIL = "<script>alert(1)</script>\x1b[31m"

#: Public names in lower case that return no result: modules, and functions of
#: scores, files, numbers and parts of counting.
OTHERS = {
    *("datasets", "partition", "plot", "stats"),
    *("claim_scores", "eer_scorer", "fuse", "load", "make_scorer"),
    *("parse_names", "report", "save", "show", "simulate", "simulate_embeddings"),
    *("messages", "scalar", "set_options", "summary", "to_frame", "to_latex", "to_markdown"),
}  # fmt: skip


@pytest.fixture
def wide(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)


def test_every_public_call_has_a_table_or_is_no_result():
    names = {name for name in be.__all__ if name[0].islower()}
    differ = names ^ {*SMALL_RESULTS, *OTHERS}
    assert not differ, (
        f"{differ}: CONTRIBUTING.md, 'A new study', The tests: a call with a result has a line in "
        "SMALL_RESULTS, another one in OTHERS."
    )


@pytest.mark.filterwarnings("ignore::bioeval.BioevalWarning")
@pytest.mark.parametrize("name", SMALL_RESULTS)
def test_a_result_is_shown_as_text_and_as_html(name, wide, capsys):
    call, expected = SMALL_RESULTS[name]
    result = call()
    assert be.show(result) is None
    text = capsys.readouterr().out
    assert expected in re.sub(r"\s+", " ", text), text
    assert len(text.splitlines()) > 3
    page = document_of(result, detail="brief").html()
    assert "<table>" in page and "<pre" not in page
    assert latex_tables(be.to_latex(result)) == markdown_tables(be.to_markdown(result))
    plain = re.sub(r"<style>.*?</style>|<[^>]+>", " ", page)
    missing = {*re.findall(r"[A-Za-z]{3,}", text)} - {*re.findall(r"[A-Za-z]{3,}", plain)}
    assert not missing


def test_several_results_are_shown_by_name(wide, capsys):
    be.show({"left": be.gom(street()), "gom": be.gom(street())})
    text = capsys.readouterr().out
    assert re.search(r"^ +left +threshold of left +gom +threshold of gom$", text, re.M)
    be.show({"one": be.verification(square()), "two": be.evaluate(square())})
    text = capsys.readouterr().out
    assert re.search(r"^ +one +threshold of one +two +threshold of two$", text, re.M)
    assert "two: open-set" in text


def test_studies_in_one_tree_are_shown_each_by_its_table(wide, capsys):
    tree = be.evaluate(square()).assign({"worst_pairs": xr.DataTree(be.worst_pairs(square(), 1))})
    be.show(tree)
    text = capsys.readouterr().out
    assert text.index("Closed-set") < text.index("Nearest impostor pairs")


def test_in_a_narrow_pipe_a_table_is_as_narrow(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "50")
    be.show(be.evaluate(square()))
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 50


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (lambda: square(), "Scores.*evaluate scores first"),
        (lambda: 3.0, "float; expected what a function of bioeval returned"),
        (lambda: None, "NoneType"),
        (dict, "empty"),
        (xr.DataTree, "empty"),
        (lambda: {"a": 1}, "int"),
        (lambda: {"a": {"b": "c"}}, "str"),
        (lambda: xr.Dataset({"a": 1}), "no attribute `result_type`"),
    ],
)
def test_what_is_no_result_is_refused(given, said):
    for call in (be.show, be.to_frame):
        with pytest.raises(be.DataError, match=said):
            call(given())


def test_a_notebook_displays_html(monkeypatch, capsys):
    displayed, result = [], be.zoo(square(EVIL), permutations=20)
    display = SimpleNamespace(display=lambda data, raw: displayed.append((data, raw)))
    ipython = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=1))
    for name, module in (("ipykernel", 1), ("IPython", ipython), ("IPython.display", display)):
        monkeypatch.setitem(sys.modules, name, module)
    # In a notebook rich displays by itself.
    monkeypatch.setattr("rich.console._is_jupyter", lambda: ipython.get_ipython() is not None)
    be.show(result)
    ((data, raw),) = displayed
    assert raw and set(data) == {"text/html", "text/plain"}
    assert "<table>" in data["text/html"] and "<script" not in data["text/html"]
    assert "\x1b" not in data["text/html"] and "goats" in data["text/plain"]
    assert len(data["text/html"]) < 20_000
    assert not capsys.readouterr().out
    ipython.get_ipython = lambda: None  # the kernel's modules are there, and a script runs
    be.show(result)
    assert "goats" in capsys.readouterr().out


def test_html_has_the_styles_and_the_numbers_of_a_table():
    rows = [
        (Explained(Label("<EER>"), "equal 'error'"), "better", Rate(0.0278, (0.01, 0.02))),
        ("HTER", None, Rate(0.1611)),
    ]
    columns = (Column("measure"), Column("verdict"), Column("value", "value"))
    facts = Facts((("system", "goats"), ("empty", "")))
    page = as_html(Section("errors", "Errors", (facts, Table("rates", columns, rows))))
    assert '<p class="t"><b>Errors</b></p>' in page and "empty" not in page
    explained = '<span title="equal &#x27;error&#x27;">&lt;EER&gt;</span>'
    assert f'<th scope="row">{explained}</th><td>better</td>' in page
    assert "<i>value</i></th>" in page and "<i>system</i></th><td>goats</td>" in page
    # Digits stand below digits: a blank before them is as wide as one.
    assert ">\u20072.78 % [1.00, 2.00]</td>" in page and ">16.11 %" in page


#: How JupyterLab aligns the cells of tables.
LAB = """<style>.lab table{table-layout:fixed;margin-left:auto;font-size:12px}
:not(.x).lab td,:not(.x).lab th,:not(.x).lab tr{text-align:right;vertical-align:middle}</style>"""


@pytest.mark.slow
def test_a_comparison_in_a_notebook_shows_the_better_system(tmp_path):
    names = "eigenfaces, Euclidean", "eigenfaces, cosine"
    metrics = dict(zip(names, ("euclidean", "cosine"), strict=True))
    systems = {x: be.datasets.faces("eigenfaces", metric=y) for x, y in metrics.items()}
    html = document_of(be.compare(systems), detail="brief").html()
    page = tmp_path / "notebook.html"
    page.write_text(f'{LAB}<div class="lab" style="width:700px">{html}</div>', "utf-8")
    with chromium() as browser:
        visit = Visit(browser, page)
        better = visit.page.locator("table.wide tr > :last-child")
        assert better.all_inner_texts()[0] == "better"
        assert better.evaluate_all("x => x.every(y => y.getBoundingClientRect().right <= 720)")
        cells = visit.page.locator("td:not(.r), th:not(.r)")
        assert {*cells.evaluate_all("x => x.map(y => getComputedStyle(y).textAlign)")} == {"left"}
