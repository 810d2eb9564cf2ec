"""Lets a model write for an evaluation: long responses to prompts, and prompts on a topic."""
