"""One folder for each study, with everything that is its own; its ``__init__.py`` is its door.

The rest of the package reads the doors (:func:`bioeval.base.manifest.doors`) and names no study:
whoever adds a folder adds a study, and whoever deletes it takes the study away.
"""
