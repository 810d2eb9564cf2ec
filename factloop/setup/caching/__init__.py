"""The cache that runs share: a folder of paid answers, document indexes and word vectors."""
