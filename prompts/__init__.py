"""Contains the prompts, which are validated Markdown files, and a registry that loads and renders them."""
