"""The names of this package, for type checkers; written by scripts/stub."""

from bioeval.kernels.argument_groups import RawRows as RawRows
from bioeval.kernels.compiling import compiled as compiled, parallel_rows as parallel_rows
from bioeval.kernels.fuse import mean_of as mean_of
