"""Tables of results as data frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bioeval.base.arguments import require_text
from bioeval.base.errors import DataError, bad_choice

if TYPE_CHECKING:
    import pandas as pd


def to_frame(results: Any, table: str = "") -> pd.DataFrame:
    """Return a table of a result as a data frame with exact values.

    Parameters
    ----------
    results : xarray.Dataset, xarray.DataTree, or another result of bioeval
        As for :func:`show`.
    table : str, optional
        The name of the table; the first one by default. An unknown name lists those there are.

    Returns
    -------
    pandas.DataFrame
        The columns have the names of the variables that they show. Of several systems the first
        column is ``system``, and there are the rows of all. Limits of intervals have
        columns of their own, ``rate_low`` and ``rate_high``. ``frame.attrs["kinds"]`` says what
        each column holds, such as ``"rate"``, a proportion in [0, 1], ``"count"`` or ``"score"``,
        and ``frame.attrs["table"]`` is the name of the table.

    Raises
    ------
    DataError
        If the results are something else, or have no such table.

    See Also
    --------
    show : The tables as a reader is shown them.

    Examples
    --------
    >>> import bioeval as be
    >>> zoo = be.zoo(be.simulate(20, 4, random_state=1))
    >>> be.to_frame(zoo, table="animals")[["animal", "count"]]
          animal  count
    0       dove      0
    1       worm      1
    2  chameleon      2
    3    phantom      2
    """
    import pandas as pd

    from bioeval.tables.sections import by_system

    require_text("table", table)
    parts = by_system(results)
    made = {system: _rows_of(part, table) for system, part in parts.items()}
    name, kinds, rows = next(iter(made.values()))
    if len(made) > 1:
        kinds = {"system": "label"} | kinds
        rows = [{"system": x, **row} for x, (_, _, of_x) in made.items() for row in of_x]
    frame = pd.DataFrame(rows)
    frame.attrs |= {"table": name, "kinds": kinds}
    return frame


def _rows_of(results: Any, table: str) -> tuple[str, dict[str, str], list[dict[str, Any]]]:
    """Return the name of a table, the kind of each column, and the rows."""
    from bioeval.document.blocks import tables
    from bioeval.tables.sections import sections_of
    from bioeval.views.writers.data import has_data, rows_of_table, units_of
    from bioeval.views.writers.lines import Lines

    with_data = []
    for section in sections_of(results):
        with_data += [(section, each) for each in tables(section) if has_data(each)]
    if not with_data:
        raise DataError("the results have no table")
    name = table or with_data[0][1].id
    for section, each in with_data:
        if each.id == name:
            return name, units_of(each), rows_of_table(each, Lines(task=section.task))
    hint = " That table needs per_query=True in the evaluation." if table == "queries" else ""
    raise DataError(bad_choice("table", table, [each.id for _, each in with_data]) + hint)
