"""The loops that go over every score are vectorised: what the compiler made of them is read.

How fast anything is, is not tested; but that a loop quietly became one score at a time, as a sum
of the wrong width or an index that may be negative can bring about, is.
"""

from __future__ import annotations

import platform
import re
from typing import Any

import numba
import numpy as np
import pytest
from benchmarks import read_kernel as read

from bioeval.kernels import cells, fuse, ranks

# Packed instructions, and the registers that they must stand with: several scores at a time.
X86 = {
    "compare": r"\bv?p?cmp(gt|lt|le|nle|eq|nlt)?u?[dqbw]\b|\bv?pcmpgt[dq]\b",
    "compare floats": r"\bv?cmp\w*p[sd]\b",
    "shift": r"\bv?psrlv?[dq]\b",
    "largest": r"\bv?pmaxs[dq]\b|\bv?pcmpgt[dq]\b",
    "add": r"\bv?addpd\b|\bvfmadd\w*pd\b",
    "multiply": r"\bv?mulpd\b|\bvfmadd\w*pd\b",
}
ARM = {
    "compare": r"\bcm(gt|ge|hi|hs)\s+v|\bcmpgt\b",
    "compare floats": r"\bfcm\w+\s+v",
    "shift": r"\bushl\s+v|\bushr\s+v",
    "largest": r"\bsmax\s+v|\bcm(gt|ge)\s+v",
    "add": r"\bfadd\s+v|\bfmla\s+v",
    "multiply": r"\bfmul\s+v|\bfmla\s+v",
}
PATTERNS = {"x86_64": X86, "amd64": X86, "aarch64": ARM, "arm64": ARM}

FLOATS = ("float32", "float64")


@pytest.fixture
def patterns() -> dict[str, str]:
    machine = platform.machine().lower()
    if numba.config.DISABLE_JIT:
        pytest.skip("nothing is compiled in this run")
    if machine not in PATTERNS:
        pytest.skip(f"the packed instructions of a {machine} processor are not known here")
    if machine in ("x86_64", "amd64"):
        features = str(numba.core.codegen.get_host_cpu_features())
        if "+sse4.1" not in features:
            pytest.skip("this processor has no packed maximum (SSE 4.1)")
    return PATTERNS[machine]


def instructions(kernel: Any, *args: Any) -> str:
    """The assembly of a kernel for arguments of these types, without comments and labels."""
    kernel = numba.njit(getattr(kernel, "py_func", kernel))
    kernel(*args)
    (result,) = [
        text
        for signature, text in kernel.inspect_asm().items()
        if signature == tuple(numba.typeof(a) for a in args)
    ]
    lines = (line.strip().replace("\t", " ") for line in result.splitlines())
    return "\n".join(line for line in lines if line and line[0] not in ".#_")


def line(dtype: str) -> np.ndarray:
    return np.linspace(0.5, 40, 100).astype(dtype)


def of_ranks(dtype: str) -> str:
    counts = np.zeros((3, 1), dtype=np.int32)
    scores = line(dtype)
    return instructions(ranks.rank_rows, scores[None], scores[50:51], *counts, scores[:1].copy())


def of_nearest(dtype: str) -> str:
    scores = line(dtype)[None]
    return instructions(fuse.nearest_in_layers, scores, np.array([50, 50]), scores[:, :50].copy())


def of_cells(dtype: str) -> str:
    scores, window = line(dtype), (np.int32(0), np.uint32(16), np.uint32(99))
    room = np.empty(100, np.float32), np.empty(100, np.uint32)
    return instructions(cells.find_cells, scores, scores.dtype.type(0), window, *room)


def of_read(dtype: str) -> str:
    return instructions(read.largest_of.py_func, line(dtype).view(dtype.replace("float", "int")))


def of_moments(dtype: str) -> str:
    return instructions(cells.add_moments, line(dtype)[None], 1.0, 1.0, np.zeros(4))


def of_columns(dtype: str) -> str:
    from bioeval.studies.zoo import kernel as subject_sums

    return instructions(subject_sums.add_to_columns, line(dtype), np.zeros(100))


def of_accepted(dtype: str) -> str:
    from bioeval.studies.zoo import kernel as subject_sums

    scores = line(dtype)
    return instructions(
        subject_sums.count_accepted, scores, scores[50], np.zeros(100, dtype=np.int32)
    )


@pytest.mark.parametrize("dtype", FLOATS)
def test_sums_by_subject(patterns, dtype):
    assert re.search(patterns["add"], of_columns(dtype))
    assert re.search(patterns["compare"], of_accepted(dtype))


@pytest.mark.parametrize("dtype", FLOATS)
def test_ranks_and_the_nearest(patterns, dtype):
    assert re.search(patterns["compare floats"], of_ranks(dtype))
    assert re.search(patterns["compare floats"], of_nearest(dtype))


@pytest.mark.parametrize("dtype", FLOATS)
def test_cells(patterns, dtype):
    result = of_cells(dtype)
    assert re.search(patterns["largest"], result)
    assert re.search(patterns["shift"], result)


@pytest.mark.parametrize("dtype", FLOATS)
def test_the_read(patterns, dtype):
    assert re.search(patterns["largest"], of_read(dtype))


@pytest.mark.parametrize("dtype", FLOATS)
def test_moments(patterns, dtype):
    result = of_moments(dtype)
    assert re.search(patterns["add"], result)
    assert re.search(patterns["multiply"], result)


def test_comparisons_of_single_precision_are_summed_in_32_bits(patterns):
    """In 64 bits, as sums are by default, half as many scores go at a time."""
    if patterns is not X86:
        pytest.skip("only the instructions of x86 are known here")
    result = of_ranks("float32")
    assert re.search(r"\bv?p(sub|add)d\b", result)
    assert not re.search(r"\bv?p(sub|add)q\b", result)


def test_the_patterns_tell_a_loop_that_is_not(patterns):
    """One score after the other: a sum of floats."""

    def one_by_one(scores):
        total = 0.0
        for j in range(len(scores)):
            total = total * 0.5 + scores[j]
        return total

    result = instructions(one_by_one, line("float64"))
    assert not re.search(patterns["add"], result)
    assert not re.search(patterns["multiply"], result)
