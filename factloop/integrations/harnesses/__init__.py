"""Makes factloop's score available in other evaluation harnesses, with one module per harness.

Each module takes the check to use (`check`), and reads the question, the answer and the documents from the place where
the harness keeps them. The score is the report's precision. An answer without scored claims has no score. Each module
represents a missing score as its harness does, but never as 0.
"""
