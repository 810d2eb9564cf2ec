"""The cache shared by runs: paid answers, document indexes and word vectors, in one folder."""
