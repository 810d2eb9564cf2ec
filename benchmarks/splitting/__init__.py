"""How sentences are split, held against the facts that people made of the same sentences."""
