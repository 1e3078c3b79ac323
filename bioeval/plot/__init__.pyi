"""The public names, and where each is."""

from .display import Curves as Curves, Display as Display
from .files import save as save, save_all as save_all
from .fold_plots import (
    folds as folds,
    repeated as repeated,
    threshold_study as threshold_study,
)
from .people_plots import groups as groups, zoo as zoo
from .plot_axes import style as style
from .ranking_plots import ranking as ranking
from .rate_plots import (
    det as det,
    dir_far as dir_far,
    error_rates as error_rates,
    roc as roc,
)
from .reid_plots import (
    cmc as cmc,
    gallery_size as gallery_size,
    gom as gom,
    hota as hota,
    precision_recall as precision_recall,
    ranked_lists as ranked_lists,
)
from .score_plots import (
    matrix as matrix,
    score_distributions as score_distributions,
    worst_pairs as worst_pairs,
)
