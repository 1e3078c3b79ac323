"""Results shown to people: printed, in a notebook, and for a paper."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from bioeval.base.arguments import require_flag, require_list
from bioeval.base.errors import DataError
from bioeval.showing.document import section_of
from bioeval.showing.measures import table_of_measures
from bioeval.showing.nodes import Node, nodes_of
from bioeval.showing.printing import WIDTH, Shown, print_table
from bioeval.showing.records import OF_RECORDS
from bioeval.showing.terminal import Form, TerminalDocument
from bioeval.showing.text import Detail, Label, Paragraph, Section, Text, say


def show(results: Any, *, verbose: bool = False) -> None:
    """Show a result as its command prints it.

    In a terminal and in a script the table is printed; in a notebook it is displayed as HTML.

    Parameters
    ----------
    results : xarray.Dataset, xarray.DataTree, or another result of bioeval
        What a function of bioeval returned: an evaluation of one or several systems, one task,
        a study, a comparison, a check of data, an explained row. Or several datasets by
        name. A result that was loaded from a file is one, too.
    verbose : bool
        Show all rows, terms and messages, also those that the data do not support.

    Raises
    ------
    DataError
        If the results are something else.

    See Also
    --------
    to_latex, to_markdown : The same tables for a paper.
    report : All figures and curves on one HTML page.

    Examples
    --------
    >>> import bioeval as be
    >>> scores = be.Scores([[0.1, 0.7], [0.9, 0.3]], ["ann", "bob"], ["ann", "bob"])
    >>> be.show(be.check_data(scores))  # doctest: +ELLIPSIS
    Data    2 probes of 2 subjects against 2 gallery templates...
    """
    shown_in_full = require_flag("verbose", verbose)
    table = document_of(results, detail="all" if shown_in_full else "brief")
    if "ipykernel" in sys.modules:
        from IPython import get_ipython
        from IPython.display import display

        if hasattr(get_ipython(), "kernel"):
            display({"text/html": table.html(), "text/plain": table.text(WIDTH)}, raw=True)
            return
    print_table(table)


def to_latex(results: Any, measures: Sequence[str] = ()) -> str:
    r"""Return the table of a result as LaTeX, with the rules of the package booktabs.

    Titles, remarks and warnings are comments. Up to four systems by
    name stand side by side; more of them, and those of chosen `measures`, have a row each. Over
    folds, repeats and partitions values are means, with their standard deviations.

    Parameters
    ----------
    results : xarray.Dataset, xarray.DataTree, or another result of bioeval
        As for :func:`show`; several systems as a mapping by name.
    measures : sequence of str
        The measures that are columns, in this order: names of variables, with a point, a rank or
        labels of dimensions, such as ``["eer", "frr_at_far=0.01", "cms=5", "eer@part=test"]``;
        empty for all of them.

    Raises
    ------
    DataError
        If the results are something else, or have no such measure.

    Examples
    --------
    >>> import bioeval as be
    >>> scores = be.Scores([[0.1, 0.7], [0.9, 0.3]], ["ann", "bob"], ["ann", "bob"])
    >>> found = be.verification(scores)
    >>> print(be.to_latex({"ours": found, "theirs_2": found}, measures=["eer", "auc"]))
    % needs \usepackage{booktabs}
    % Verification, single-template
    <BLANKLINE>
    \begin{tabular}{lrr}
    \toprule
    system    &      EER &     AUC \\
    \midrule
    ours      & 0.00\,\% & 1.00000 \\
    theirs\_2 & 0.00\,\% & 1.00000 \\
    \bottomrule
    \end{tabular}
    <BLANKLINE>
    % Thresholds were chosen on these data, so errors at them are optimistic (too low).
    <BLANKLINE>
    """
    return _marked_up(results, measures, "latex")


def to_markdown(results: Any, measures: Sequence[str] = ()) -> str:
    """Return the table of a result as Markdown, with the arguments of :func:`to_latex`.

    Parameters
    ----------
    results : xarray.Dataset, xarray.DataTree, or another result of bioeval
    measures : sequence of str

    Examples
    --------
    >>> import bioeval as be
    >>> scores = be.Scores([[0.1, 0.7], [0.9, 0.3]], ["ann", "bob"], ["ann", "bob"])
    >>> print(be.to_markdown({"ours": be.verification(scores)}, measures=["eer", "auc"]))
    **Verification, single-template**
    <BLANKLINE>
    | system |    EER |     AUC |
    | :----- | -----: | ------: |
    | ours   | 0.00 % | 1.00000 |
    <BLANKLINE>
    Thresholds were chosen on these data, so errors at them are optimistic (too low).
    <BLANKLINE>
    """
    return _marked_up(results, measures, "markdown")


def _marked_up(results: Any, measures: Sequence[str], form: Form) -> str:
    names = require_list("measures", measures)
    for name in names:
        if not isinstance(name, str):
            raise DataError(f"`measures` has {name!r}; expected names of measures")
    if not names:
        return document_of(results, detail="supported").marked_up(form)
    if isinstance(results, Shown):
        raise DataError("`measures` chooses numbers; this result has none: leave it out")
    nodes = nodes_of(results)
    section = table_of_measures(nodes, names)
    return TerminalDocument(section).marked_up(form)


def document_of(
    results: Any,
    words: Callable[[str], str] = str,
    lines: Sequence[Text] = (),
    *,
    detail: Detail = "all",
) -> TerminalDocument:
    """Return any result, or several results by name, as a document that rich can print.

    `words` returns a text with arguments as a surface has them; `lines` stand below. Raise
    :class:`DataError` for anything else.
    """
    if isinstance(results, Shown):
        sections = [results._section()]
        if lines:
            sections.append(Section("remarks", "", [*map(Paragraph, lines)]))
    else:
        sections = sections_of(nodes_of(results), detail, lines, on_screen=True)
    section = sections[0] if len(sections) == 1 else Section("results", "", sections)
    return TerminalDocument(section, words)


def sections_of(
    nodes: Sequence[Node], detail: Detail, lines: Sequence[Text] = (), *, on_screen: bool = False
) -> list[Section]:
    """Return a section of all numbers with `lines`, and a section for each result of records."""
    records = [x for x in nodes if x.record]
    numbers = [x for x in nodes if not x.record]
    remarks = Section("remarks", "", [*map(Paragraph, lines)])
    sections = (
        [section_of(numbers, detail, lines, on_screen=on_screen)]
        if numbers
        else [remarks] * bool(lines)
    )
    for node in records:
        section = OF_RECORDS[node.result_type](node.dataset, detail)
        if len(records) > 1 and node.name_of_system():
            name = Label(node.name_of_system())
            title = say("{name}: {title}", name=name, title=section.title)
            section = replace(section, title=title if section.title else name)
        sections.append(section)
    return sections
