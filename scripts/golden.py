"""Record what bioeval gives, bit for bit, and compare it later.

    python scripts/golden.py make FOLDER [--only PATTERN] [--jobs N]
    python scripts/golden.py compare FOLDER [--only PATTERN] [--no-texts]

The cases of ``../shared/tools/golden.py``, which this needs, are small; those of this file are
large enough for the kernels that sweep a matrix once (more than 2^18 cells), and take the ways by
which counting is divided: blocks, threads, workers, checkpoints. Saved files of every earlier
layout are read.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
TOOL = ROOT.parent / "shared" / "tools" / "golden.py"


def _tool() -> Any:
    if "golden_tool" not in sys.modules:
        spec = importlib.util.spec_from_file_location("golden_tool", TOOL)
        if spec is None or spec.loader is None or not TOOL.exists():
            raise SystemExit(f"{TOOL} is not there: golden results cannot be compared")
        sys.modules["golden_tool"] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules["golden_tool"]


golden = _tool()
of_tool = golden.register


@functools.cache
def square(form: str) -> dict[str, Any]:
    """600 x 600 distances of 100 subjects, in one of several forms."""
    x, who = golden.points([4, 6, 8, 5, 7] * 20, 8, 0.8, 60)
    d = golden.apart(x, x)
    given: dict[str, Any] = {"probe_labels": who, "kind": "distance"}
    if form == "ties":
        d = np.floor(3 * d)
    if form == "nan":
        d[np.random.default_rng(61).random(d.shape) < 0.02] = np.nan
        given["nan"] = "reject"
    if form == "similarity":
        d, given["kind"] = np.round(20 - d, 6), "similarity"
    if form == "sessions":
        given |= {"probe_meta": {"session": np.arange(who.size) % 3}, "exclude": ("session",)}
    if form == "mask":
        mask = np.where(who[:, None] == who, 2, 1).astype(np.uint8)
        mask[np.random.default_rng(62).random(d.shape) < 0.1] = 0
        given["mask"] = mask
    dtype = np.float64 if form == "float64" else np.float32
    return {"values": d.astype(dtype), **given}


@functools.cache
def watch(form: str) -> dict[str, Any]:
    """700 probes x 500 gallery templates, a fifth of the probes of nobody enrolled."""
    x, who = golden.points([12] * 100, 8, 0.8, 63)
    turn = np.tile(np.arange(12), 100)
    gallery, probe = (turn < 5), (turn >= 5)
    label = np.where(probe & (who >= 80), who + 1000, who)
    d = golden.apart(x[probe], x[gallery])
    if form == "ties":
        d = np.floor(3 * d)
    dtype = np.float64 if form == "float64" else np.float32
    given = {"probe_labels": label[probe], "gallery_labels": label[gallery], "kind": "distance"}
    if form == "similarity":
        d, given["kind"] = np.round(20 - d, 6), "similarity"
    return {"values": d.astype(dtype), **given}


def scores(layout: str, form: str) -> Any:
    """Return the scores of a layout in a form."""
    given = dict({"square": square, "watch": watch}[layout](form))
    return golden.be().Scores(given.pop("values"), **given)


def embeddings() -> Any:
    """Return embeddings whose distances are never in memory at once."""
    x, who = golden.points([4, 6, 8, 5, 7] * 20, 8, 0.8, 60)
    return golden.be().Scores.from_embeddings(x, who, metric="l2", memory_limit=200_000)


@contextlib.contextmanager
def threads(number: int) -> Any:
    """Count on so many threads."""
    import numba

    before = numba.get_num_threads()
    numba.set_num_threads(min(number, numba.config.NUMBA_NUM_THREADS))
    try:
        yield
    finally:
        numba.set_num_threads(before)


OPTIONS: dict[str, Any] = {"max_rank": 8}
OWN = np.linspace(1.0, 7.0, 31)


def evaluated(found: Any, number: int = 1, **options: Any) -> Any:
    """Return everything that an evaluation gives."""
    with threads(number):
        return golden.be().evaluate(found, **{"thresholds": 25, **OPTIONS, **options})


def resumed(layout: str) -> Any:
    """Return a tally that was stopped in its middle and goes on from its checkpoint."""

    class Stop(Exception):
        pass

    seen: list[int] = []

    def stop(done: Any, *_: Any) -> None:
        seen.append(1)
        if len(seen) == 2:
            raise Stop

    folder, found = Path(f"checkpoint-{layout}"), scores(layout, "float32")._within("25 MiB")
    options = {"thresholds": OWN, "checkpoint": folder, **OPTIONS}
    with contextlib.suppress(Stop):
        golden.be().tally(found, progress=stop, **options)
    return golden.be().tally(found, **options).tree()


def on_workers(layout: str) -> Any:
    """Return an evaluation whose blocks two workers count."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        return evaluated(scores(layout, "float32"), client=client)


def read_again(path: Path) -> Any:
    """Return what a file of an earlier layout holds."""
    if path.name.startswith("tally"):
        found = golden.be().Tally.load(path)
        return (
            {node: found.dataset(node) for node in found.parts} if not found.part else repr(found)
        )
    return golden.be().load(path)


def cases() -> None:
    """Add the cases of this file to those of the tool."""
    case: Callable[..., None] = golden.case
    forms = {
        "square": ("float32", "float64", "ties", "nan", "similarity", "sessions", "mask"),
        "watch": ("float32", "float64", "ties", "similarity"),
    }
    for layout, names in forms.items():
        for form in names:
            for number in (1, 2):
                name = f"large/{layout} {form} threads {number}"
                case(name, lambda x=layout, y=form, n=number: evaluated(scores(x, y), n))
            for size in ("25 MiB", "30 MiB"):
                case(
                    f"large/{layout} {form} within {size}",
                    lambda x=layout, y=form, z=size: evaluated(scores(x, y)._within(z)),
                )
        case(
            f"large/{layout} own thresholds",
            lambda x=layout: evaluated(scores(x, "float32"), thresholds=OWN),
        )
        case(
            f"large/{layout} intervals",
            lambda x=layout: evaluated(
                scores(x, "float32"), interval="subject-bootstrap", replicates=100, random_state=5
            ),
        )
        case(f"large/{layout} checkpoint", functools.partial(resumed, layout))
        case(f"large/{layout} two workers", functools.partial(on_workers, layout))
        for form in ("float32", "ties"):
            case(
                f"large/{layout} {form} claims",
                lambda x=layout, y=form: golden.be().verification(
                    scores(x, y),
                    templates="multi",
                    claims=golden.be().partition.ClaimSampler(2, 0.4, random_state=3),
                    thresholds=25,
                ),
            )
    for number in (1, 2):
        case(f"large/streamed threads {number}", lambda n=number: evaluated(embeddings(), n))
    saved = [p for folder in (ROOT / "tests").rglob("saved") for p in sorted(folder.iterdir())]
    for path in saved:
        if path.suffix != ".part":
            case(
                f"saved/{path.parent.parent.name}/{path.name}", functools.partial(read_again, path)
            )


def register() -> None:
    """Register the cases of the tool and of this file."""
    if not golden.CASES:
        of_tool()
        cases()


def work_make(folder: str, name: str) -> Any:
    """Record one case, in a process of its own."""
    return of_make(folder, name)


def work_compare(folder: str, name: str, texts: bool) -> Any:
    """Compare one case, in a process of its own."""
    return of_compare(folder, name, texts)


of_make, of_compare = golden.work_make, golden.work_compare
golden.register = register
golden.work_make, golden.work_compare = work_make, work_compare

if __name__ == "__main__":
    sys.exit(golden.main())
