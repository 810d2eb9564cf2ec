"""factloop's score for other evaluation harnesses, with one module per harness.

Each module accepts the check to use (`check`), and reads the question, the answer and the documents from the places
where the harness keeps them. The score is the precision of the report. An answer without scored claims has no score.
Each module represents a missing score as its harness does, but never as 0.
"""
