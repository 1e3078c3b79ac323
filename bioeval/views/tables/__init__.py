"""Tables of results: for the terminal, a paper and a notebook.

``remarks`` says what stands beside the numbers, ``sections`` selects these, ``layout`` formats and
``result_table`` arranges them; ``blocks`` shows the results of studies.
"""

from bioeval.base.lazy import lazy_names

__getattr__, __dir__ = lazy_names(__spec__)
