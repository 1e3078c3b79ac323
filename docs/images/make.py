"""Draw the pictures of the README and of the pages beside this folder.

``python docs/images/make.py [FOLDER [NAME...]]`` draws all, or those of these names; without a
Chromium, ``report.png`` stays as it is. The name ``plots`` is that of the gallery of plots.md.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import Normalize
from matplotlib.offsetbox import AnnotationBbox, OffsetImage
from PIL import Image

import bioeval as be
from bioeval.cli.program import main as bioeval
from bioeval.plot import plot_axes
from bioeval.plot.plot_axes import GENUINE, GRID, IMPOSTOR, Style

#: The systems of the README, by the names of their files there.
FACES = {"faces-1991": "eigenfaces", "faces-2017": "deep"}
TITLES = {"faces-1991": "Eigenfaces, 1991", "faces-2017": "Deep network, 2017"}


def faces() -> dict[str, be.Scores]:
    """Return the scores of both face recognition systems."""
    return {name: be.datasets.faces(system) for name, system in FACES.items()}


def who(path: Path) -> None:
    """Two pairs of one person and two of two people, without names."""
    images = be.datasets.faces()
    row = {name: i for i, name in enumerate(images.image_ids)}
    pairs = [be.worst_pairs(scores, 1) for scores in faces().values()]
    figure, axes = plt.subplots(1, 4, figsize=(7.6, 1.25))
    shown = [pair.isel(pair=i) for pair, i in zip(pairs * 2, (0, 1, 1, 0), strict=True)]
    for ax, letter, pair in zip(axes, "abcd", shown, strict=True):
        sides = (pair.probe_meta_image, pair.gallery_meta_image)
        picture = np.hstack([images.images[row[side.item()]] for side in sides])
        ax.imshow(picture, cmap="gray", vmin=0, vmax=255)
        ax.set_xlabel(letter, fontsize=Style.look.label, color=Style.text)
        ax.set(xticks=[], yticks=[])
        ax.spines[:].set_visible(False)
    figure.subplots_adjust(left=0, right=1, top=1, bottom=0.2, wspace=0.12)
    be.plot.save(figure, path, dpi=110)


def faces_1991_2017(path: Path) -> None:
    """The score distributions of both systems, with the threshold of the EER."""
    _, axes = plt.subplots(1, 2, figsize=(9.6, 3.9), layout="constrained")
    for ax, (name, scores) in zip(axes, faces().items(), strict=True):
        found = be.verification(scores)
        mark = {f"EER {100 * found.eer.item():.2f} %": found.eer_threshold.item()}
        display = be.plot.score_distributions(scores, ax, thresholds=mark, title=TITLES[name])
    be.plot.save(display, path, dpi=110)


def worst_pairs(path: Path) -> None:
    """The pairs that fool both systems, as faces."""
    found = {TITLES[name]: be.worst_pairs(scores, 4) for name, scores in faces().items()}
    be.plot.save(be.plot.worst_pairs(found, pairs=4), path, dpi=110)


def det(path: Path) -> None:
    """The DET curves of both systems."""
    found = {TITLES[name]: be.verification(scores) for name, scores in faces().items()}
    be.plot.save(be.plot.det(found), path, dpi=100)


def errors(path: Path) -> None:
    """FAR and FRR of eigenfaces over the threshold."""
    results = be.verification(be.datasets.faces("eigenfaces"))
    be.plot.save(be.plot.error_rates(results), path, dpi=100)


def matrix(path: Path) -> None:
    """The distances of eigenfaces: a block on the diagonal for each person."""
    be.plot.save(be.plot.matrix(be.datasets.faces("eigenfaces")), path, dpi=100)


def reid(path: Path) -> None:
    """The cumulative match curves of two simulated systems, by the convention of Market-1501."""
    rng = np.random.default_rng(1)
    people, cameras = np.repeat(np.arange(100), 6), np.tile(np.arange(6), 100)
    query = cameras == 1
    centres, noise = rng.normal(size=(100, 16))[people], rng.normal(size=(600, 16))
    found = {}
    for name, within in (("System A", 0.9), ("System B", 1.2)):
        features = centres + within * noise
        scores = be.Scores.from_embeddings(
            features[query], people[query], features[~query], people[~query], metric="l2",
            probe_meta={"camera": cameras[query]}, gallery_meta={"camera": cameras[~query]},
        )  # fmt: skip
        found[name] = be.reid(scores, "market1501")
    be.plot.save(be.plot.cmc(found), path, dpi=100)


def report(path: Path) -> None:
    """The page of both systems, as Chromium shows it."""
    names = ("chromium", "chromium-browser", "google-chrome")
    browser = os.environ.get("BIOEVAL_CHROMIUM") or next(filter(None, map(shutil.which, names)), "")
    if not browser:
        print(f"{path.name}: no Chromium; the picture stays as it is", file=sys.stderr)
        return
    with tempfile.TemporaryDirectory() as folder:
        files = [str(Path(folder, f"{name}.npz")) for name in FACES]
        for file, scores in zip(files, faces().values(), strict=True):
            be.save(scores, file)
        page = Path(folder, "report.html")
        if bioeval(["report", *files, "--worst", "5", "--out", str(page)]):
            sys.exit("bioeval report failed")
        subprocess.run(
            [
                browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                f"--user-data-dir={folder}/profile", "--window-size=1280,720",
                "--virtual-time-budget=10000", f"--screenshot={path.resolve()}", page.as_uri(),
            ],
            check=True, timeout=120, stderr=subprocess.DEVNULL,
        )  # fmt: skip


def claims(path: Path) -> None:
    """Rates by the proportion of genuine claims, of definitions.md."""
    scores = be.simulate(40, 5, random_state=1)
    experiment = be.partition.Experiment(gallery_templates=2, repeats=200, random_state=0)
    shares = (0.1, 0.5, 0.9)
    names = {"frr": "FRR", "far": "FAR", "errors": "errors over all attempts"}
    values: dict[str, list[np.ndarray]] = {name: [] for name in names}
    for share in shares:
        ds = be.cross_evaluate(
            scores, experiment, threshold=4.0, claims=be.partition.ClaimSampler(1, share)
        )
        ds = ds.sel(part="test")
        found = {"frr": ds.frr, "far": ds.far, "errors": 1 - ds.accuracy}
        for name, each in found.items():
            values[name].append(100 * each.values.ravel())
    ax = plot_axes.axes_for(None, (6.4, 4.2))
    for i, (name, words) in enumerate(names.items()):
        x = np.arange(len(shares)) + 0.08 * (i - 1)
        middle = [each.mean() for each in values[name]]
        low, high = np.transpose([np.quantile(each, [0.025, 0.975]) for each in values[name]])
        marker = "osD"[i]
        ax.errorbar(
            x, middle, [middle - low, high - middle], color=Style.colour(i), marker=marker,
            linestyle=Style.dash(i), linewidth=1.6, capsize=4, label=words,
        )  # fmt: skip
    ax.set_xticks(range(len(shares)), [f"{100 * share:.0f} %" for share in shares])
    ax.set_ylim(bottom=0)
    plot_axes.labelled(ax, "Genuine claims among all", "Rate at one threshold, %")
    line = "200 draws of gallery and claims; points: mean; bars: middle 95 %"
    plot_axes.titled(ax, "Rates divide by the attempts of their own class", line)
    be.plot.save(ax, path, dpi=110)


def ranking(path: Path) -> None:
    """Eight systems of faces, from the best to the worst, with the ranks that each may have."""
    systems = {"pixels": be.datasets.faces("pixels"), "deep": be.datasets.faces("deep")}
    for number in (16, 32, 64):
        for name in ("eigenfaces", "fisherfaces"):
            systems[f"{name} {number}"] = be.datasets.faces(name, components=number)
    be.plot.save(be.plot.ranking(be.compare(systems, measures=["eer"])), path, dpi=100)


def zoo(path: Path) -> None:
    """Write zoo.png of who-fails.md: 40 people, and faces of those with the most errors."""
    scores, data = be.datasets.faces("deep", people="all"), be.datasets.faces()
    ds = be.zoo(scores, threshold="far=0.001")
    display = be.plot.zoo(ds)
    display.ax_.set_ylim(0.655, 0.9)
    goats = ds["errors"].sel(error="fr").to_series().nlargest(3).index
    wolves = ds["errors"].sel(error="fa_as_probe").to_series().nlargest(2).index
    dove = ds["impostor_mean"].to_series().nlargest(1).index
    places = [(0.41, 0.845), (0.38, 0.806), (0.415, 0.685), (0.34, 0.68), (0.265, 0.68)]
    places.append((0.305, 0.885))
    for person, place in zip([*goats, *wolves, *dove], places, strict=True):
        rows = np.flatnonzero(data.people == person)
        own = scores.values[np.ix_(rows, rows)]
        pair = rows[list(np.unravel_index(np.argmax(own), own.shape))]
        pixels = np.hstack(data.images[pair])
        picture = OffsetImage(pixels, zoom=0.42, cmap="gray", norm=Normalize(0, 255))
        one = ds.sel(subject=person)
        box = AnnotationBbox(
            picture, (one["genuine_mean"].item(), one["impostor_mean"].item()), xybox=place,
            pad=0.05, arrowprops={"arrowstyle": "-", "color": Style.quiet, "shrinkB": 4},
        )  # fmt: skip
        display.ax_.add_artist(box)
    be.plot.save(display, path, dpi=110)


def eigenfaces(path: Path) -> None:
    """Images of a person, the mean face, and components, of course/faces.md."""
    from sklearn.decomposition import PCA

    images = be.datasets.faces().images
    pca = PCA(64, svd_solver="full").fit(images[:200].reshape(200, -1))
    components = pca.components_[:9].reshape(-1, 64, 64)
    largest = np.abs(components).max(axis=(1, 2), keepdims=True)
    rows = [images[300:310], [pca.mean_.reshape(64, 64), *(127.5 + 127.5 * components / largest)]]
    sheet = np.vstack([np.hstack(row) for row in rows]).round().astype(np.uint8)
    Image.fromarray(sheet).save(path, optimize=True)


def how_it_counts(path: Path) -> None:
    """Twelve scores in cells, and the rates that the cells leave open, of how-it-counts.md."""
    genuine, edges = np.array([0.1, 0.4]), np.arange(9) / 8
    impostor = np.array([0.2, 0.2, 0.5, 0.5, 0.6, 0.6, 0.7, 0.8, 0.8, 0.9])
    counts = np.bincount(np.ceil(8 * impostor).astype(int) - 1, minlength=8)
    blue, orange = (
        Style.colour(GENUINE),
        Style.colour(IMPOSTOR),
    )
    _, (above, below) = plt.subplots(2, 1, figsize=(7.4, 6.4), sharex=True, layout="constrained")
    for ax in (above, below):
        ax.spines[["top", "right"]].set_visible(False)
        for window in ((1 / 8, 2 / 8), (3 / 8, 4 / 8)):
            ax.axvspan(*window, color=GRID, zorder=0, linewidth=0)
        ax.set_xticks(edges, [f"{edge:g}" for edge in edges])
        ax.tick_params(labelsize=Style.look.small, colors=Style.text, labelbottom=True)
    above.bar(edges[:-1], counts, 1 / 8, align="edge", facecolor="none", edgecolor=orange)
    height = np.concatenate([np.arange(sum(impostor == x)) for x in np.unique(impostor)])
    above.scatter(impostor, height + 0.5, color=orange, marker="s", s=34, label="impostor score")
    above.vlines(genuine, 0, 2.25, color=blue, linewidth=2, label="genuine score")
    for edge, count in zip(edges, counts, strict=False):
        above.text(
            edge + 1 / 16,
            2.38,
            str(count),
            ha="center",
            color=Style.colour(IMPOSTOR, 1),
        )
    above.set(ylim=(0, 2.7), yticks=[0, 1, 2])
    plot_axes.labelled(above, "", "Impostor scores in the cell")
    line = "cells of 1/8, closed above; grey: the windows around the EER, whose scores are kept"
    plot_axes.titled(above, "All impostor scores are counted, few are kept", line)

    accepted = np.concatenate([[0], np.cumsum(counts)]) / len(impostor)
    for low, high, first, last in zip(edges, edges[1:], accepted, accepted[1:], strict=False):
        below.fill_between([low, high], first, last, color=orange, alpha=0.3, linewidth=1)
    below.plot(edges, accepted, "s", color=orange, label="FAR, known at the edges of cells")
    steps = np.concatenate([[0], genuine, [1]])
    below.step(steps, [1, 0.5, 0, 0], where="post", color=blue, linewidth=1.8, label="FRR")
    below.plot([0.4], [0.2], "o", color=Style.text, markersize=7, fillstyle="none")
    below.annotate(
        "EER 0.2, exact from the kept scores", (0.4, 0.2), (0.14, 0.75), color=Style.text,
        fontsize=Style.look.label, arrowprops={"arrowstyle": "-", "color": Style.quiet},
    )  # fmt: skip
    below.set(xlim=(0, 1), ylim=(-0.03, 1.03))
    plot_axes.labelled(below, "Threshold (distance)", "Rate")
    be.plot.save(above.figure, path, dpi=100)


def benchmarks(path: Path) -> None:
    """Write benchmarks.png of large-data.md: recorded seconds by comparisons of each program."""
    found = json.loads(Path(__file__).with_name("benchmarks.json").read_text(encoding="utf-8"))[
        "beside"
    ]
    ax = plot_axes.axes_for(None, (6.4, 4.2))
    names = dict.fromkeys(name for times in found.values() for name in times)
    for i, name in enumerate(names):
        points = [(int(n) * (int(n) - 1), t[name]) for n, t in found.items() if name in t]
        ax.loglog(
            *zip(*points, strict=True), color=Style.colour(i), linestyle=Style.dash(i),
            marker="osD^"[i], linewidth=1.6, label=name,
        )  # fmt: skip
    plot_axes.labelled(ax, "Comparisons", "Processor time, seconds")
    line = "EER of the same scores, one thread; bioeval: also the curve, FRR at FARs and AUC"
    plot_axes.titled(ax, "Seconds beside other programs", line)
    be.plot.save(ax, path, dpi=110)


#: Each picture is a file of this name.
PICTURES = (
    who, faces_1991_2017, worst_pairs, det, errors, matrix, reid, report, claims, ranking, zoo,
    eigenfaces, how_it_counts, benchmarks,
)  # fmt: skip


#: A block of code of the gallery, and the picture below it.
CELL = re.compile(
    r"^```python\n(.*?)^```\n(?:\n!\[[^]]*\]\(images/(plots/[\w-]+\.png)\)\n)?", re.M | re.S
)


def reduce_colours(path: Path) -> None:
    """Write a picture again with the colours of a palette, fewer where it is large."""
    with Image.open(path) as picture:
        whole = picture.convert("RGB")
    for colours in (64, 24, 12):
        whole.quantize(colours, dither=Image.Dither.NONE).save(path, optimize=True)
        if path.stat().st_size < 40_000:
            return


def gallery(folder: Path) -> list[str]:
    """Run the code of plots.md, and draw the picture below each block; return their names."""
    page = Path(__file__).parents[1].joinpath("plots.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    drawn = []
    with be.plot.style("slide"):
        for code, name in CELL.findall(page):
            exec(code.replace("be.plot.", "display = be.plot.") if name else code, names)
            if name:
                path = folder / name
                path.parent.mkdir(exist_ok=True)
                be.plot.save(names["display"], path, dpi=100)
                reduce_colours(path)
                plt.close("all")
                drawn.append(name)
    return drawn


def main(folder: str | Path = Path(__file__).parent, *names: str) -> None:
    """Draw all pictures, or those of these names, into a folder."""
    for draw in PICTURES:
        name = draw.__name__.replace("_", "-")
        if not names or name in names:
            draw(Path(folder, f"{name}.png"))
    if not names or "plots" in names:
        gallery(Path(folder))


if __name__ == "__main__":
    main(*sys.argv[1:])
