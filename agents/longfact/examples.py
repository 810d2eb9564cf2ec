"""Prompts of our own that show a model the style. They are about other things than LongFact's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

EXAMPLES: Mapping[str, Sequence[str]] = {
    "objects": (
        "What can you tell me about the Corliss steam engine shown in Philadelphia in 1876?",
        "Who was the glassmaker Maurice Marinot?",
        "What happened in the Halifax Explosion?",
        "Could you describe the Rideau Canal?",
        "What is known about the frigate Jylland?",
        "Please give me an overview of the Treaty of Tordesillas.",
        "Can you tell me about the Svalbard Global Seed Vault?",
        "What is the Antikythera mechanism?",
        "Who is the weaver Sheila Hicks?",
        "What took place at the Congress of Gniezno?",
        "Could you introduce me to the Vasa Museum?",
        "What do you know about the coelacanth caught off East London in 1938?",
    ),
    "concepts": (
        "What is meant by isostatic rebound, and where can it be observed?",
        "Can you explain how double-entry bookkeeping keeps accounts in balance?",
        "What does the doctrine of laches say, and how have courts applied it?",
        "How does countercurrent exchange work in the bodies of animals?",
        "Please explain the principle of comparative advantage with the examples it is known for.",
        "What is equal temperament, and how did it come to be used?",
        "Could you describe what philologists call the lectio difficilior?",
        "How does a hash table resolve collisions, and what are the usual methods?",
        "What is meant by the tragedy of the commons?",
        "Can you explain the idea of path dependence in the history of technology?",
        "What is cavitation, and which machines does it harm?",
        "How do linguists define ergativity, and in which languages is it found?",
    ),
}
