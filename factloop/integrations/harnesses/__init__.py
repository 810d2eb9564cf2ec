"""Offers factloop's score in other evaluation harnesses, with one module for each, named after the harness.

Each takes the check to use (`check`, as everywhere), and reads the question, answer and documents from where that
harness keeps them. The score is the precision of the report. An answer with no scored claims has no score; each harness
expresses this in its own way, and never as 0.
"""
