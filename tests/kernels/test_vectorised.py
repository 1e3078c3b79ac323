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

from bioeval.kernels import cells, count, ranks

# Packed instructions, and the registers that they must stand with: several scores at a time.
X86 = {
    "compare": r"\bv?p?cmp(gt|lt|le|nle|eq|nlt)?u?[dqbw]\b|\bv?pcmpgt[dq]\b",
    "least": r"\bv?pmins[dq]\b|\bv?pcmpgt[dq]\b",
    "largest": r"\bv?pmaxs[dq]\b|\bv?pcmpgt[dq]\b",
    "ceiling": r"\bv?(round|rndscale)p[sd]\b",
    "add": r"\bv?addpd\b|\bvfmadd\w*pd\b",
    "multiply": r"\bv?mulpd\b|\bvfmadd\w*pd\b",
}
ARM = {
    "compare": r"\bcm(gt|ge|hi|hs)\s+v|\bcmpgt\b",
    "least": r"\bsmin\s+v|\bcm(gt|ge)\s+v",
    "largest": r"\bsmax\s+v|\bcm(gt|ge)\s+v",
    "ceiling": r"\bfrintp\s+v",
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
            pytest.skip("this processor has no packed ceiling (SSE 4.1)")
    return PATTERNS[machine]


def instructions(kernel: Any, *args: Any) -> str:
    """The assembly of a kernel for arguments of these types, without comments and labels."""
    kernel = numba.njit(kernel)
    kernel(*args)
    (result,) = [
        text
        for signature, text in kernel.inspect_asm().items()
        if signature == tuple(numba.typeof(a) for a in args)
    ]
    lines = (line.strip().replace("\t", " ") for line in result.splitlines())
    return "\n".join(line for line in lines if line and line[0] not in ".#_")


def window(dtype: str) -> CellWindow:
    return CellGrid(-1, 0, 92).window(np.dtype(dtype))


def line(dtype: str) -> np.ndarray:
    return np.linspace(0.5, 40, 100).astype(dtype)


def of_closer(dtype: str) -> str:
    bits = line(dtype).view(dtype.replace("float", "int"))
    return instructions(whole_rows.count_closer, bits, bits[3], bits.max())


def of_cells(dtype: str) -> str:
    return instructions(whole_rows.find_cells, line(dtype), np.empty(100, np.uint32), window(dtype))


def of_read(dtype: str) -> str:
    return instructions(read.largest_of.py_func, line(dtype).view(dtype.replace("float", "int")))


def of_moments(dtype: str) -> str:
    return instructions(count.add_powers, line(dtype), 1.0, 1.0, np.zeros(32), np.zeros(32))


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
    result = of_closer(dtype)
    assert re.search(patterns["compare"], result)
    assert re.search(patterns["least"], result)


@pytest.mark.parametrize("dtype", FLOATS)
def test_cells(patterns, dtype):
    assert re.search(patterns["ceiling"], of_cells(dtype))


def test_bits_are_counted_by_one_instruction(patterns):
    if patterns is not X86:
        pytest.skip("only the instructions of x86 are known here")
    assert re.search(r"\bv?popcnt", instructions(whole_rows.ones, np.uint64(5)))


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
    result = of_closer("float32")
    assert re.search(r"\bv?p(sub|add)d\b", result)
    assert not re.search(r"\bv?p(sub|add)q\b", result)


def test_the_patterns_tell_a_loop_that_is_not(patterns):
    """One score after the other: a sum of floats, and a ceiling that the next one waits for."""

    def one_by_one(scores):
        total = 0.0
        for j in range(len(scores)):
            total = np.ceil(total * 0.5 + scores[j])
        return total

    result = instructions(one_by_one, line("float64"))
    assert not re.search(patterns["ceiling"], result)
    assert not re.search(patterns["add"], result)
    assert not re.search(patterns["multiply"], result)
