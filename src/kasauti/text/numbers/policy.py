"""Number policy: which reading is canonical where speakers differ, and whether the others count as right."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal, get_args, get_type_hints

from kasauti.errors import TextError


@dataclass(frozen=True)
class NumberPolicy:
    """How numbers are read; part of a score's signature.

    Attributes:
        year: A four-figure number from 1800 to 1999 without groups, unit or currency, and the year of a date:
            `spoken` (so many hundreds where the language says so; English in pairs), `cardinal`, `pairs` (nineteen
            forty-seven) or `digits`.
        code: Figures after a word such as PIN or OTP: `digits`, `pairs` or `cardinal`.
        phone: Telephone, card and Aadhaar numbers: `digits` or `pairs`.
        alternatives: Whether the readings that are not canonical, and other spellings of the canonical one, count as
            right too. When false every lattice has one string.
    """

    year: Literal["spoken", "cardinal", "pairs", "digits"] = "spoken"
    code: Literal["digits", "pairs", "cardinal"] = "digits"
    phone: Literal["digits", "pairs"] = "digits"
    alternatives: bool = True

    def __post_init__(self) -> None:
        hints = get_type_hints(type(self))
        for field in fields(self):
            allowed = get_args(hints[field.name]) or (True, False)
            if getattr(self, field.name) not in allowed:
                got = getattr(self, field.name)
                raise TextError(
                    f"number policy: {field.name} is {got!r}; wanted one of {', '.join(map(repr, allowed))}"
                )

    @property
    def signature(self) -> str:
        """The policy in a few characters, e.g. `spoken-digits-digits-set`."""
        return "-".join((self.year, self.code, self.phone, "set" if self.alternatives else "one"))


DEFAULT_POLICY = NumberPolicy()
