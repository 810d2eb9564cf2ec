"""Generates text with a model for an evaluation: long responses to prompts, or prompts on a topic."""
