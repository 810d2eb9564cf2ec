"""Builds a data set like MixedQA: open-ended questions of several sources that every system answers."""
