"""How the offline rules split sentences, held against the facts that people made of the same sentences."""
