"""The benchmarks as a table, and what explains it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from benchmarks.pieces import Piece
from benchmarks.rows import SECTIONS, WITHIN, Row, number
from benchmarks.suite import Report

_HEADS = ("", "ratio", "quartiles", "on this machine", "", "")


def json_lines(report: Report) -> str:
    """Return one JSON document a line."""
    documents = report.documents()
    return "".join(json.dumps(d, ensure_ascii=False, allow_nan=False) + "\n" for d in documents)


class BenchTable:
    """A report that rich can print."""

    def __init__(self, report: Report):
        self.report = report

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from (Text(line, style="dim") for line in machine_lines(self.report.machine))
        notes: list[str] = []
        for section, title in SECTIONS.items():
            rows = [row for row in self.report.rows if row.section == section]
            if rows:
                yield Text()
                yield Text(title[0].upper() + title[1:], style="bold")
                if any(row.ratio is not None for row in rows):
                    yield Padding(_table(rows, notes), (0, 0, 0, 2))
                for row in rows:
                    if row.ratio is None:
                        yield Padding(Text(f"{row.name}: {row.note}", style="dim"), (0, 0, 0, 2))
        if notes:
            yield Text()
            yield from (Text(f"[{i}] {note}", style="dim") for i, note in enumerate(notes, 1))
        if self.report.pieces:
            yield Text()
            yield Text("Where the time goes, in one more run", style="bold")
            yield Padding(_pieces(self.report.pieces), (0, 0, 0, 2))
        for line in missed(self.report):
            yield Text()
            yield Text(line)


def _table(rows: list[Row], notes: list[str]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for place, head in enumerate(_HEADS):
        table.add_column(head, no_wrap=place > 0, justify="right" if 0 < place < 4 else "left")
    for row in rows:
        if row.ratio is not None:
            table.add_row(row.name, *_cells(row), aim(row), _mark(row.note, notes))
    return table


def _cells(row: Row) -> tuple[str, str, str]:
    assert row.ratio is not None and row.low is not None and row.high is not None
    spread = f"{number(row.low)} - {number(row.high)}" if row.low != row.high else ""
    return number(row.ratio), spread, row.figure


def aim(row: Row) -> str:
    """Return what is aimed at, and whether it is reached."""
    if row.reached is None:
        return ""
    if row.key in WITHIN:
        most, unit = WITHIN[row.key]
        return f"at most {most:g} {unit}: {'yes' if row.reached else 'no'}"
    limit = f"at least {row.at_least:g}" if row.at_most is None else f"at most {row.at_most:g}"
    return f"{limit}: {'yes' if row.reached else 'no'}"


def _mark(note: str, notes: list[str]) -> str:
    if not note:
        return ""
    if note not in notes:
        notes.append(note)
    return f"[{notes.index(note) + 1}]"


def machine_lines(about: dict[str, Any]) -> Iterator[str]:
    """Yield the limits of the machine in words."""
    cores = f"{about['cores']} core{'s' if about['cores'] != 1 else ''}"
    caches = ", ".join(f"{name} {_size(size)}" for name, size in about["caches"].items())
    memory = _size(about["memory_bytes"])
    yield f"{about['date']}  bioeval {about['bioeval']}"
    yield "; ".join(filter(None, [about["processor"], cores, caches, f"memory {memory}"]))
    yield (
        f"{about['system']}, Python {about['python']}, NumPy {about['numpy']}, "
        f"numba {about['numba']}"
    )
    matrix = about["size"] ** 2 * 4
    gbs = about["read_bytes_per_second"] / 1e9
    yield (
        f"{about['size']:,} x {about['size']:,} float32 ({_size(matrix)}), "
        f"{about['templates']} templates a subject; {about['repeat']} rounds; "
        f"threads: {about['threads']}; read at {gbs:.1f} GB/s"
    )
    share = about["processor_share"]
    if share is not None and share < 0.95:
        yield (
            f"Busy machine: what ran on one thread had the processor {share:.0%} of the time. Its "
            "figures are processor time; those of several threads are worth little."
        )
    largest = max(about["caches"].values(), default=0)
    if matrix <= 2 * largest:
        yield "Much of the matrix fits in the cache: the read is faster than from memory."


def _size(count: int | None) -> str:
    if count is None:
        return "unknown"
    for unit, step in (("GiB", 2**30), ("MiB", 2**20)):
        if count >= step:
            return f"{count / step:.3g} {unit}"
    return f"{count / 2**10:.3g} KiB"


def _pieces(pieces: list[Piece]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for place, head in enumerate(("", "", "ns a cell", "bytes a cell")):
        table.add_column(head, justify="right" if place > 1 else "left", no_wrap=True)
    key = None
    for piece in pieces:
        first = f"be.{piece.key}" if piece.key != key else ""
        key = piece.key
        read = f"{piece.bytes_per_cell:.2f}" if piece.kernel else ""
        name = piece.kernel or "outside the kernels"
        table.add_row(first, name, f"{piece.ns_per_cell:.3f}", read)
    return table


def missed(report: Report) -> Iterator[str]:
    """Say why each aim that is not reached is not, as far as it was measured."""
    for row in report.rows:
        if row.reached is False:
            yield " ".join([f"{row.name}: {_shortfall(row)}", *_reasons(row, report)])


def _shortfall(row: Row) -> str:
    assert row.ratio is not None
    if row.key in WITHIN and row.amount is not None:
        most, unit = WITHIN[row.key]
        return f"{number(row.amount)} {unit}, where {most:g} is aimed at."
    if row.section == "read" and row.ns_per_cell is not None and row.at_most is not None:
        allowed = number(row.ns_per_cell / row.ratio * row.at_most)
        return (
            f"{number(row.ns_per_cell)} ns a cell, where {row.at_most:g} reads would take "
            f"{allowed}."
        )
    if row.section == "memory" and row.at_most is not None:
        return f"{row.figure}, where {row.at_most:.0%} is aimed at."
    limit = row.at_least if row.at_most is None else row.at_most
    return f"{number(row.ratio)}, where {limit:g} is aimed at."


def _reasons(row: Row, report: Report) -> Iterator[str]:
    """Yield what was measured that explains a figure."""
    by_key = {other.key: other for other in report.rows}
    if row.section == "read":
        of_row = [piece for piece in report.pieces if piece.key == row.key]
        if of_row:
            dearest = max(of_row, key=lambda piece: piece.ns_per_cell)
            handed = sum(piece.bytes_per_cell for piece in of_row)
            yield (
                f"The kernels are handed {number(handed)} bytes a cell; the dearest piece, "
                f"{dearest.kernel or 'outside the kernels'}, takes "
                f"{number(dearest.ns_per_cell)} ns."
            )
    elif row.section == "counts" and row.ratio and row.at_least and "counts" in by_key:
        counts = by_key["counts"].ns_per_cell
        if counts is not None:
            yield (
                f"counts takes {number(counts)} ns a cell; "
                f"{number(counts * row.ratio / row.at_least)} would do."
            )
    elif row.section == "speed-up" and by_key.get("speed-up: read"):
        alone = by_key["speed-up: read"].ratio
        if alone is not None:
            yield f"The read alone, which the memory bounds, is {number(alone)} times as fast."
        share = report.machine["processor_share"]
        if share is not None and share < 0.95:
            yield "The machine was busy."
    elif row.section == "product" and row.ratio and row.ns_per_cell is not None:
        product = row.ns_per_cell / row.ratio
        yield (
            f"One product takes {number(product)} ns a cell, everything "
            f"{number(row.ns_per_cell)}: {number(row.ns_per_cell - product)} more."
        )
    elif row.section == "memory" and row.bytes_per_cell is not None:
        yield f"That is {number(row.bytes_per_cell)} bytes a cell."
