"""Uses a model to generate text for an evaluation: long responses to prompts, or prompts on a topic."""
