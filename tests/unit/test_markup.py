"""What is taken for markup and what is not."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasauti.metrics.score import score_pair
from kasauti.text.levels import DEFAULT_STEPS, Ladder, normalize
from kasauti.text.markup import DEFAULT_MARKUP, Markup

SSML = (
    '<?xml version="1.0"?><speak version="1.1" xml:lang="hi-IN"><!-- greeting --><p><s>नमस्ते'
    '<break time="300ms"/></s> <prosody rate="slow">राम &amp; श्याम</prosody> '
    '<sub alias="किलो ग्राम">kg</sub> <say-as interpret-as="cardinal">12</say-as></p></speak>'
)


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        # rumik: description, speaker prefix, inline sounds (model card)
        ('<description="Happy, Hindi accent, Steady pace"> आज दादी', "आज दादी"),
        ('Ira: <description="professional, Hindi accent, steady pace"> आज दादी', "आज दादी"),
        ("<description=“sad”>आज <laugh> दादी <chuckle><SIGH/>", "आज दादी"),
        ("<text>Zoya: आज<audio>", "आज"),
        # the same sounds as other vendors and recognisers write them
        ("[laughs] आज [clears throat] दादी [Short Pause]", "आज दादी"),
        ("(laughter) आज (softly) दादी", "आज दादी"),
        ("*sighs* आज", "आज"),
        # SSML
        (SSML, "नमस्ते राम श्याम किलो ग्राम 12"),
        ('<mstts:express-as style="cheerful">वाह</mstts:express-as>', "वाह"),
        ("<amazon:effect name='whispered'>सुनो</amazon:effect>", "सुनो"),
        # not markup: brackets with words that are on no list, a colon after another name, a comparison
        ("नमस्ते (हाय) [देखो] *सुनो*", "नमस्ते हाय देखो सुनो"),
        ("समय: पाँच बजे, Ira: आओ", "समय पाँच बजे ira आओ"),
        ("a < b and c > d", "a b and c d"),
        ("<laughing stock>", "laughing stock"),
        ("Iraq: war", "iraq war"),
        ("R&amp;D", "r amp d"),  # entities are SSML's; elsewhere they are text
        ("he laughs (loudly enough)", "he laughs loudly enough"),
        ("<pencil>", "pencil"),
    ],
)
def test_markup(text, spoken):
    assert normalize(text, "hi") == spoken


def test_both_sides_lose_it_so_a_transcribed_audio_event_costs_nothing():
    assert score_pair("आज [laughs] दादी", "आज (laughter) दादी", "hi", "strict").char_edits == 0


def test_raw_keeps_it():
    assert normalize("<laugh>  आज", "hi", "raw") == "<laugh> आज"


def test_the_lists_can_be_changed():
    ladder = Ladder(markup=Markup(speakers=["राम"], sounds=["हँसी"], any_square_brackets=True))
    assert normalize("राम: <हँसी> आज [धीरे से] Ira: <laugh>", "hi", ladder=ladder) == "आज ira laugh"
    assert ladder.signature != Ladder().signature


def test_empty_lists_match_nothing():
    nothing = Markup(speakers=(), sounds=(), directions=(), elements=())
    assert nothing.spoken("Ira: <laugh> [] () **") == "Ira: <laugh> [] () **"


def test_lists_hold_no_name_twice():
    for names in (DEFAULT_MARKUP.speakers, DEFAULT_MARKUP.elements):
        assert len(set(names)) == len(names)
    shown = (*DEFAULT_MARKUP.sounds, *DEFAULT_MARKUP.directions)
    assert len(set(shown)) == len(shown)


pieces = st.sampled_from(
    ["<", ">", "[", "]", "(", ")", "*", "laugh", "description=", "/", " ", "Ira", ":", '"', "sub alias", "ा"]
)


@given(st.lists(pieces, max_size=30).map("".join))
def test_odd_markup_is_still_idempotent(text):
    for level in DEFAULT_STEPS:
        once = normalize(text, "hi", level)
        assert normalize(once, "hi", level) == once


@given(st.text(alphabet="कखगािी् ,।!?'-"))
def test_text_without_brackets_or_colons_is_left_alone(text):
    assert DEFAULT_MARKUP.spoken(text) == text


def test_every_control_prompt_of_the_published_kind_gives_its_transcript():
    # The shape of IndicEmo's control prompts: description, blank, transcript.
    transcript = "అరే, check your email right now! మన documentary"
    prompt = f"<description={json.dumps('Happy, Telugu accent, Fast pace')}> {transcript}"
    assert normalize(prompt, "te") == normalize(transcript, "te")
