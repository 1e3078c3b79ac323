"""Draw the pictures of the README and of the pages beside this folder."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import Normalize
from matplotlib.offsetbox import AnnotationBbox, OffsetImage
from matplotlib.text import Text
from PIL import Image

import bioeval as be
from bioeval.views.plots import style as look
from bioeval.views.plots.direct_labels import KeyBelow

HERE = Path(__file__).parent


def errors() -> None:
    """Write errors.png of the README: FAR and FRR of its example over the threshold."""
    results = be.verification(be.simulate(100, 5, random_state=1))
    be.plot.save(be.plot.error_rates(results), HERE / "errors.png", dpi=110)


def claims() -> None:
    """Write claims.png of definitions.md: rates by the share of genuine claims."""
    scores = be.simulate(40, 5, random_state=1)
    experiment = be.partition.Experiment(gallery_templates=2, repeats=200, random_state=0)
    shares = (0.1, 0.5, 0.9)
    names = {"frr": "FRR", "far": "FAR", "errors": "errors over all attempts"}
    values: dict[str, list[np.ndarray]] = {name: [] for name in names}
    for share in shares:
        ds = be.cross_evaluate(
            scores, experiment, templates="multi", threshold=("fixed", 3.3),
            claims=be.partition.ClaimSampler(1, share),
        )  # fmt: skip
        found = {"frr": ds.frr, "far": ds.far, "errors": 1 - ds.accuracy}
        for name, each in found.items():
            values[name].append(100 * each.values.ravel())
    ax = look.axes_for(None, (6.4, 4.2))
    for i, (name, words) in enumerate(names.items()):
        x = np.arange(len(shares)) + 0.08 * (i - 1)
        middle = [each.mean() for each in values[name]]
        low, high = np.transpose([np.quantile(each, [0.025, 0.975]) for each in values[name]])
        marker = "osD"[i]
        ax.errorbar(
            x, middle, [middle - low, high - middle], color=look.colour(i), marker=marker,
            linestyle=look.dash(i), linewidth=1.6, capsize=4, label=words,
        )  # fmt: skip
    ax.set_xticks(range(len(shares)), [f"{100 * share:.0f} %" for share in shares])
    ax.set_ylim(bottom=0)
    look.labelled(ax, "Genuine claims among all", "Rate at one threshold, %")
    lines = ["200 draws of gallery and claims; points: mean; bars: middle 95 %"]
    look.titled(ax, "Rates divide by the attempts of their own class", lines)
    KeyBelow(ax)
    be.plot.save(ax, HERE / "claims.png", dpi=110)


def zoo() -> None:
    """Write zoo.png of who-fails.md: 40 people, and faces of those with the most errors."""
    scores, data = be.datasets.faces("deep", people="all"), be.datasets.faces()
    ds = be.zoo(scores, threshold=("far", 0.001))
    display = be.plot.zoo(ds)
    display.ax_.set_ylim(0.655, 0.9)
    goats = ds["fr"].to_series().nlargest(3).index
    wolves = ds["fa_as_probe"].to_series().nlargest(2).index
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
            pad=0.05, arrowprops={"arrowstyle": "-", "color": look.QUIET, "shrinkB": 4},
        )  # fmt: skip
        display.ax_.add_artist(box)
    be.plot.save(display, HERE / "zoo.png", dpi=110)


def one_or_all() -> None:
    """Write one-or-all.png of lecture.md: distances of single- and multi-template attempts."""
    scores = be.datasets.faces("eigenfaces")
    d, who = np.array(scores.values), scores.probe_labels
    np.fill_diagonal(d, np.inf)  # no template is compared with itself
    each = np.flatnonzero(np.r_[True, who[1:] != who[:-1]])  # where the templates of each begin
    nearest, own = np.minimum.reduceat(d, each, axis=1), who[:, None] == who[each]
    off = np.isfinite(d)
    shown = {
        "single-template": (d[off], (who[:, None] == who)[off]),
        "multi-template": (nearest.ravel(), own.ravel()),
    }
    _, axes = plt.subplots(2, 1, figsize=(6.8, 6.6), sharex=True)
    for ax, (name, (values, genuine)) in zip(axes, shown.items(), strict=True):
        pairs = be.Scores.from_pairs(values, genuine)
        be.plot.score_distributions(pairs, ax, thresholds={"threshold 5": 5.0})
        for text in ax.findobj(Text):
            if text.get_text() == "Genuine and impostor scores":
                text.set_text(f"Verification, {name}")
    axes[0].set_xlabel("")
    axes[0].figure.subplots_adjust(hspace=0.35)
    be.plot.save(axes[0].figure, HERE / "one-or-all.png", dpi=100)


def eigenfaces() -> None:
    """Write eigenfaces.png of faces.md: images of a person, the mean face, and components."""
    from sklearn.decomposition import PCA

    images = be.datasets.faces().images
    pca = PCA(64, svd_solver="full").fit(images[:200].reshape(200, -1))
    components = pca.components_[:9].reshape(-1, 64, 64)
    largest = np.abs(components).max(axis=(1, 2), keepdims=True)
    rows = [images[300:310], [pca.mean_.reshape(64, 64), *(127.5 + 127.5 * components / largest)]]
    sheet = np.vstack([np.hstack(row) for row in rows]).round().astype(np.uint8)
    Image.fromarray(sheet).save(HERE / "eigenfaces.png", optimize=True)


def row() -> None:
    """Write row.png of explain.md: one row of a small matrix."""
    d = [
        [0, 2, 6, 9, 5, 8], [2, 0, 4, 7, 3, 6], [6, 4, 0, 5, 8, 4],
        [9, 7, 5, 0, 6, 9], [5, 3, 8, 6, 0, 1], [8, 6, 4, 9, 1, 0],
    ]  # fmt: skip
    names = {"name": ["a1", "a2", "b1", "b2", "c1", "c2"]}
    who = ["ann", "ann", "bob", "bob", "cat", "cat"]
    scores = be.Scores(np.array(d, dtype=float), who, probe_meta=names, name="tiny")
    be.plot.save(be.explain(scores, "b1").plot(), HERE / "row.png")


if __name__ == "__main__":
    errors()
    zoo()
    claims()
    row()
    one_or_all()
    eigenfaces()
