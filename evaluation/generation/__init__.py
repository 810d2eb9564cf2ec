"""Has a model write text for an evaluation: long responses to prompts, and prompts on a topic."""
