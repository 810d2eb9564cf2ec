"""The cache that runs share: answers already paid for, indexes of documents and word vectors, in one folder."""
