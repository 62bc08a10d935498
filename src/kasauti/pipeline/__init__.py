"""The run: plan, synthesise, judge, assemble; order and resume."""
