"""Expression panels: several judges who each hear all systems' clips of one task side by side, and what follows.

`cases` holds the data model; `consensus`, `intervals`, `position`, `agreement`, `leanings`, `bradley_terry` and `cuts`
are pure statistics for two to eight systems and any number of judges; `study`, `sheets` and `page` put them together
and show them. `reproduce` and `beyond` are the two studies of the published IndicEmo table; `bundle` and `published`
find and read its files, which lie outside this repository.
"""

from kasauti.errors import KasautiError


class PanelError(KasautiError):
    """Judgments of a panel can't be used as they are; says which."""
