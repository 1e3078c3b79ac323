"""Every public result in every form: the same numbers, intervals, labels and messages."""

import html
import json
import math
import re
from dataclasses import replace

import pytest
from shown import SHOWN, square

from bioeval.document.blocks import Messages, supported, tables, walk
from bioeval.document.cells import Count, Label, Number, Probability, Quantity, Rate, Score
from bioeval.tables.sections import sections_of
from bioeval.views.writers.columns import printed_columns
from bioeval.views.writers.data import messages_data, rows_of_table
from bioeval.views.writers.html import as_html
from bioeval.views.writers.latex import as_latex, as_latex_document
from bioeval.views.writers.lines import Lines
from bioeval.views.writers.markdown import as_markdown
from bioeval.views.writers.terminal import as_text

VOCABULARIES = ("lecture", "iso")

#: The lecture's terms that have another one in the standard.
OF_LECTURE = re.compile(r"\b(FAR|FRR|GAR|GRR|DIR|CMS)\b|false (accept|reject)")

_made: dict[str, list] = {}


def sections(name: str) -> list:
    """What is said of a result; made once."""
    if name not in _made:
        _made[name] = sections_of(SHOWN[name][0]())
    return _made[name]


def squeezed(text: str) -> str:
    return " ".join(text.split())


def of_markdown(text: str) -> str:
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
    for written, plain in LATEX.items():
        text = text.replace(written, plain)
    text = re.sub(r"\\texttt\{((?:\\.|[^\\}])*)\}", r"`\1`", text)
    return re.sub(r"\\textbf\{(.*?)\}", r"\1", re.sub(r"\\([%&#$_{}])", r"\1", text))


def exact(cell: Quantity) -> float:
    """The value in the unit in which it is printed."""
    return 100 * cell.value if isinstance(cell, Rate) else cell.value


def read_back(text: str) -> tuple[str, float, int]:
    """The sign before a printed number, the number, and its decimals."""
    found = re.match(r"(<|>|at least|at most)? ?([-+]?[\d,]*\.?\d+(e[-+]\d+)?|[-+]?inf)", text)
    assert found, text
    digits = found[2].replace(",", "")
    return found[1] or "", float(digits), len(digits.partition("e")[0].partition(".")[2])


def check_number(cell: Quantity, text: str) -> None:
    """The text is the value, rounded."""
    if math.isnan(cell.value):
        assert text == "n/a"
        return
    before, value, decimals = read_back(text)
    if before == "<":
        assert 0 <= exact(cell) < value or exact(cell) <= value
    elif before == ">":
        assert exact(cell) > value - 1e-9
    elif isinstance(cell, Rate | Count) or (isinstance(cell, Number) and cell.digits is None):
        assert abs(value - exact(cell)) <= 0.5000001 * 10.0**-decimals
    elif isinstance(cell, Score | Probability | Number):
        assert value == pytest.approx(cell.value, rel=0.06, abs=1e-12)


@pytest.mark.cases(12)
@pytest.mark.filterwarnings("ignore::bioeval.BioevalWarning")
@pytest.mark.parametrize("name", SHOWN)
def test_each_form_has_the_same_cells(name):
    made = sections(name)
    assert made, f"{name} has no section"
    for section in made:
        text = squeezed(as_text(section, 10_000))
        page = squeezed(of_html(as_html(section)))
        marked = squeezed(of_markdown(as_markdown(section)))
        latex = squeezed(of_latex(as_latex(section)))
        document = squeezed(of_latex(as_latex_document(section)))
        for place, table in walk(section):
            if table not in list(tables(section)):
                continue
            lines = Lines().within(section).within(place)
            columns = printed_columns(table, lines)
            shown = table.shown_rows
            data = rows_of_table(replace(table, rows=shown, shown=None), lines)
            for column in columns:
                for form in (text, page, marked, latex, document):
                    assert squeezed(column.heading) in form, (column.heading, form)
                at = [x.name for x in table.columns].index(column.column.name)
                for row, printed, values in zip(shown, column.texts, data, strict=True):
                    cell = row[at]
                    if isinstance(cell, Quantity):
                        check_number(cell, printed)
                    if column.column.only == "readers":  # another table has its values in data
                        pass
                    elif isinstance(cell, Quantity):
                        assert values[column.column.name] == cell.value or math.isnan(cell.value)
                        if cell.interval is not None:
                            limits = values[f"{column.column.name}_low"], values[
                                f"{column.column.name}_high"]  # fmt: skip
                            assert limits == pytest.approx(cell.interval, nan_ok=True)
                    elif isinstance(cell, Label):
                        assert values[column.column.name] == cell.value
                    for form in (text, page, marked, latex, document):
                        for line in printed.splitlines():  # other cells are beside the first
                            assert squeezed(of_markdown(line)) in squeezed(of_markdown(form)), line


@pytest.mark.filterwarnings("ignore::bioeval.BioevalWarning")
@pytest.mark.parametrize("name", SHOWN)
@pytest.mark.cases(16)
def test_each_message_is_in_each_form_and_its_code_in_data(name):
    for section in sections(name):
        forms = [
            squeezed(as_text(section, 10_000)),
            squeezed(of_html(as_html(section))),
            squeezed(of_markdown(as_markdown(section))),
            squeezed(as_latex(section)),
            squeezed(of_latex(as_latex_document(section))),
        ]
        data = messages_data(section)
        json.dumps(data)
        blocks = [block for _, block in walk(section) if isinstance(block, Messages)]
        listed = {message.code for block in blocks for message in block.messages}
        assert listed <= {message["code"] for message in data}
        # Those within texts are in data, too, and each message once.
        assert len(data) == len({json.dumps(message) for message in data})
        assert len(data) >= sum(len({*block.messages}) for block in blocks)
        for message in data:
            assert message["code"]
            for form in forms:
                assert squeezed(of_markdown(message["sentence"])) in of_markdown(form)


@pytest.mark.filterwarnings("ignore::bioeval.BioevalWarning")
@pytest.mark.parametrize("name", SHOWN)
@pytest.mark.cases(16)
def test_no_term_of_the_lecture_is_left_in_the_words_of_the_standard(name):
    for section in sections(name):
        text = as_text(section, 10_000, "iso")
        lines = [line for line in text.splitlines() if "biometrics lecture" not in line]
        assert not OF_LECTURE.search("\n".join(lines)), text


NAMES = (
    "FAR-net", "EER", "<b>bold</b>", "%s", "{far}", "$x$", "\\alpha", "a|b", "false accepts",
    "n" * 70, "\u05d0\u05d1", "100 %",
)  # fmt: skip


@pytest.mark.parametrize("vocabulary", VOCABULARIES)
@pytest.mark.parametrize("name", NAMES)
def test_names_of_users_come_out_unchanged(name, vocabulary):
    import bioeval as be

    for section in sections_of(be.zoo(square(name), permutations=20)):
        assert f"Data {name}: 18" in squeezed(as_text(section, 10_000, vocabulary))
        assert f"Data {name}: 18" in squeezed(of_html(as_html(section, vocabulary)))
        assert f"Data: {name}" in of_latex(as_latex(section, vocabulary)).replace("% ", "")
        assert f"[Data] {name}" in of_latex(as_latex_document(section, vocabulary))
        marked = as_markdown(section, vocabulary)
        assert f"- Data: {name}" in re.sub(r"\\(?=[\\`*_|~$<(])", "", marked)
        assert name not in ("<b>bold</b>",) or "<b>bold" not in as_html(section)


def test_controls_and_directions_are_escaped():
    import bioeval as be

    (section,) = sections_of(be.zoo(square("a\u202eb\x1b[31m\ufdd0c"), permutations=20))
    for write in (as_html, as_markdown, as_latex, as_latex_document):
        written = write(section)
        assert "\u202e" not in written and "\x1b" not in written and "\ufdd0" not in written
    assert "\u202e" not in as_text(section, 100)


#: Results of which a page has tables of its own, or that a page cannot show.
OF_THE_PAGE = (
    *("evaluate", "verification", "open_set", "closed_set", "reid", "gom", "gom_from_curves"),
    *("with_failures", "summary"),
    *("cross_evaluate", "repeat"),
)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bioeval.BioevalWarning")
@pytest.mark.parametrize("name", [name for name in SHOWN if name not in OF_THE_PAGE])
def test_a_page_has_each_table_of_a_study(name, tmp_path):
    import bioeval as be

    text = be.report(SHOWN[name][0](), tmp_path / "page.html").read_text(encoding="utf-8")
    shown = [
        table
        for section in sections(name)
        for table in tables(supported(section))
        if any(any(column.texts) for column in printed_columns(table, Lines(), "page"))
    ]
    assert text.count('<div class="in" tabindex="0"><table>') >= len(shown)
