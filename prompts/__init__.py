"""Contains the prompts as Markdown files, and a registry that loads, validates and renders them."""
