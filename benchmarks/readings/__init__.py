"""How a model reads the prompts: verdicts and relevance on labelled pairs, by any reader of the rendered prompts."""
