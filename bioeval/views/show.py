"""Results shown to people: as text in a terminal, in a pipe or a file, as HTML in a notebook."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from bioeval.base.errors import Argument, DataError, without_controls

if TYPE_CHECKING:
    from bioeval.base.messages import Message
    from bioeval.views.writers.terminal import Form

#: Columns of a table that goes to a file or into a pipe.
WIDTH = 100


def show(results: Any) -> None:
    """Show a result as its command prints it.

    In a terminal and in a script the table is printed; in a notebook it is displayed as HTML.

    Parameters
    ----------
    results : xarray.Dataset, xarray.DataTree, Tally, or another result of bioeval
        What a function of bioeval returned: an evaluation of one or several systems, one task,
        a study, a comparison, a check of data, an explained row, a summary. Or several datasets by
        name. A result that was loaded from a file is one, too.

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
    Data      Scores probe-against-gallery...
    """
    from bioeval.views.registry import table_of

    table = table_of(results)
    if not _in_notebook():
        print_table(table)
        return
    from IPython.display import display

    display({"text/html": table.html(), "text/plain": as_text(table, WIDTH)}, raw=True)


def to_latex(results: Any, measures: Sequence[str] = (), *, document: bool = False) -> str:
    r"""Return the table of a result as LaTeX, with the rules of the package booktabs.

    Titles, remarks and warnings are comments; in a `document` they are text. Of several systems by
    name the table has a row for each system and a column for each measure; over folds, repeats and
    partitions its values are means and standard deviations.

    Parameters
    ----------
    results : xarray.Dataset, xarray.DataTree, Tally, or another result of bioeval
        As for :func:`show`; several systems as a mapping by name.
    measures : sequence of str
        Labels of the measures that are columns, such as ``["mAP", "Rank 1"]``, in this order; empty
        for all of them.
    document : bool
        Return a whole document that compiles on its own, with titles and sentences as text: a
        handout of :func:`step_by_step`.

    Raises
    ------
    DataError
        If the results are something else, or have no such measure.

    Examples
    --------
    >>> import bioeval as be
    >>> scores = be.Scores([[0.1, 0.7], [0.9, 0.3]], ["ann", "bob"], ["ann", "bob"])
    >>> found = be.verification(scores)
    >>> print(be.to_latex({"ours": found, "theirs_2": found}, measures=["EER", "AUC"]))
    % needs \usepackage{booktabs}
    % Verification, single-template
    <BLANKLINE>
    \begin{tabular}{lrr}
    \toprule
              &      EER &     AUC \\
    \midrule
    ours      & 0.00\,\% & 1.00000 \\
    theirs\_2 & 0.00\,\% & 1.00000 \\
    \bottomrule
    \end{tabular}
    <BLANKLINE>
    % The thresholds of EER and FAR targets were chosen on these data, ...
    <BLANKLINE>
    """
    from bioeval.base.arguments import require_flag

    whole = require_flag("document", document)
    return _marked_up(results, measures, "latex document" if whole else "latex")


def to_markdown(results: Any, measures: Sequence[str] = ()) -> str:
    """Return the table of a result as Markdown; arguments are those of :func:`to_latex`.

    Parameters
    ----------
    results : xarray.Dataset, xarray.DataTree, Tally, or another result of bioeval
    measures : sequence of str

    Examples
    --------
    >>> import bioeval as be
    >>> scores = be.Scores([[0.1, 0.7], [0.9, 0.3]], ["ann", "bob"], ["ann", "bob"])
    >>> print(be.to_markdown({"ours": be.verification(scores)}, measures=["EER", "AUC"]))
    **Verification, single-template**
    <BLANKLINE>
    |      |    EER |     AUC |
    | :--- | -----: | ------: |
    | ours | 0.00 % | 1.00000 |
    <BLANKLINE>
    The thresholds of EER and FAR targets were chosen on these data, ...
    <BLANKLINE>
    """
    return _marked_up(results, measures, "markdown")


def _marked_up(results: Any, measures: Sequence[str], form: Form) -> str:
    """Return the table for a paper, after a check of the measures."""
    from bioeval.base.arguments import require_list
    from bioeval.views.registry import paper_table

    names = require_list("measures", measures)
    for name in names:
        if not isinstance(name, str):
            raise DataError(Argument("measures"), f" has {name!r}; expected labels of measures")
    return paper_table(results, names).marked_up(form)


def print_table(table: Any, form: Form | None = None) -> None:
    """Print a table on standard output, as text unless another form is given.

    Colours are left out in a pipe and where ``NO_COLOR`` is set; a table is as wide as the
    terminal, or as ``COLUMNS`` says.
    """
    from rich.console import Console

    if form is not None:
        put(table.marked_up(form))
        return
    if sys.stdout is not None and sys.stdout.isatty():
        with named_errors():
            Console(highlight=False, emoji=False, markup=False).print(_Printable(table), crop=False)
        return
    put(as_text(table, pipe_width()))


class _Printable:
    """A renderable whose text controls no terminal: styles are rich's own, the rest is escaped."""

    def __init__(self, inner: Any):
        self._inner = inner

    def __rich_console__(self, console: Any, options: Any) -> Iterator[Any]:
        for part in console.render(self._inner, options):
            yield part if part.control else part._replace(text=without_controls(part.text))


class Shown:
    """A result that is its table in print, and in a notebook; some have messages."""

    @property
    def messages(self) -> Sequence[Message]:
        """The messages of the result."""
        return ()

    def __str__(self) -> str:
        from bioeval.views.registry import table_of

        return as_text(table_of(self), WIDTH)

    def _repr_html_(self) -> str:
        from bioeval.views.registry import table_of

        return table_of(self).html()


def as_text(table: Any, width: int) -> str:
    """Return a table as plain text."""
    from bioeval.views.writers.terminal import plain

    return plain(table, width)


def pipe_width() -> int:
    """Return the width of output into a pipe: ``COLUMNS``, else `WIDTH`."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns):
        return int(columns)
    return WIDTH


def put(text: str) -> None:
    """Write text on standard output, through to the reader; control characters are escaped."""
    if sys.stdout is not None:
        with named_errors():
            sys.stdout.write(without_controls(text))
            sys.stdout.flush()


@contextlib.contextmanager
def named_errors() -> Iterator[None]:
    """Add the name of the output to an error of writing."""
    try:
        yield
    except OSError as error:
        # Windows calls a pipe that nothing reads an invalid argument.
        number = errno.EPIPE if error.errno == errno.EINVAL else error.errno
        raise OSError(number, error.strerror, "standard output") from error


def _in_notebook() -> bool:
    """Whether the caller is a cell of a notebook."""
    if "ipykernel" not in sys.modules:
        return False
    from IPython import get_ipython

    return hasattr(get_ipython(), "kernel")
