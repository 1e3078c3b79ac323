"""The public name, and what studies use of this package."""

from bioeval.cli.program import main as main

# For studies
# isort: split
from bioeval.cli.arguments import (
    METADATA as METADATA,
    NUMBERS as NUMBERS,
    PROPORTION as PROPORTION,
    RATE as RATE,
    TARGET as TARGET,
    THRESHOLD as THRESHOLD,
    WHOLE_NUMBERS as WHOLE_NUMBERS,
    Typed as Typed,
    card as card,
)
from bioeval.cli.command import (
    Command as Command,
    option as option,
    option_group as option_group,
    reword as reword,
)
from bioeval.cli.console import terminal_width as terminal_width
from bioeval.cli.images import (
    image_folder as image_folder,
    images_option as images_option,
    require_images as require_images,
)
from bioeval.cli.options import (
    output_options as output_options,
    shared_options as shared_options,
    warnings_of as warnings_of,
)
from bioeval.cli.outputs import (
    MoreOutputs as MoreOutputs,
    MoreResults as MoreResults,
    Output as Output,
    take_out as take_out,
    take_scores as take_scores,
)
from bioeval.cli.progress import Stages as Stages
from bioeval.cli.run_outputs import curve_rows as curve_rows, task_document as task_document
from bioeval.cli.study_command import (
    StudyCommand as StudyCommand,
    attributes as attributes,
    checked as checked,
    described as described,
    interval_by_default as interval_by_default,
    require_values as require_values,
    rows_over as rows_over,
    with_doubts as with_doubts,
)
