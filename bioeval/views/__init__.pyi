"""The names of this package, for type checkers; written by scripts/stub."""

from bioeval.views.images import Images as Images
from bioeval.views.messages import sentence as sentence
from bioeval.views.show import Shown as Shown
from bioeval.views.tasks import (
    TASKS as TASKS,
    Averaged as Averaged,
    averaged as averaged,
    datasets as datasets,
    report_ranks as report_ranks,
    systems as systems,
    unit_of as unit_of,
    value_of as value_of,
)
from bioeval.views.terms import (
    dictionary as dictionary,
    interval_method as interval_method,
    term_translator as term_translator,
)
from bioeval.views.thumbnails import (
    Thumbnail as Thumbnail,
    pictures_of_templates as pictures_of_templates,
)
from bioeval.views.writers.lines import Lines as Lines
from bioeval.views.writers.numbers import in_six_digits as in_six_digits
