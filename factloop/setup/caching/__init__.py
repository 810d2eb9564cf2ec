"""Manages the cache shared by runs, a folder with paid answers, document indexes and word vectors."""
