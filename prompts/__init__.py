"""Contains the prompts, which are Markdown files, and a registry that loads, validates and renders them."""
