"""Makes factloop's score available in other evaluation harnesses, with one module per harness.

The score is the report's precision, and a missing score is never 0. Each module reads the question, the answer and the
documents from where its harness keeps them.
"""
