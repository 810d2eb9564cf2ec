"""Manages the cache that runs share: a folder with answers that were paid for, document indexes and word vectors."""
