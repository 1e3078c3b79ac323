"""Every public result in every form: the same numbers, names and messages."""

import html
import math
import re
from dataclasses import replace
from functools import cache

import pytest
from every_result import CALLS, result_of
from result_text import blocks_of
from small_results import SMALL_RESULTS, square

import bioeval as be
from bioeval.showing.markup import as_html, as_latex, as_markdown
from bioeval.showing.numbers import Lines, printed_column
from bioeval.showing.pieces import grid_of
from bioeval.showing.show import document_of
from bioeval.showing.terminal import TerminalDocument
from bioeval.showing.text import (
    Column,
    Count,
    Facts,
    Label,
    Legend,
    Messages,
    Number,
    Quantity,
    Rate,
    Section,
    Table,
    say,
)

#: Results beside those of every kind that are shown in another way.
OTHERS = ("check_data", "explain", "two systems", "six systems")


@cache
def sections(name: str) -> list[Section]:
    """Return the sections of a result."""
    if name in SMALL_RESULTS:
        return [document_of(SMALL_RESULTS[name][0]()).section]
    if name in CALLS:
        return [document_of(result_of(name)).section]
    systems = "ab" if name == "two systems" else "abcdef"
    return [document_of({x: be.evaluate(square(x, ord(x))) for x in systems}).section]


def squeezed(text: str) -> str:
    return " ".join(text.split())


def of_markdown(text: str) -> str:
    text = re.sub(r"^\|( :?-+:? \|)+$", "", text, flags=re.MULTILINE).replace(" | ", " ")
    return text.replace("&amp;", "&").replace("\\", "").replace("**", "").replace("<br>", " ")


def of_html(page: str) -> str:
    page = re.sub(r"</?code>", "`", re.sub(r"<style>.*?</style>", "", page))
    return html.unescape(re.sub(r"<[^>]+>", " ", page))


LATEX = {
    "\\textbackslash{}": "\\", "\\textasciitilde{}": "~", "\\textasciicircum{}": "^",
    "\\textbar{}": "|", "$<$": "<", "$>$": ">", "$\\leq$": "<=", "$\\geq$": ">=",
    "$\\pm$": "±", "$\\times$": "×", "$-$": "-", "\\,\\%": " %",
}  # fmt: skip


def of_latex(text: str) -> str:
    text = re.sub(r"^% ", "", text, flags=re.MULTILINE)
    for written, plain in LATEX.items():
        text = text.replace(written, plain)
    text = re.sub(r"\\texttt\{((?:\\.|[^\\}])*)\}", r"`\1`", text)
    text = re.sub(r"\\textbf\{(.*?)\}", r"\1", re.sub(r"\\([%&#$_{}])", r"\1", text))
    return re.sub(r" & | \\\\$", " ", text, flags=re.MULTILINE)


def forms_of(section: Section) -> dict[str, str]:
    """The text of a document in each form, without the marks of the form."""
    forms = {
        "text": TerminalDocument(section).text(10_000),
        "html": of_html(as_html(section)),
        "markdown": of_markdown(as_markdown(section)),
        "latex": of_latex(as_latex(section)),
    }
    return {name: squeezed(text) for name, text in forms.items()}


def without_legends(section: Section) -> Section:
    """A document without its legend, which terminals alone have: a page has pointers."""
    blocks = [x for x in section.blocks if not isinstance(x, Legend)]
    return replace(section, blocks=blocks)


def exact(cell: Quantity) -> float:
    """The value in the unit in which it is printed."""
    return 100 * cell.value if isinstance(cell, Rate) else cell.value


def check_number(cell: Quantity, text: str) -> None:
    """The text is the value, rounded."""
    if math.isnan(cell.value):
        assert text == "n/a"
        return
    parts = re.match(r"(<|>)? ?([-+]?[\d,]*\.?\d+(e[-+]\d+)?|[-+]?inf)", text)
    assert parts, text
    digits = parts[2].replace(",", "")
    value, decimals = float(digits), len(digits.partition("e")[0].partition(".")[2])
    if parts[1] == "<":
        assert exact(cell) <= value
    elif parts[1] == ">":
        assert exact(cell) > value - 1e-9
    elif isinstance(cell, Rate | Count) or (isinstance(cell, Number) and cell.digits is None):
        assert abs(value - exact(cell)) <= 0.5000001 * 10.0**-decimals
    else:
        assert value == pytest.approx(cell.value, rel=0.06, abs=1e-12)


@pytest.mark.filterwarnings("ignore::bioeval.BioevalWarning")
@pytest.mark.parametrize("name", [*CALLS, *OTHERS])
def test_each_form_has_the_same_numbers_names_and_messages(name):
    for section in map(without_legends, sections(name)):
        forms = forms_of(section)
        blocks = blocks_of(section, Messages)
        for sentence in {Lines(task=section.task).message(x) for b in blocks for x in b.messages}:
            for form, text in forms.items():
                assert squeezed(of_markdown(sentence)) in of_markdown(text), form
        numbers = {form: re.findall(r"\d[\d,.]*", text) for form, text in forms.items()}
        for form in forms:
            assert numbers[form] == numbers["text"], form
        for table in blocks_of(section, Table):
            check_cells(table, forms)


def check_cells(table: Table, forms: dict[str, str]) -> None:
    """Names and numbers of a table are in each form; each number is the value, rounded."""
    for cells in zip(*table.rows, strict=True):
        for cell in cells:
            if isinstance(cell, Label):
                for text in forms.values():
                    assert squeezed(of_markdown(cell.text)) in of_markdown(text)
        quantities = [cell for cell in cells if isinstance(cell, Quantity)]
        for cell, number in zip(quantities, printed_column(quantities), strict=True):
            check_number(cell, "".join(number))
            for text in forms.values():
                assert "".join(number) in text


NAMES = (
    "FAR-net", "EER", "<b>bold</b>", "%s", "{far}", "$x$", "\\alpha", "a|b", "false accepts",
    "n" * 300, "\u05d0\u05d1", "100 %",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_names_of_users_come_out_unchanged(name):
    rows = [[Label(name), Rate(0.5), say("{x:name} and {y:names}", x=name, y=[name])]]
    columns = [Column("system"), Column("value", Label(name)), Column("more", "more")]
    blocks = [Facts([("Data", Label(name))]), Table("t", columns, rows)]
    forms = forms_of(Section("s", Label(name), blocks))
    for form, text in forms.items():
        plain = of_markdown(text)
        assert plain.count(of_markdown(name)) >= 6, form


@pytest.mark.parametrize("write", [as_html, as_markdown, as_latex])
def test_controls_and_directions_are_escaped(write):
    evil = "a\u202eb\x1b[31m\ufdd0c"
    written = write(Section("s", Label(evil), [Facts([("Data", Label(evil))])]))
    assert not {"\u202e", "\x1b", "\ufdd0"} & {*written}


#: Results of which a page has tables of its own, or that a page cannot show.
OF_THE_PAGE = (
    *("evaluate", "verification", "open_set", "closed_set", "reid", "gom", "gom_from_curves"),
    *("with_failures", "summary"),
    *("cross_evaluate", "repeat"),
)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bioeval.BioevalWarning")
@pytest.mark.parametrize("name", [name for name in SMALL_RESULTS if name not in OF_THE_PAGE])
def test_a_page_has_each_table_of_a_study(name, tmp_path):
    result = SMALL_RESULTS[name][0]()
    text = be.report(result, tmp_path / "page.html").read_text(encoding="utf-8")
    tables_shown = [
        table
        for table in blocks_of(document_of(result, detail="brief").section, Table)
        if grid_of(table, Lines()).columns
    ]
    assert text.count('<div class="in" tabindex="0"><table') >= len(tables_shown)
