"""The names of this package, for type checkers; written by scripts/stub."""

from bioeval.base.messages import (
    Message as Message,
    MessageType as MessageType,
    MessageWarning as MessageWarning,
    as_json as as_json,
    from_json as from_json,
    message_attrs as message_attrs,
    messages_of as messages_of,
)
from bioeval.document.blocks import (
    Block as Block,
    Column as Column,
    Fact as Fact,
    Facts as Facts,
    Figure as Figure,
    Messages as Messages,
    Paragraph as Paragraph,
    ResultsBySystem as ResultsBySystem,
    Section as Section,
    Table as Table,
    Vocabulary as Vocabulary,
    tables as tables,
    walk as walk,
)
from bioeval.document.cells import (
    Cost as Cost,
    Count as Count,
    Duration as Duration,
    Interval as Interval,
    Label as Label,
    Labels as Labels,
    Number as Number,
    Picture as Picture,
    Probability as Probability,
    Quantity as Quantity,
    Rate as Rate,
    Score as Score,
    Size as Size,
    threshold_to_install as threshold_to_install,
)
from bioeval.document.message_types import (
    catalogue as catalogue,
    page_of as page_of,
    remedy_of as remedy_of,
    sentence_of as sentence_of,
)
from bioeval.document.results import (
    accepts_beyond as accepts_beyond,
    attempts_in_use as attempts_in_use,
    attempts_in_words as attempts_in_words,
    data_facts as data_facts,
    enrolled_in_words as enrolled_in_words,
    interval_note as interval_note,
    is_doubt as is_doubt,
    messages_of_result as messages_of_result,
    people_and_attempts as people_and_attempts,
    rate_of as rate_of,
    result_messages as result_messages,
    rule_in_words as rule_in_words,
    rule_of as rule_of,
    table_of_variables as table_of_variables,
    threshold_choice as threshold_choice,
    threshold_of_study as threshold_of_study,
    threshold_rule as threshold_rule,
)
from bioeval.document.scalars import (
    cell_of_scalar as cell_of_scalar,
    label_of as label_of,
    name_of_scalar as name_of_scalar,
)
from bioeval.document.terms import (
    RATES as RATES,
    VOCABULARIES as VOCABULARIES,
    in_other_vocabulary as in_other_vocabulary,
    rate_of_term as rate_of_term,
    rates_are_of as rates_are_of,
    word_for as word_for,
)
from bioeval.document.text import (
    Cell as Cell,
    Enumeration as Enumeration,
    Flag as Flag,
    Missing as Missing,
    Phrase as Phrase,
    Strong as Strong,
    Term as Term,
    Text as Text,
    parts as parts,
    say as say,
)
