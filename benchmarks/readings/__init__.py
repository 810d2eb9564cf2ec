"""How a model reads the prompts: verdicts and relevance on labelled pairs, by whoever answers the rendered prompts."""
