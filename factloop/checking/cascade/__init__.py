"""In a cascade, a cheap verifier settles the clear claims, and the model judges the rest."""
