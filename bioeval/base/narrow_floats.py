"""Floats that NumPy lacks, from their bits: bfloat16 and the floats of 8 bits, widened exactly."""

from __future__ import annotations

import numpy as np

# Bits of the fraction, and the bias of the exponent, of F8_E4M3: a sign, 4 bits, and 3 bits.
_FRACTION, _BIAS = 3, 7


def float32_of(bits: np.ndarray, name: str) -> np.ndarray:
    """Return the values of floats given by their bits, as float32, which holds them exactly.

    Parameters
    ----------
    bits : ndarray of uint8 or uint16
    name : {"BF16", "F8_E5M2", "F8_E4M3"}
        The type, as safetensors files call it.

    Examples
    --------
    >>> import numpy as np
    >>> float32_of(np.array([0x3F80, 0xC000], dtype=np.uint16), "BF16")
    array([ 1., -2.], dtype=float32)
    """
    if name == "BF16":  # the upper half of a float32
        return (bits.astype(np.uint32) << 16).view(np.float32)
    if name == "F8_E5M2":  # the upper half of a float16
        with np.errstate(invalid="ignore"):  # of a NaN
            return (bits.astype(np.uint16) << 8).view(np.float16).astype(np.float32)
    return _e4m3()[bits]


def _e4m3() -> np.ndarray:
    """Return the value of each of the 256 floats of 8 bits with 4 bits of exponent."""
    codes = np.arange(256)
    exponent, fraction = (codes >> _FRACTION) & 15, codes & 7
    size = np.ldexp(fraction / 8.0, np.where(exponent == 0, 1, exponent) - _BIAS)
    size = np.where(exponent == 0, size, size + np.ldexp(1.0, exponent - _BIAS))
    size[(codes & 127) == 127] = np.nan
    return np.where(codes < 128, size, -size).astype(np.float32)
