"""Scores claim-document pairs with several verifiers (`factloop research verify`)."""
