"""`factloop cascade tune`: thresholds of a cascade, tuned on labelled claims."""
