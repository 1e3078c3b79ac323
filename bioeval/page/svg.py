"""Figures of matplotlib as SVG in a page: small, without styles of their own, in its colours."""

from __future__ import annotations

import math
import re
from html import escape, unescape

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from bioeval.plot.files import svg_text
from bioeval.plot.plot_style import GRID, PALETTE, SHADE, SHADES, Style

#: The variables of the style sheet that stand for the colours of plots.
_COLOURS = {
    "#ffffff": "var(--ground)",
    Style.text: "var(--text)",
    Style.quiet: "var(--quiet)",
    Style.rule: "var(--rule)",
    GRID: "var(--grid)",
    SHADE: "var(--panel)",
    **{colour.lower(): f"var(--c{i})" for i, colour in enumerate(PALETTE)},
}
for i in range(len(PALETTE)):  # darker shades are lighter on a dark ground
    for k, shade in enumerate(SHADES[1:], 1):
        mixed = f"var(--{'text' if shade < 0 else 'ground'}) {100 * abs(shade):g}%"
        _COLOURS[to_hex(Style.colour(i, k))] = f"color-mix(in srgb, var(--c{i}), {mixed})"

#: Places are rounded to this part of a point.
STEP = 0.1

_NUMBER = re.compile(r"-?\d+\.\d+")
_STYLE = re.compile(r' style="([^"]*)"')
_LINES = re.compile(r' d="([MLz\d\s.-]*)"')
_CURVES = re.compile(r' d="([^"]*[CQ][^"]*)"')


def svg_of(figure: Figure, name: str, title: str) -> str:
    """Return a figure as an SVG element; `name` is the beginning of all its ids."""
    text = svg_text(figure)
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>|<defs>\s*<style.*?</defs>", "", text, flags=re.S)
    text = re.sub(r"<!--.*?-->|<title>.*?</title>", "", text, flags=re.S)
    width, height = (72 * side for side in figure.get_size_inches())
    head = (
        f'<svg viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{escape(title)}" '
        'xmlns:xlink="http://www.w3.org/1999/xlink">'
    )
    text = head + text[text.index(">") + 1 :]
    text = _STYLE.sub(lambda match: _attributes(match[1]), text)
    text = _LINES.sub(lambda match: f' d="{_thinned(match[1])}"', text)
    text = _CURVES.sub(lambda match: f' d="{_rounded(match[1], 2)}"', text)
    text = re.sub(r' (x|y|transform)="([^"]*)"', lambda x: f' {x[1]}="{_rounded(x[2], 2)}"', text)
    text = re.sub(r' transform="rotate\(-?0 [^)]*\)"', "", text)
    used = {*re.findall(r'href="#([^"]*)"', text), *re.findall(r"url\(#([^)]*)\)", text)}
    text = re.sub(r' id="([^"]*)"', lambda x: f' id="{name}-{x[1]}"' * (x[1] in used), text)
    text = re.sub(r"(href=\"|url\()#", rf"\1#{name}-", text)
    return re.sub(r">\s+<", "><", text).replace("</svg>", "").strip() + "</svg>"


def _attributes(style: str) -> str:
    written = ""
    for part in unescape(style).split(";"):
        name, _, value = part.strip().partition(":")
        value = value.strip()
        if not name or name == "font-family" or (name, value) == ("stroke-dashoffset", "0"):
            continue
        written += f' {name}="{escape(_COLOURS.get(value, value))}"'
    return written


def _rounded(text: str, decimals: int) -> str:
    return _NUMBER.sub(lambda x: f"{round(float(x[0]), decimals):g}", text)


def _thinned(path: str) -> str:
    """Return lines in steps of a tenth of a point, without corners that cannot be seen."""
    written = []
    for piece in path.split("M")[1:]:
        numbers = re.findall(r"-?[\d.]+", piece)
        points = np.round(np.array(numbers, dtype=float).reshape(-1, 2) / STEP) * STEP
        written.append(_lines(points) + "z" * ("z" in piece))
    return "".join(written)


def _lines(points: np.ndarray) -> str:
    """Return lines through points; a horizontal or vertical run keeps only its ends."""
    moved = np.append(True, (np.diff(points, axis=0) != 0).any(axis=1))
    points = points[moved]
    if len(points) > 2:
        steps = np.sign(np.diff(points, axis=0))
        same = (steps[1:] == steps[:-1]).all(axis=1) & (steps[1:] == 0).any(axis=1)
        points = points[~np.concatenate([[False], same, [False]])]
    path = f"M{points[0, 0]:.6g} {points[0, 1]:.6g}"
    for (x0, y0), (x, y) in zip(points[:-1].tolist(), points[1:].tolist(), strict=True):
        if y == y0:
            path += f"H{x:.6g}"
        elif x == x0:
            path += f"V{y:.6g}"
        else:
            path += f"L{x:.6g} {y:.6g}"
    return path


def places_in_svg(
    figure: Figure, axes: Axes, x: np.ndarray, y: np.ndarray
) -> list[list[float] | None]:
    """Return the places of points in the SVG of a figure, at the edge of its axes where outside.

    None where a point is not defined.
    """
    box = axes.get_window_extent()
    with np.errstate(all="ignore"):
        pixels = axes.transData.transform(np.column_stack([x, y]))
    pixels = np.clip(pixels, (box.x0, box.y0), (box.x1, box.y1))
    scale, height = 72 / figure.dpi, 72 * figure.get_size_inches()[1]
    places: list[list[float] | None] = []
    for right, up in pixels.tolist():
        is_defined = math.isfinite(right) and math.isfinite(up)
        places.append(
            [round(right * scale, 1), round(height - up * scale, 1)] if is_defined else None
        )
    return places
