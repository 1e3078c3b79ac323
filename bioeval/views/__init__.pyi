"""The names of this package, for type checkers; written by scripts/stub."""

from bioeval.views.images import Images as Images
from bioeval.views.messages import sentence_about as sentence_about, warn_of_kind as warn_of_kind
from bioeval.views.registry import sections_of as sections_of, study_sections as study_sections
from bioeval.views.sections.evaluation import (
    details_of_task as details_of_task,
    fusion_in_words as fusion_in_words,
    is_identification as is_identification,
    rows_of_task as rows_of_task,
)
from bioeval.views.sections.header import (
    about as about,
    alarms_of as alarms_of,
    optimistic as optimistic,
)
from bioeval.views.sections.summary import figures as figures, task_of_rates as task_of_rates
from bioeval.views.show import Shown as Shown
from bioeval.views.tasks import (
    TASKS as TASKS,
    Averaged as Averaged,
    averaged as averaged,
    datasets as datasets,
    report_ranks as report_ranks,
    system_of as system_of,
    systems as systems,
    unit_of as unit_of,
    value_of as value_of,
)
from bioeval.views.terms import words_of as words_of
from bioeval.views.thumbnails import (
    Thumbnail as Thumbnail,
    pictures_of_templates as pictures_of_templates,
)
from bioeval.views.writers.columns import (
    PrintedColumn as PrintedColumn,
    printed_columns as printed_columns,
)
from bioeval.views.writers.data import (
    as_data as as_data,
    columns_of_table as columns_of_table,
    rows_of_table as rows_of_table,
)
from bioeval.views.writers.html import HtmlLines as HtmlLines
from bioeval.views.writers.lines import Lines as Lines, written as written
from bioeval.views.writers.numbers import Printed as Printed, printed as printed
