"""The names of this package, for type checkers; written by scripts/stub."""

from bioeval.base.arguments import (
    require_array as require_array,
    require_callable as require_callable,
    require_flag as require_flag,
    require_increasing_proportions as require_increasing_proportions,
    require_integer as require_integer,
    require_list as require_list,
    require_number as require_number,
    require_numbers as require_numbers,
    require_path as require_path,
    require_text as require_text,
)
from bioeval.base.environment import source_date as source_date
from bioeval.base.errors import (
    Argument as Argument,
    Part as Part,
    Words as Words,
    chosen_task as chosen_task,
    counted as counted,
    enumerated as enumerated,
    nearest_name as nearest_name,
    printable as printable,
    received as received,
    require_choice as require_choice,
    short_name as short_name,
)
from bioeval.base.executors import (
    Client as Client,
    Pass as Pass,
    computed_by as computed_by,
    computed_here as computed_here,
    executor as executor,
)
from bioeval.base.kinds import (
    Kind as Kind,
    larger_is_closer as larger_is_closer,
    noun_of as noun_of,
)
from bioeval.base.memory import (
    at_most as at_most,
    in_words as in_words,
    physical_memory as physical_memory,
    require_memory as require_memory,
)
from bioeval.base.panels import panel as panel
from bioeval.base.progress import (
    report as report,
    reported_to as reported_to,
    reporter as reporter,
    rows_reported_to as rows_reported_to,
    stage as stage,
)
from bioeval.base.random import (
    RandomState as RandomState,
    Stream as Stream,
    seed_sequence as seed_sequence,
)
from bioeval.base.registry import names_of as names_of, scalar_registry as scalar_registry
from bioeval.base.scalars import (
    MATCH_SUMS as MATCH_SUMS,
    POINTS_OF_PARTS as POINTS_OF_PARTS,
    QUERY_MEANS as QUERY_MEANS,
    Name as Name,
    Scalar as Scalar,
    rates_of as rates_of,
)
from bioeval.base.studies import hooks as hooks, manifests as manifests, offered as offered
from bioeval.base.variables import Bootstrap as Bootstrap, IntervalMethod as IntervalMethod
