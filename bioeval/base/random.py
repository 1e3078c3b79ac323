"""Random numbers that are the same on every platform and with every version.

NumPy keeps its bit generators fixed for ever, but not the distributions drawn from them, and the
logarithms and exponentials inside those come from the C library of the machine. Here both gaps
are closed: the bits of PCG64 become uniform numbers by shifting, and uniform numbers become
normal ones by inverting the distribution function with nothing but ``+ - * /`` and the square
root, which IEEE 754 rounds alike everywhere. NumPy applies them one at a time, so that no
compiler can fuse two of them into one rounding. One uniform number makes one normal number:
nothing is rejected, and no rounding can shift the rest of a stream.
"""

from __future__ import annotations

import operator

import numpy as np

from bioeval.base.errors import DataError, received

#: Seeds that a public call takes; see :func:`seed_sequence`.
RandomState = int | None | np.random.SeedSequence | np.random.Generator | np.random.RandomState

# Bits of a uniform number. The smallest number, 2^-36, is still inside the range where the two
# approximations of AS241 below hold. Normal numbers reach 6.65 standard deviations; one draw
# in 3 * 10^10 would lie beyond.
_BITS = 35

# Normal numbers that are drawn together, so that temporary arrays stay in the cache.
_NORMALS_AT_ONCE = 1 << 16

# Subjects that are drawn together.
_SUBJECTS_AT_ONCE = 1 << 22

_SQRT_HALF = 0.7071067811865476
_LOG_2 = 0.6931471805599453

# Coefficients of two quotients of polynomials, for the centre and for the tails, highest power
# first: Wichura (1988), AS241, routine PPND16.
_CENTRE_TOP = (
    2.5090809287301226727e3,
    3.3430575583588128105e4,
    6.7265770927008700853e4,
    4.5921953931549871457e4,
    1.3731693765509461125e4,
    1.9715909503065514427e3,
    1.3314166789178437745e2,
    3.3871328727963666080e0,
)
_CENTRE_BOTTOM = (
    5.2264952788528545610e3,
    2.8729085735721942674e4,
    3.9307895800092710610e4,
    2.1213794301586595867e4,
    5.3941960214247511077e3,
    6.8718700749205790830e2,
    4.2313330701600911252e1,
    1.0,
)
_TAIL_TOP = (
    7.7454501427834140764e-4,
    2.27238449892691845833e-2,
    2.41780725177450611770e-1,
    1.27045825245236838258e0,
    3.64784832476320460504e0,
    5.76949722146069140550e0,
    4.63033784615654529590e0,
    1.42343711074968357734e0,
)
_TAIL_BOTTOM = (
    1.05075007164441684324e-9,
    5.47593808499534494600e-4,
    1.51986665636164571966e-2,
    1.48103976427480074590e-1,
    6.89767334985100004550e-1,
    1.67638483018380384940e0,
    2.05319162663775882187e0,
    1.0,
)
# log m = 2 s (1 + s^2/3 + s^4/5 + ...) with s = (m - 1) / (m + 1), here |s| < 0.172.
_LOG_SERIES = tuple(1 / (2 * i + 1) for i in range(11, -1, -1))


class Stream:
    """An endless stream of random numbers, named by a seed and a key.

    Streams with different keys are independent, so that each part of a population has its own:
    drawing more of one part never changes another.
    """

    def __init__(self, seed: np.random.SeedSequence, key: int):
        child = np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, key))
        self._bits = np.random.PCG64(child)

    def uniforms(self, count: int) -> np.ndarray:
        """Return `count` float64 numbers of the open interval (0, 1), odd multiples of 2^-36."""
        words = self._bits.random_raw(count) >> np.uint64(64 - _BITS)
        return (words.astype(np.float64) + 0.5) * 2.0**-_BITS

    def words(self, count: int) -> np.ndarray:
        """Return `count` random words of 64 bits, uint64."""
        return self._bits.random_raw(count)

    def normals(self, *shape: int) -> np.ndarray:
        """Return standard normal numbers, float64, of the given shape."""
        out = np.empty(int(np.prod(shape, dtype=np.int64)))
        for low in range(0, len(out), _NORMALS_AT_ONCE):
            part = out[low : low + _NORMALS_AT_ONCE]
            part[:] = inverse_normal(self.uniforms(len(part)))
        return out.reshape(shape)

    def integers(self, low: int, high: int, count: int) -> np.ndarray:
        """Return `count` integers from `low` to `high`, both included; the span is below 2^20."""
        span = high - low + 1
        return low + np.floor(self.uniforms(count) * span).astype(np.int64)

    def resampled(self, subjects: int, replicates: int) -> np.ndarray:
        """Return how often each subject is drawn, float32 of shape (subjects, replicates).

        A replicate has as many draws as there are subjects, with replacement (a bootstrap).
        """
        out = np.empty((subjects, replicates), dtype=np.float32)
        step = max(1, _SUBJECTS_AT_ONCE // max(subjects, 1))
        for low in range(0, replicates, step):
            number = min(step, replicates - low)
            drawn = self.integers(0, subjects - 1, number * subjects)
            drawn += np.repeat(np.arange(number, dtype=np.int64) * subjects, subjects)
            counts = np.bincount(drawn, minlength=number * subjects)
            out[:, low : low + number] = counts.reshape(number, subjects).T
        return out

    def permutation(self, n: int) -> np.ndarray:
        """Return 0 to n - 1 in random order: the order of n random numbers of 70 bits."""
        low = self.uniforms(n)
        return np.lexsort((low, self.uniforms(n)))

    def permutations(self, count: int, n: int) -> np.ndarray:
        """Return 0 to n - 1 in `count` random orders, int64 of shape (count, n).

        Two calls draw the same orders as one call for all of them.
        """
        return self.grouped(count, np.zeros(n, dtype=np.int64), 1)

    def grouped(self, count: int, group: np.ndarray, groups: int) -> np.ndarray:
        """Return `count` random orders of members, group after group, int64 of shape (count, n).

        `group`, (n,) or (count, n), is the group of each member, numbered from 0.
        """
        # Words of 64 bits are sorted: the first bits are the group, the last bits the member, and
        # the bits between are random.
        members = group.shape[-1]
        group_bits, member_bits = ((max(x, 1) - 1).bit_length() for x in (groups, members))
        words = self._bits.random_raw(count * members).reshape(count, members)
        words >>= np.uint64(group_bits + member_bits)
        words <<= np.uint64(member_bits)
        words |= np.arange(members, dtype=np.uint64)
        if groups > 1:
            words |= group.astype(np.uint64) << np.uint64(64 - group_bits)
        words.sort(axis=1)  # no two words are equal, so that any algorithm gives the same order
        words &= np.uint64((1 << member_bits) - 1)
        return words.view(np.int64)


def seed_sequence(random_state: RandomState) -> np.random.SeedSequence:
    """Return the seed sequence of a seed; a Generator or RandomState is advanced by one draw."""
    if random_state is None:
        return np.random.SeedSequence()
    if isinstance(random_state, np.random.SeedSequence):
        return random_state
    if isinstance(random_state, np.random.Generator):
        return np.random.SeedSequence(int(random_state.integers(0, 2**63)))
    if isinstance(random_state, np.random.RandomState):
        return np.random.SeedSequence(int(random_state.randint(0, 2**63 - 1, dtype=np.int64)))
    try:
        seed = -1 if isinstance(random_state, bool) else operator.index(random_state)
    except TypeError:
        seed = -1
    if seed < 0:
        raise DataError(
            f"`random_state` is {received(random_state)}; expected an integer >= 0, "
            "None, a numpy SeedSequence, Generator or RandomState"
        )
    return np.random.SeedSequence(seed)


def inverse_normal(p: np.ndarray) -> np.ndarray:
    """Return the standard normal quantiles of `p`, by arithmetic and square roots alone.

    `p` is from 2^-36 to 1 - 2^-36; the relative error is within 1e-15. The algorithm is AS 241
    (Wichura, 1988: the percentage points of the normal distribution, Applied Statistics 37(3)).
    """
    centred = p - 0.5
    argument = 0.180625 - centred * centred
    out = centred * _polynomial(_CENTRE_TOP, argument) / _polynomial(_CENTRE_BOTTOM, argument)
    tail = np.nonzero(np.abs(centred) > 0.425)[0]
    side = centred[tail]
    argument = np.sqrt(-_log(np.where(side < 0.0, p[tail], 1.0 - p[tail]))) - 1.6
    size = _polynomial(_TAIL_TOP, argument) / _polynomial(_TAIL_BOTTOM, argument)
    out[tail] = np.where(side < 0.0, -size, size)
    return out


def _log(x: np.ndarray) -> np.ndarray:
    mantissa, exponent = np.frexp(x)
    low = mantissa < _SQRT_HALF
    mantissa = np.where(low, 2.0 * mantissa, mantissa)
    quotient = (mantissa - 1.0) / (mantissa + 1.0)
    return (exponent - low) * _LOG_2 + 2.0 * quotient * _polynomial(
        _LOG_SERIES, quotient * quotient
    )


def _polynomial(coefficients: tuple[float, ...], x: np.ndarray) -> np.ndarray:
    out = np.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        out *= x
        out += coefficient
    return out
