"""Statistics: means with their counts, intervals, noise floors, verdicts.

Pure functions on records and numpy arrays: no file, no clock, no data frame. Rates are fractions; a quantity that has
no data behind it is None, never 0.0 and never NaN.
"""
