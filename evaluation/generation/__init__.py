"""What a model writes for an evaluation: long responses to prompts, and prompts on a topic."""
