"""factloop's score for other evaluation harnesses. Each has a module that is named after it.

Each module accepts the check to use (`check`), and reads the question, the answer and the documents from where the
harness keeps them. The score is the precision of the report. An answer with no scored claims has no score, which each
harness expresses in its own way, but never as 0.
"""
