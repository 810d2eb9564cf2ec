"""factloop's score in other people's evaluation harnesses: a module for each, named as the harness is.

Each takes what an answer is checked by (`check`, as everywhere), and reads question, answer and documents where that
harness has them. The score is the precision of the report. An answer of which no claim was scored has no score: each
harness says so in its own way, and none is told 0.
"""
