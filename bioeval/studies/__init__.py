"""One folder for each study, with everything that is its own; its ``__init__.py`` is its manifest.

The rest of the package reads the manifests (:func:`bioeval.base.studies.manifests`) and names no
study: whoever adds a folder adds a study, and whoever deletes it takes the study away.
"""
