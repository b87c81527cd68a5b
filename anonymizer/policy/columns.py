"""One column of the source: its role, kind, hierarchy and protection."""

from __future__ import annotations

from typing import Literal

from anonymizer.policy.frozen import Options
from anonymizer.policy.hierarchies import Hierarchy
from anonymizer.policy.protect import Protect
from anonymizer.policy.values import PositiveNumber, Text, Whole

Role = Literal["identifier", "quasi", "sensitive", "keep", "drop"]
Kind = Literal["numeric", "categorical", "date"]
Nulls = Literal["own_class", "suppress", "forbid"]


class Column(Options):
    """What a column is, and what is done with it."""

    role: Role
    """identifier and drop are never published; quasi is generalized; sensitive is published under
    its protection; keep is published as it is."""
    kind: Kind | None = None
    """How values compare; guessed from the column's type when left out."""
    hierarchy: Hierarchy | None = None
    """The generalization hierarchy of a quasi column, or of a sensitive one for its distance."""
    sensitive_when: Text | None = None
    """A boolean column or SQL condition: where it is true or NULL, the cell of this quasi column
    is sensitive instead of quasi-identifying (algorithm lgb)."""
    protect: Protect | None = None
    """Rules for a sensitive column, or for the sensitive cells of a semi-sensitive one."""
    nulls: Nulls = "own_class"
    """NULLs: a value like any other, rows to suppress, or an error."""
    acknowledge_unique: bool = False
    """Publish this keep or sensitive column although its values are nearly unique."""
    null_as_value: bool = False
    """Count a sensitive NULL as a value, as ARX does."""
    priority: PositiveNumber | None = None
    """Weight of the column in the score of privacyfrost; 1 when left out."""
    minimum_level: Whole | None = None
    """privacyfrost: coarsest level allowed, counted from the root = 0."""
    presampling_level: Whole | None = None
    """privacyfrost: level of the pre-sampling, counted from the root = 0; the leaves when left
    out."""
