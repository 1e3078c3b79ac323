"""Notebooks: progress below the cell, and how a tree of results is shown."""

from __future__ import annotations

import sys
import threading
import time
from typing import Any

from bioeval.base.panels import safe

# Seconds of work that shows nothing, and between two changes of the line.
_SHORTEST, _BETWEEN = 0.5, 0.2

_BAR = (
    '<div role="status" style="color:inherit">{name} '
    '<progress {value} style="vertical-align:middle;width:16em"></progress> {share}</div>'
)

_OUTPUTS = ("stream", "display_data", "execute_result", "error")


class NotebookProgress:
    """Progress in the cells of a notebook: a line, removed when the cell goes on or has ended.

    `shell` is that of IPython, which says when a cell ends. A notebook can remove all outputs of a
    cell, but not one of them: the line is removed where it is the first output, and where the cell
    has others before, it ends as the time that the work took.
    """

    def __init__(self, shell: Any):
        """Count the outputs of the cells from now on."""
        self._shell = shell
        self._handle: Any = None
        self._begun, self._shown, self._written = time.monotonic(), 0.0, 0.0
        self._now, self._showing, self._removable = "", False, False
        self._others = 1  # outputs of the cell but for the line; of the cell that runs, not known
        self._depth = 1  # a cell can run another, such as %%capture
        self._session = getattr(shell.kernel, "session", None)
        if self._session is not None:
            self._count(self._session)
        shell.events.register("pre_run_cell", self.begin)
        shell.events.register("post_run_cell", self.end)

    def _count(self, session: Any) -> None:
        """Count the outputs that the kernel sends."""
        send = session.send

        def counted(stream: Any, message: Any, *args: Any, **options: Any) -> Any:
            if isinstance(message, str):
                kind = message
            else:
                kind = message.get("msg_type")
            if kind in _OUTPUTS and not (self._showing and kind == "display_data"):
                self._others += 1
            return send(stream, message, *args, **options)

        session.send = counted

    def begin(self, *_: Any) -> None:
        """Begin a cell."""
        self._depth += 1
        if self._depth == 1:
            self._handle, self._begun, self._written, self._now = None, time.monotonic(), 0.0, ""
            self._others = int(self._session is None)

    def end(self, *_: Any) -> None:
        """Remove the line at the end of a cell."""
        self._depth -= 1
        if self._depth or not self._is_there():
            return
        if self._removable:
            from IPython.display import clear_output

            clear_output()
        else:
            text = f"ended after {self._written - self._shown:.0f} s"
            shown = {"text/html": f'<div style="color:inherit">{text}</div>', "text/plain": text}
            self._handle.update(shown, raw=True)
        self._handle = None

    def _is_there(self) -> bool:
        """Whether the line is shown, and no later output has taken its place."""
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()  # what was printed is an output
        if self._removable and self._others:
            self._handle = None
        return self._handle is not None

    def __call__(self, name: str, done: int, total: int) -> None:
        """Show a stage, and how much of it is done where its length is known."""
        now = time.monotonic()
        soon = now - self._begun < _SHORTEST or now - self._written < _BETWEEN
        if soon and (name == self._now or self._handle is None):
            return
        if getattr(self._shell.display_pub, "session", None) is not self._session:
            return  # the outputs of the cell are captured
        self._written, self._now = now, name
        share = value = ""
        if total:
            share = f"{100 * done / total:.0f} %"
            value = f'value="{done}" max="{total}"'
        text = f"{name} {share}".strip()
        shown = {
            "text/html": _BAR.format(name=safe(name), value=value, share=share),
            "text/plain": text,
        }
        if self._is_there():
            self._handle.update(shown, raw=True)
            return
        from IPython.display import clear_output, display

        self._shown, self._removable = now, not self._others
        self._showing = True
        try:
            self._handle = display(shown, raw=True, display_id=True)
        finally:
            self._showing = False
        if self._removable:
            clear_output(wait=True)  # the next output of the cell takes the line's place


_PROGRESS: list[NotebookProgress] = []


def in_notebook() -> NotebookProgress | None:
    """Return the progress display of the running notebook; None outside a notebook.

    The first call also has the notebook show trees of results by :func:`tree_html`.
    """
    if _PROGRESS:
        return _PROGRESS[0]
    if threading.current_thread() is not threading.main_thread():
        return None
    from IPython import get_ipython

    shell = get_ipython()
    if shell is None or not hasattr(shell, "kernel"):
        return None
    html = shell.display_formatter.formatters["text/html"]
    html.for_type_by_name("xarray.core.datatree", "DataTree", tree_html)
    _PROGRESS.append(NotebookProgress(shell))
    return _PROGRESS[0]


# Values of an array in its row; a click shows more. Variables of a dataset that is not folded.
_SHOWN, _UNFOLDED = 4, 15

_TREE = """
.bioeval-tree{color:inherit;line-height:1.4;max-width:100%;overflow-x:auto}
.bioeval-tree summary{cursor:pointer}
.bioeval-tree b{display:block;font-weight:inherit;margin-left:1.2em}
.bioeval-tree table{border-collapse:collapse;border:0;margin:.2em 0 .4em 1.2em}
.bioeval-tree>details>details{margin-left:1.2em}.bioeval-tree pre{margin:0;font-size:inherit}
.bioeval-tree tr:nth-child(n):nth-child(n),.bioeval-tree th,.bioeval-tree td,.bioeval-tree pre{
background:transparent;color:inherit}
.bioeval-tree th,.bioeval-tree td{border:0;padding:.03em 1.2em .03em 0;text-align:left;
vertical-align:top;font-weight:inherit;max-width:46em;white-space:pre-wrap}
.bioeval-tree th,.bioeval-tree .v{font-family:monospace;white-space:pre}
.bioeval-tree .c{font-weight:bold}
.bioeval-tree i{font-style:normal;opacity:.72}
"""


def tree_html(tree: Any) -> str:
    """Return a tree of results as HTML: the variables, attributes and warnings of each dataset.

    A variable has its dimensions, first and last values, meaning, unit and ISO term. A tree that
    does not hold results is shown as xarray shows it.
    """
    nodes = [node for node in tree.subtree if node.variables or node.attrs]
    if not any("bioeval_version" in node.attrs for node in nodes):
        return str(tree._repr_html_())
    css = _TREE.replace("\n", "")
    parts = ""
    for node in nodes:
        parts += _node(node.path, node.dataset)
    return f'<div class="bioeval-tree"><style>{css}</style><i>xarray.DataTree</i>{parts}</div>'


def _node(path: str, data: Any) -> str:
    """Return a dataset of a tree; one of many variables is folded, its warnings are not."""
    sizes = ", ".join(f"{name}: {size}" for name, size in data.sizes.items())
    heads = [f"<strong>{safe(path)}</strong>", safe(str(data.attrs.get("task", "")))]
    heads.append(f"<i>{safe(sizes)}</i>")
    rows = "".join(_variable(name, x, name in data.coords) for name, x in data.variables.items())
    attrs = "".join(f"<tr><th>{safe(k)}<td>{safe(str(v))}" for k, v in data.attrs.items())
    more = f"<details><summary>Attributes</summary><table>{attrs}</table></details>"
    warnings = str(data.attrs.get("warnings", ""))
    return (
        f"<details{' open' * (len(data.variables) <= _UNFOLDED)}>"
        f"<summary>{' &nbsp; '.join(filter(None, heads))}"
        + (f"<b>{safe(warnings)}</b>" if warnings else "")
        + f"</summary><table>{rows}</table>{more}</details>"
    )


def _variable(name: str, data: Any, coordinate: bool) -> str:
    """Return the row of a variable."""
    attrs = dict(data.attrs)
    what = str(attrs.pop("long_name", ""))
    unit = str(attrs.pop("units", ""))
    if unit not in ("", "1"):
        what += f" [{unit}]"
    notes = []
    if iso := attrs.pop("iso_term", ""):
        notes.append(f"ISO: {iso}")
    for key, value in attrs.items():
        notes.append(f"{key}: {value}")
    dims = ""
    if data.dims not in ((), (name,)):
        dims = f"({', '.join(data.dims)})"
    return (
        f"<tr><th{' class=c' * coordinate}>{safe(name)}<td class=v>{safe(dims)}"
        f"<td class=v>{_values(data.values)}<td>{safe(what)} <i>{safe('; '.join(notes))}</i>"
    )


def _values(array: Any) -> str:
    """Return the values of an array, or the first and last ones with others on a click."""
    flat = array.reshape(-1)
    text_of = "{:.4g}".format if flat.dtype.kind == "f" else str
    shown = [*map(text_of, flat[: _SHOWN - 1])]
    if len(flat) > len(shown):
        if len(flat) > _SHOWN:
            shown.append("\u2026")
        shown.append(text_of(flat[-1]))
    line = safe(" ".join(shown))
    if len(flat) <= _SHOWN:
        return line
    import numpy as np

    text = np.array2string(array, precision=6, threshold=50, edgeitems=5, max_line_width=50)
    kind = f"{array.dtype}, shape {array.shape}"
    return f"<details><summary>{line}</summary><pre>{kind}<br>{safe(text)}</pre></details>"
