"""Metrics: counts of errors, rates made of them, and gates.

Pure functions; nothing here reads a file or knows a judge.
"""
