"""The messages of a result, for programs: codes and arguments, with their sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import xarray as xr

from bioeval.document import Message, messages_of_result
from bioeval.views.tasks import datasets
from bioeval.views.writers.lines import Lines


class ResultMessage(NamedTuple):
    """A message of a result."""

    code: str
    arguments: Mapping[str, Any]
    sentence: str


def sentence(message: Message) -> str:
    """Return the sentence of a message, in the words of Python and of the lecture."""
    return Lines().message(message)


def messages(result: Any) -> list[ResultMessage]:
    """Return the messages of a result, each once.

    Parameters
    ----------
    result : xarray.Dataset or xarray.DataTree
        What a function of bioeval returned, or a result that was loaded from a file.

    Returns
    -------
    list of ResultMessage
        The code of each, by which a program recognises it, its arguments, and its sentence in the
        words of Python and of the lecture.

    Examples
    --------
    >>> import bioeval as be
    >>> zoo = be.zoo(be.simulate(5, 4, random_state=1))
    >>> for message in be.messages(zoo)[:1]:
    ...     print(message.code, message.arguments["subjects"])
    too-few-halves 5
    """
    lines = Lines()
    listed = {}
    for _, dataset in datasets(result):
        for message in messages_of_result(dataset):
            listed[message] = ResultMessage(message.code, message.arguments, lines.message(message))
    return list(listed.values())


def sentences(dataset: xr.Dataset) -> list[str]:
    """Return the sentences of the messages of a dataset, each once."""
    return list(dict.fromkeys(map(Lines().message, messages_of_result(dataset))))
