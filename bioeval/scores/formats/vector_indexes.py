"""Vectors in flat indexes of FAISS, and what to do with saved tensors and shards.

A flat index has its vectors as they were added; others change or reorder them, and only FAISS gives
them back. Files of ``torch.save`` are pickles, and nothing is ever unpickled. A shard of WebDataset
is a tar archive with files of each sample, which WebDataset reads.
"""

from __future__ import annotations

import struct
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import numpy as np

from bioeval.base.errors import DataError
from bioeval.base.kinds import MetricName
from bioeval.scores.formats.archive import holds_pickle
from bioeval.scores.formats.files import TAR
from bioeval.scores.formats.format import FileFacts, Format, ReadOptions, say
from bioeval.scores.formats.npy import read_bare
from bioeval.scores.matrix import Scores

# The first four bytes of a file: flat indexes by squared Euclidean distance, by inner product and
# by another metric; and those of other indexes, most of which begin so.
_FLAT = (b"IxF2", b"IxFI", b"IxFl")
_OTHERS = (b"Ix", b"IH", b"Iw", b"IN", b"Il", b"IB")
_SUFFIXES = (".faiss", ".index", ".ivf", ".faissindex")

# After them: features, vectors, two numbers of no meaning, whether it is trained, and the metric.
_HEADER = struct.Struct("<4siqqq?i")
_INNER_PRODUCT = 0
_METRICS: dict[int, MetricName] = {1: "l2", 2: "l1", 3: "linf"}

# Lengths of vectors that differ from 1 by less are taken as normalised.
_UNIT = 1e-3

_OPTIONS = (
    *("labels", "probe_labels", "gallery_labels", "gallery_embeddings", "names_of", "meta"),
    *("metric", "nan", "average"),
)


def _is_faiss(file: FileFacts) -> bool:
    if file.content != "an unknown binary file":
        return False
    return file.begins_with(_FLAT) or file.suffix in _SUFFIXES and file.begins_with(_OTHERS)


def _read_faiss(path: Path, options: ReadOptions) -> Scores:
    """Return the scores of the vectors of a flat index, with labels from another file."""
    with open(path, "rb") as file:
        head = file.read(_HEADER.size)
        word = head[:4]
        if word not in _FLAT:
            _refuse_index(path, word)
        _, features, vectors, _, _, _, metric = _HEADER.unpack(head)
        if metric > 1:
            file.read(4)  # the argument of the metric
        numbers = int.from_bytes(file.read(8), "little")
        start = file.tell()
    expected = vectors * features
    if (
        features < 1
        or vectors < 1
        or numbers != expected
        or not (path.stat().st_size == start + 4 * expected)
    ):
        raise ValueError(f"{vectors} vectors of {features} numbers are not what the file holds")
    values = np.memmap(path, "<f4", "r", start, (vectors, features))
    if options.metric is None:
        options = replace(options, metric=_metric_of(path, metric, values))
    return read_bare(path, values, options)


def _metric_of(path: Path, metric: int, values: np.ndarray) -> MetricName:
    """Return the metric of an index: of inner products the cosine, if all vectors are unit ones."""
    if metric in _METRICS:
        return _METRICS[metric]
    lengths = np.sqrt(np.einsum("ij,ij->i", values, values, dtype=np.float64))
    if metric == _INNER_PRODUCT and (abs(lengths - 1) < _UNIT).all():
        return "cosine"
    why = "compares by a metric that bioeval lacks"
    if metric == _INNER_PRODUCT:
        why = "compares by inner products of vectors that are not all of length 1"
    raise DataError(f"{path}: {why}; give {say('metric', 'cosine')} or another metric")


def _refuse_index(path: Path, word: bytes) -> NoReturn:
    target = str(path.with_suffix(".npy"))
    raise DataError(
        f"{path}: is a FAISS index of the kind {word.decode('ascii', 'replace')!r}, and only a "
        "flat one has its vectors as they were added. To convert it: "
        f'python -c "import faiss, numpy as np; x = faiss.read_index({str(path)!r}); '
        f"y = getattr(x, 'index', x); np.save({target!r}, y.reconstruct_n(0, x.ntotal))\""
    )


def _is_torch(file: FileFacts) -> bool:
    if file.content.startswith("a Python pickle"):
        return file.suffix in (".pt", ".pth")
    return file.content == "zip" and holds_pickle(file.path)


def _refuse_torch(path: Path, options: ReadOptions) -> NoReturn:
    target = str(path.with_suffix(".npz"))
    raise DataError(
        f"{path}: was written by torch.save, which pickles, and nothing is unpickled. To convert "
        f"it: python -c \"import torch, numpy as np; x = torch.load({str(path)!r}, 'cpu', "
        "weights_only=True); x = x if isinstance(x, dict) else {'embeddings': x}; "
        f"np.savez({target!r}, **{{k: np.asarray(v.detach().float() if getattr(v, 'dtype', 0) == "
        'torch.bfloat16 else v) for k, v in x.items()})"'
    )


def _is_tar(file: FileFacts) -> bool:
    return file.content == TAR or file.suffix == ".tar" and file.content == "an unknown binary file"


def _refuse_tar(path: Path, options: ReadOptions) -> NoReturn:
    target = str(path.with_suffix(".npz"))
    raise DataError(
        f"{path}: is a tar archive, such as a shard of WebDataset, and bioeval reads none. To "
        "convert one with vectors (.npy) and subjects (.cls): "
        f'python -c "import webdataset, numpy as np; x, who = zip(*webdataset.WebDataset('
        f"{str(path)!r}, shardshuffle=False).decode().to_tuple('npy', 'cls')); "
        f'np.savez({target!r}, embeddings=np.stack(x), labels=who)"'
    )


FORMATS = (
    Format(
        name="faiss",
        holds="the embeddings of a flat index of FAISS; labels are in a CSV file beside it",
        looks="a FAISS index",
        expected="a flat FAISS index",
        recognised_by="its first bytes",
        recognise=_is_faiss,
        read=_read_faiss,
        options=_OPTIONS,
    ),
    Format(
        name="torch",
        holds="tensors of `torch.save`, which are refused with the line that converts them",
        looks="a file of torch.save",
        expected="a file without pickles",
        recognised_by="a zip file with `data.pkl`, or a pickle named `.pt` or `.pth`",
        recognise=_is_torch,
        read=_refuse_torch,
    ),
    Format(
        name="tar",
        holds="shards of WebDataset, which are refused with the line that converts them",
        looks="a tar archive",
        expected="a file that is no archive",
        recognised_by="its first header",
        recognise=_is_tar,
        read=_refuse_tar,
    ),
)
