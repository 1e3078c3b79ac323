"""Tables of results: for the terminal, a paper and a notebook.

``sections`` selects the values of the datasets, ``layout`` formats them, and ``result_table`` lays
them out, under a header and above the remarks; ``blocks`` shows the results of studies.
"""

from bioeval.base.lazy import lazy_names

__getattr__, __dir__ = lazy_names(__spec__)
