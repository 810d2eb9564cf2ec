"""Stores each prompt as a validated Markdown file, with a registry that loads and renders prompts."""
