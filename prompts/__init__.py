"""Prompts as validated data: one Markdown file each, and the registry that loads and renders them."""
