"""The names of this package, for type checkers; written by scripts/stub."""

from bioeval.cli.arguments import Value as Value, joined_lists as joined_lists
from bioeval.cli.command import (
    Command as Command,
    naming as naming,
    option as option,
    option_group as option_group,
)
from bioeval.cli.images import ImageOptions as ImageOptions
from bioeval.cli.options import (
    output_options as output_options,
    require_assure as require_assure,
    shared_options as shared_options,
)
from bioeval.cli.outputs import (
    MoreOutputs as MoreOutputs,
    MoreResults as MoreResults,
    Target as Target,
    rows_over as rows_over,
)
from bioeval.cli.program import main as main
from bioeval.cli.study_command import StudyCommand as StudyCommand
from bioeval.cli.threshold_of import is_study as is_study, read_study as read_study
