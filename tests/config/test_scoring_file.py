"""`conf/scoring/default.yaml` says in the open what the code does by default."""

from __future__ import annotations

from pathlib import Path

from omegaconf import OmegaConf

from kasauti.config import CONF
from kasauti.settings import ScoringSettings
from kasauti.text.levels import DEFAULT_STEPS, NORMALISER_VERSION


def scoring(*changes: str) -> ScoringSettings:
    file = OmegaConf.load(Path(CONF) / "scoring" / "default.yaml")
    merged = OmegaConf.merge(OmegaConf.structured(ScoringSettings), file, OmegaConf.from_dotlist(list(changes)))
    settings = OmegaConf.to_object(merged)
    assert isinstance(settings, ScoringSettings)
    return settings


def test_the_steps_in_the_file_are_those_of_the_code() -> None:
    assert {level: tuple(steps) for level, steps in scoring().steps.items()} == DEFAULT_STEPS
    assert list(DEFAULT_STEPS) == scoring().levels


def test_the_file_makes_the_default_ladder_and_any_change_makes_another_signature() -> None:
    assert scoring().ladder().signature == ScoringSettings().ladder().signature == NORMALISER_VERSION
    changed = ["markup.any_square_brackets=true", "numbers.alternatives=false", "steps.strict=[nfc,white_space]"]
    signatures = {scoring(change).ladder().signature for change in changed}
    assert len(signatures | {NORMALISER_VERSION}) == 4
