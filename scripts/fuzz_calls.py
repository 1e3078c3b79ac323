"""Odd arguments for every public callable: scripts/fuzz --calls 3000 --seed 1.

A call is valid but for one or two of its arguments, which are drawn from `HOSTILE` and from the
valid values of their parameter. The rule: a result; an error derived from BioevalError, of no more
than `LONGEST` characters; or a TypeError that names the argument. Anything else, a warning of a
library included, is printed with the call.
"""

from __future__ import annotations

import contextlib
import inspect
import os
import random
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter, UserDict
from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

import bioeval as be

SECONDS = 60
LONGEST = 1_000
CIRCLE: list[Any] = []
CIRCLE.append(CIRCLE)
READ_ONLY = np.arange(12.0)
READ_ONLY.flags.writeable = False


class Liar:
    """An object that says that it is something else, or nothing at all."""

    def __init__(self, says: str):
        self.says = says

    def __repr__(self) -> str:
        return self.says

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0

    def __len__(self) -> int:
        return 12

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return self


HOSTILE: dict[str, Any] = {
    **{repr(x): x for x in (None, True, -1, 0, 0.5, 10**30, 1e308, 1j, "", "no such", b"x", ...)},
    **{repr(x): x for x in ([], {}, (), [[1, 2], [3]], {"a": [1]}, [None], ["a", 1], range(0))},
    "nan": float("nan"), "inf": float("inf"), "-inf": float("-inf"), "an object": object(),
    "a surrogate": "\udcff", "a NUL": "a\0b", "100,000 characters": "x" * 100_000,
    "a formula": "=1+1\u202e\x1b[31m", "a function": lambda *_, **__: None,
    "a circle": CIRCLE,
    "an array": np.arange(3.0), "texts": np.array(["a", "b"]), "a matrix": np.ones((2, 3)),
    "no values": np.array([]), "nans": np.full(12, np.nan), "complex": np.full(12, 1j),
    "objects": np.array([1, "a", None], dtype=object), "0-d": np.array(1.5), "dates":
    np.array(["2020-01-01", "NaT"], "M8[D]"), "3-d": np.zeros((2, 2, 2)),
    "bools": np.ones(12, bool),
    "ragged labels": [[1], [2, 3]] * 6, "complex labels": [1j] * 12, "a set": {1, "a"},
    "big integers": [2**70] * 12, "a path": Path("no/such\0file"),
    "bytes": np.array([b"\xff"] * 12), "0-d arrays": [np.array(i % 3) for i in range(12)],
    "a mapping that is no dict": MappingProxyType({"a": [1]}), "a UserDict": UserDict(camera=[1]),
    "says that it is eer": Liar("'eer'"), "says nothing": Liar(""),
    "says very much": Liar("x" * 100_000),
    "a DataArray": xr.DataArray(np.arange(5000.0).reshape(50, 100)), "read-only": READ_ONLY,
    "terms": ["FAR", "EER", "-1", "nan", "genuine", "impostor"] * 2,
    "a term": "FAR-net", "a DataFrame": pd.DataFrame(np.ones((100, 30))),
}  # fmt: skip


#: Intervals that are quick.
FEW = be.stats.IntervalMethod("people")


def systems() -> dict[str, Any]:
    """Return small valid scores, results and files, which are in the working directory."""
    rng = np.random.default_rng(0)
    meta = {
        "camera": np.tile([1, 2, 3], 4), "session": np.tile(list("abc"), 4),
        "sex": np.repeat(["f", "m"], 6), "quality": rng.random(12),
    }  # fmt: skip
    who = np.repeat(list("abcd"), 3)
    x = rng.normal(size=(12, 3)) + 2 * np.repeat(np.eye(4, 3), 3, axis=0)
    scores = be.Scores.from_embeddings(x, who, metric="l2", probe_meta=meta)
    values = np.asarray(scores.values)
    square = be.Scores(values, who, probe_meta=meta, name="square")
    two = be.Scores(values[:8, 4:], who[:8], who[4:], name="two")
    owners = np.column_stack([who, np.where(np.arange(12) % 2, who, np.roll(who, 3))])
    same = owners[:, 0] == owners[:, 1]
    pairs = be.Scores.from_pairs(values[0], same, subjects=owners, pair_folds=np.arange(12) % 3)
    lists = be.Scores.from_top_k(
        np.argsort(values)[:, 1:6], who, who, distances=np.sort(values)[:, 1:6]
    )
    be.save(square, "s.npz")
    Path("s.csv").write_text("genuine,distance\n1,0.1\n0,0.7\n1,0.3\n0,0.9\n")
    Path("t.csv").write_text("1,1,0,0,10,10,1,1,1\n2,1,0,0,10,10,1,1,1\n")
    return {"square": square, "two": two, "pairs": pairs, "lists": lists, "x": x, "who": who}


def pools(given: dict[str, Any]) -> dict[str, list[Any]]:
    """Return valid values by the name of a parameter, or by those of a callable and a parameter."""
    square, two, pairs, x, who = (given[k] for k in ("square", "two", "pairs", "x", "who"))
    split = be.partition.SubjectKFold(2)
    result = be.verification(square, interval="wilson")
    evaluated = be.evaluate(square)
    lists, both = given["lists"], {"a": square, "b": square}
    roc, tracked = be.plot.roc(result), be.tracking("t.csv", "t.csv")
    any_scores = [square, two, pairs, lists]
    found: dict[str, list[Any]] = {
        **dict.fromkeys(("scores", "a", "b", "test", "train"), any_scores),
        **dict.fromkeys(("result", "results", "rates", "ds", "tree"), [evaluated, result]),
        **dict.fromkeys(("thresholds", "extra_thresholds"), [[0.5, 1.0], 1.0]),
        "genuine": [[0.1, 0.2, 0.3], [0.2, 0.9]],
        **dict.fromkeys(("gallery_labels", "labels", "y"), [who]),
        **dict.fromkeys(("probe_meta", "gallery_meta", "meta"), [{"camera": np.arange(12)}]),
        "errors": [2, [1, 0, 2]],
        **dict.fromkeys(("attempts", "trials"), [10, [10, 5, 7]]),
        "threshold": ["eer", "far=0.1", 1.0], "convention": ["market1501"], "group": ["sex"],
        "n_thresholds": [5],
        "far_targets": [[0.1], 0.5], "splitter": [split], "quality": ["quality"],
        "claims": [be.partition.ClaimSampler()], "systems": [both],
        "exclude": ["session", ("camera",)], "path": ["s.npz", "s.csv"], "estimator": [len],
        "names": [["0002_c1s1_000451_03.jpg"]], "pattern": ["market1501"], "subjects": [5, who],
        "method": ["mean", "z"], "values": [np.asarray(square.values)],
        "indices": [[[0, 1], [1, 0]]],
        "probe": [0, 3], "truth": ["t.csv"], "max_rank": [3], "random_state": [0, 7],
        "rate": [0.01],
        "test_size": [1, 0.5], "train_size": [3, 0.5], "templates": ["single", "multi", 2],
        "costs": [[(0.5, 1, 1)]], "n_repeats": [2], "n_splits": [2], "protocol": ["auto"],
        "pairs": [pairs], "far": [0.001], "fold_of_sample": [[0, 1] * 6],
        "fold_of_pair": [[0, 1] * 6], "probe_gallery": [be.partition.ProbeGallerySplit(1)],
        "directory": ["plots"], "display": [None],
        "interval": [FEW], "mask": [np.ones((12, 12), bool)], "kind": ["distance"],
        "name": ["system"], "far_target": [0.1], "data": [result],
        "partitions": [repeats(), [[0, 1, 4, 5]]],
    }  # fmt: skip
    found |= {
        "aggregate.results": [be.repeat(square, repeats())], "compare.a": [both],
        "tracking.result": ["t.csv", {"a": "t.csv", "b": "t.csv"}],
        "tracking.interval": ["sequence-jackknife"], "tracking.measures": [["mota"]],
        "report.path": ["page.html"], "zoo.scores": [square],
        "gom_from_curves.threshold": [[0.5, 1.0]], "style.name": ["slide"],
        "worst_pairs.scores": [square], "reid.scores": [square],
        "save.path": ["out.npz", "roc.png"], "cross_evaluate.data": [square],
        "by_group.scores": [square],
        "fuse.method": ["mean", "min"], "fuse.systems": [both],
        "from_pairs.scores": [[0.1, 0.5]], "from_pairs.genuine": [[1, 0]],
        "from_embeddings.probe": [x], "Scores.values": [np.asarray(square.values)],
        "from_top_k.indices": [lists.indices], "load.path": ["s.npz", "s.csv"],
        "at_pairs.probe_index": [[0, 1]], "display": [roc],
        "at_pairs.gallery_index": [[1, 5]],
        "matrix.scores": [square, two],
        "score_distributions.data": [square],
    }  # fmt: skip
    found |= plotted(square, pairs, split, tracked)
    found["mrep"] = found["mfr"] = [[0.1, 0.2]]
    return found


def plotted(square: Any, pairs: Any, split: Any, tracked: Any) -> dict[str, list[Any]]:
    """Return what each plot draws."""
    opened, closed = be.open_set(square), be.closed_set(square)
    sizes = be.gallery_size(square, max_rank=2)
    people = be.zoo(square, permutations=100)
    made = {
        "cmc": closed,
        "dir_far": opened,
        "gallery_size": sizes,
        "zoo": people,
        "folds": be.cross_evaluate(square, split),
        "gom": be.gom(square),
        "worst_pairs": be.worst_pairs(square),
        "ranking": be.compare({"a": square, "b": square}),
        "hota": tracked,
        "groups": be.by_group(square, "sex"),
        "precision_recall": be.reid(square),
        "repeated": be.repeat(square, repeats(), curves=True)["closed_set"],
        "threshold_study": be.study_threshold(
            square,
            folds=2,
            repeats=2,
            interval="people",
        ),
    }
    others = {"worst_pairs.results": [made.pop("worst_pairs")]}
    return {f"{name}.data": [found] for name, found in made.items()} | others


def repeats() -> Any:
    """Return a splitter of several galleries."""
    return be.partition.ProbeGallerySplit(1, n_repeats=2, random_state=0)


def callables(given: dict[str, Any]) -> dict[str, Callable[..., Any]]:
    """Return the public functions, classes that a user makes, and methods of scores, by name."""
    found: dict[str, Callable[..., Any]] = {}
    modules = {"": be, "plot.": be.plot, "stats.": be.stats, "partition.": be.partition}
    for prefix, module in modules.items():
        for name in module.__all__:
            item = getattr(module, name)
            if inspect.isfunction(item):
                found[prefix + name] = item
            elif inspect.isclass(item) and not issubclass(item, Exception | Warning):
                stored = hasattr(item, "__dataclass_fields__") and module is not be.partition
                if not (stored or issubclass(item, tuple) or module is be.plot):
                    found[prefix + name] = item
                for way, kind in inspect.getmembers_static(item):
                    made = isinstance(kind, staticmethod | classmethod)
                    if made and not way.startswith("_") and way in vars(item):
                        found[f"{prefix}{name}.{way}"] = getattr(item, way)
    for name, method in inspect.getmembers(given["square"], inspect.ismethod):
        if not name.startswith("_") and name not in INNER:
            found.setdefault(f"Scores.{name}", method)
    return found


#: Methods of the inner interface, which take what the package has checked.
INNER = {"derived", "held", "pair_distances", "with_pairs", "with_remarks"}


#: Arguments without which a call of small data is refused.
ALWAYS: dict[str, dict[str, Any]] = {
    "study_threshold": {"folds": 2, "repeats": 2},
    "partition.ProbeGallerySplit": {"n_gallery": 1},
    "zoo": {"permutations": 100},
    "gallery_size": {"max_rank": 2},
    "load": {"kind": "distance"},
    "Scores": {"labels": list("aaabbbcccddd")},
}  # fmt: skip


class Late(BaseException):
    """A call that takes too long."""


def _late(*_: Any) -> None:
    raise Late


def draw(
    rng: random.Random, name: str, call: Callable[..., Any], valid: dict[str, list[Any]]
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the arguments of a call, and what is odd about them."""
    short, parameters = name.rpartition(".")[2], inspect.signature(call).parameters.values()
    named = [p for p in parameters if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
    pool = {p.name: valid.get(f"{short}.{p.name}") or valid.get(p.name, []) for p in named}
    given = {p.name: rng.choice(pool[p.name] or [None]) for p in named if p.default is p.empty}
    given |= {p.name: 100 for p in named if p.name == "replicates"} | ALWAYS.get(name, {})
    odd = {}
    for p in rng.sample(named, min(len(named), rng.choice((1, 1, 2)))):
        if pool[p.name] and rng.random() < 0.25:
            given[p.name] = rng.choice(pool[p.name])
        else:
            odd[p.name], given[p.name] = rng.choice([*HOSTILE.items()])
    return given, odd


def broken(name: str, call: Callable[..., Any], given: dict[str, Any]) -> str:
    """Return what breaks the rule; an empty string if nothing does."""
    signal.signal(signal.SIGALRM, _late)
    signal.alarm(SECONDS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", be.BioevalWarning)
            call(**given)
    except be.BioevalError as error:
        if len(str(error)) > LONGEST:
            return f"a message of {len(str(error)):,} characters: " + where(error)
        return "" if str(error) else "an empty message"
    except TypeError as error:
        if any(x in str(error) for x in given):
            return ""
        return "TypeError: " + where(error)
    except Late as error:
        return f"more than {SECONDS} s: " + where(error)
    except Exception as error:
        return f"{type(error).__name__}: " + where(error)
    finally:
        signal.alarm(0)
    return ""


def where(error: BaseException) -> str:
    """Return the message, and the last place in the package."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f for f in frames if "/bioeval/" in f.filename] or frames
    message = " ".join(str(error).split())[:100]
    return f"{message} [{Path(ours[-1].filename).name}:{ours[-1].lineno} {ours[-1].name}]"


def run(calls: int, seed: int) -> int:
    """Make calls; print what is broken, once a place, and return how many are."""
    start, count, seen = time.monotonic(), 0, Counter()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        os.environ["MPLBACKEND"] = "agg"
        given = systems()
        valid, public = pools(given), callables(given)
        rng = random.Random(seed)
        names = sorted(public)
        for number in range(calls):
            name = names[number % len(names)]
            call = public[name]
            arguments, odd = draw(rng, name, call, valid)
            with contextlib.redirect_stdout(None), contextlib.redirect_stderr(None):
                complaint = broken(name, call, arguments)
            if number % 50 == 0 and "matplotlib.pyplot" in sys.modules:
                sys.modules["matplotlib.pyplot"].close("all")
            if complaint:
                count += 1
                if not seen[complaint.rpartition("[")[2]]:
                    print(f"call {number}: {name}({odd}): {complaint}", file=sys.stderr)
                seen[complaint.rpartition("[")[2]] += 1
    seconds = time.monotonic() - start
    print(f"{calls:,} calls of {len(names)} callables, {count} broken, {seconds:.0f} s")
    return count
