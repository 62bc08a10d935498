"""Rubric: its arithmetic by hand, what has none, and settings that are refused."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from omegaconf import OmegaConf

from kasauti.config import CONF
from kasauti.errors import ConfigError
from kasauti.metrics.gates import GATES, GateLimits
from kasauti.metrics.rubric import PARTS, RubricSettings, rubric_terms
from kasauti.records import SampleRow, Status
from kasauti.settings import ScoringSettings

SETTINGS = RubricSettings(
    weights={"characters": 2.0, "words": 1.0, "sounds": 0.0, "length": 1.0},
    failed_gates={"clipping": 0.8, "token_cap": 0.5, "looping": 0.0},
)
RATES = st.floats(0, 3)
GATE_TEXTS = st.lists(st.sampled_from(sorted(GATES)), unique=True).map(" ".join)


def row(**values: Any) -> SampleRow:
    place = {"run_id": "r", "prompt_id": "p", "lang": "hi", "script": "Deva", "tags": "", "system": "s", "repeat": 0}
    place |= {"judge": "j", "judge_revision": "1", "rejudge": 0, "status": Status.OK}
    good = {"cer": 0.1, "wer": 0.25, "pcer": 0.05, "length_penalty": 0.0, "gates": ""}
    return SampleRow(**{**place, **good, **values})


@pytest.mark.parametrize(
    ("values", "score"),
    [
        ({}, (2 * 0.9 + 1 * 0.75 + 1 * 1.0) / 4),
        ({"gates": "clipping"}, 0.8 * (2 * 0.9 + 0.75 + 1) / 4),
        ({"gates": "token_cap clipping"}, 0.5 * 0.8 * (2 * 0.9 + 0.75 + 1) / 4),
        ({"gates": "looping"}, 0.0),
        ({"gates": "leading_silence"}, (2 * 0.9 + 0.75 + 1) / 4),  # a gate without a factor leaves all
        ({"length_penalty": math.log(2)}, (2 * 0.9 + 0.75 + 0.5) / 4),
        ({"cer": 1.7, "wer": 2.0}, (0 + 0 + 1) / 4),  # more errors than units leave nothing, not less
        ({"cer": 0.0, "wer": 0.0}, 1.0),
        ({"pcer": None}, (2 * 0.9 + 0.75 + 1) / 4),  # a part without weight may be missing
    ],
)
def test_score_by_hand(values: dict[str, Any], score: float) -> None:
    rubric = rubric_terms(row(**values), SETTINGS)
    assert rubric is not None
    assert rubric.score == pytest.approx(score)


def test_the_terms_say_where_a_score_came_from() -> None:
    rubric = rubric_terms(row(gates="clipping"), SETTINGS)
    assert rubric is not None
    assert [(part.name, part.weight, part.value) for part in rubric.parts] == [
        ("characters", 0.5, 0.9),
        ("words", 0.25, 0.75),
        ("length", 0.25, 1.0),
    ]
    assert [part.points for part in rubric.parts] == pytest.approx([0.45, 0.1875, 0.25])
    assert rubric.weighted == pytest.approx(0.8875)
    assert rubric.factors == {"clipping": 0.8}


def test_the_example_of_the_methodology() -> None:
    rubric = rubric_terms(row(cer=0.1, wer=0.25, pcer=0.05, gates="clipping"), RubricSettings())
    assert rubric is not None
    assert rubric.score == pytest.approx(0.72)


@pytest.mark.parametrize(
    "values",
    [
        {"cer": None},
        {"length_penalty": None},
        {"status": Status.WRONG_SCRIPT},  # a status is never a low score
        {"status": Status.SYNTHESIS_FAILED, "cer": None, "wer": None, "pcer": None},
    ],
)
def test_a_row_without_all_parts_or_not_ok_has_none(values: dict[str, Any]) -> None:
    assert rubric_terms(row(**values), SETTINGS) is None


@given(RATES, RATES, RATES, RATES, GATE_TEXTS)
def test_property_a_score_is_between_0_and_1_and_no_fault_raises_it(
    cer: float, wer: float, pcer: float, penalty: float, gates: str
) -> None:
    values = {"cer": cer, "wer": wer, "pcer": pcer, "length_penalty": penalty}
    settings = RubricSettings()
    clean, faulty = (rubric_terms(row(**values, gates=failed), settings) for failed in ("", gates))
    assert clean is not None
    assert faulty is not None
    assert 0.0 <= faulty.score <= clean.score <= 1.0
    worse = rubric_terms(row(**{**values, "cer": cer + 0.1}), settings)
    assert worse is not None
    assert worse.score <= clean.score


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"weights": {"charcters": 1.0}},
            "scoring.rubric.weights: unknown name 'charcters'; did you mean 'characters'",
        ),
        ({"weights": {"words": -1.0}}, "scoring.rubric.weights.words is -1.0; wanted 0 or more"),
        ({"weights": {"words": 0.0}}, "scoring.rubric.weights: no part has a weight above 0"),
        ({"failed_gates": {"clippin": 0.5}}, "unknown name 'clippin'; did you mean 'clipping'"),
        ({"failed_gates": {"clipping": 1.2}}, "scoring.rubric.failed_gates.clipping is 1.2; wanted 0 to 1"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        RubricSettings(**settings)


def test_the_file_and_the_defaults_of_the_classes_say_the_same() -> None:
    file = OmegaConf.to_container(OmegaConf.load(CONF / "scoring" / "default.yaml"))
    assert isinstance(file, dict)
    defaults = ScoringSettings()
    assert GateLimits(**file["gates"]) == defaults.gates
    assert RubricSettings(**file["rubric"]) == defaults.rubric
    assert set(file["rubric"]["weights"]) == set(PARTS)
    assert {**file["length"], "chars_per_second": {}} == vars(defaults.length)  # the paces stand in the file alone
