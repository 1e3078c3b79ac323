"""Lines of text as a writer writes them: names and numbers escaped, the rates noted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from copy import copy

from bioeval.base.errors import escaped
from bioeval.base.messages import Message
from bioeval.showing.blocks import Section
from bioeval.showing.cells import Label, Picture, Quantity, Rate, Score
from bioeval.showing.sentences import sentence_of
from bioeval.showing.text import Enumeration, Explained, Phrase, Term, Text, parts
from bioeval.showing.writers.numbers import printed_column, printed_in_sentence


class Lines:
    """Writes lines of text; this one as plain text.

    `task` is the task of rates that name none. Another form overrides :meth:`literal`,
    :meth:`code`, :meth:`number`, :meth:`explained`, :meth:`picture` and `line_break`.
    """

    line_break = "\n"  # separator of lines in one text
    has_legends = False  # whether a legend explains labels, where no pointer can

    def __init__(self, task: str = ""):
        self.task = task
        self.rates: dict[str, set[str]] = {}  # rates that were written, by task
        self.names: dict[str, str] = {}  # other abbreviations of measures that were written

    def section_lines(self, section: Section) -> Lines:
        return self._of_task(section.task) if section.task else self

    def _of_task(self, task: str) -> Lines:
        if task == self.task:
            return self
        lines = copy(self)  # `rates` is shared: rates of all tasks are collected in one place
        lines.task = task
        return lines

    def literal(self, text: str) -> str:
        """Return plain text in this form."""
        return text

    def code(self, text: str) -> str:
        """Return the text between backquotes in a sentence, such as an argument."""
        return f"`{text}`"

    def number(self, text: str) -> str:
        """Return a number as it is printed, in this form."""
        return self.literal(text)

    def explained(self, text: str, about: str) -> str:
        """Return text, already in this form, with its explanation where the form has a place."""
        return text

    def picture(self, picture: Picture) -> str:
        """Return an image; empty in a form without images."""
        return ""

    def write(self, text: Text | None, rates: Sequence[float] = ()) -> str:
        """Return a text in this form; `rates` are all rates of the same sentence."""
        match text:
            case None:
                return ""
            case str():
                pieces = text.split("`")
                if len(pieces) % 2 == 0:
                    return self.literal(text)
                return "".join((self.literal, self.code)[i % 2](x) for i, x in enumerate(pieces))
            case Term():
                task = text.task or self.task
                self.rates.setdefault(task or "verification", set()).add(text.name)
                return self.literal(text.name.upper())
            case Phrase():
                return self._phrase(text)
            case Message():
                return self.message(text)
            case Enumeration():
                words = [self.write(x, rates) for x in text.texts]
                if text.last == "\n":
                    return self.line_break.join(words)
                if text.last == ";" or len(words) < 2 or not text.last:
                    return ("; " if text.last == ";" else ", ").join(words)
                return f"{', '.join(words[:-1])} {text.last} {words[-1]}"
            case Label():
                return self.literal(escaped(text.text))
            case Explained():
                about = Lines(self.task).write(text.about)
                label = self.write(text.text, rates)
                # Note the name in full of an abbreviation with which a label begins.
                if re.split("[, ]", label, maxsplit=1)[0] == "EER":
                    self.names["EER"] = "equal error rate"
                abbreviation = re.split(r",| \(", label)[0]
                name = re.split("[:,;]", about)[0].removesuffix(f" ({abbreviation})")
                if abbreviation.isalnum() and abbreviation.isupper() and abbreviation not in name:
                    self.names.setdefault(abbreviation, name)
                return self.explained(label, about)
            case Picture():
                return self.picture(text)
            case Quantity():
                compared = [x for x in rates if x != text.value]
                return self.number(printed_in_sentence(text, compared).text)
        raise TypeError(f"{type(text).__name__} is no text")

    def _phrase(self, phrase: Phrase) -> str:
        typed = list(parts(phrase))
        rates = [x.value for x in typed if isinstance(x, Rate) and not x.difference]
        scores = [x for x in typed if isinstance(x, Score)]
        printed = printed_column(scores) if len(scores) > 1 else []  # the scores in one precision
        lines, texts = self._of_task(phrase.task or self.task), []
        for part in typed:
            if isinstance(part, Score) and printed:
                texts.append(lines.number(printed.pop(0).text))
            else:
                texts.append(lines.write(part, rates))
        return "".join(texts)

    def sentences_about(self, messages: Iterable[Message]) -> dict[str, list[str]]:
        """Return the sentences of messages by parts of the data; ``""``, for all data, is first."""
        groups: dict[str, dict[str, None]] = {"": {}}
        for message in messages:
            about = "; ".join(self.literal(escaped(x)) for x in message.about)
            groups.setdefault(about, {})[self.message(message)] = None
        return {about: list(sentences) for about, sentences in groups.items() if sentences}

    def message(self, message: Message) -> str:
        return self.write(sentence_of(message))


def written(text: Text, task: str = "") -> str:
    return Lines(task).write(text)
