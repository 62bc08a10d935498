"""Text: languages, scripts, units, normalisation, numbers, transliteration. Pure functions of strings.

Conventions: languages are codes of `kasauti.text.languages`, scripts are ISO 15924 codes. Nothing here reads a file
that is not the package's own data, and nothing here knows where a text came from. Import from the modules themselves:

- `languages`: the table of languages and the names they go by.
- `scripts`: which script a text is in, and whether a transcript is in the script of its reference.
- `levels`, `steps`, `markup`: the ladder of normalisation.
- `units`: what is counted: code points, grapheme clusters, words.
- `numbers`, `iso15919`, `phonetic`: readings of digits, transliteration, folding by sound.
"""
