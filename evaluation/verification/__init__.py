"""`factloop research verify` scores pairs of claim and document with several verifiers."""
