"""The command line: one file a command or a kind of them, heavy imports inside the commands."""

from bioeval.base.lazy import NamesByModule, lazy_names

#: The public names, by module.
_NAMES: NamesByModule = {
    "bioeval.cli.program": ("main",),
}

#: What studies use besides, by module.
_FOR_STUDIES: NamesByModule = {
    "bioeval.cli.arguments": ("Value", "joined_lists"),
    "bioeval.cli.command": ("Command", "naming", "option", "option_group"),
    "bioeval.cli.images": ("ImageOptions",),
    "bioeval.cli.options": ("output_options", "shared_options"),
    "bioeval.cli.use": ("FUSION_IN_USE", "TRIES_AND_ENROLMENT"),
    "bioeval.cli.outputs": ("MoreOutputs", "MoreResults", "rows_over"),
    "bioeval.cli.study_command": ("StudyCommand",),
}

__getattr__, __dir__ = lazy_names(__name__, _NAMES, _FOR_STUDIES)
