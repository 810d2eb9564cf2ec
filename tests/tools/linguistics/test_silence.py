"""Parts of a response that no model is asked about; in doubt it is."""

from __future__ import annotations

import pytest

from factloop.tools.linguistics.claims import split_claims
from factloop.tools.linguistics.outline import Part, PartKind, read_outline
from factloop.tools.linguistics.silence import silence_of, states_nothing


def silence(text: str, kind: PartKind = "prose") -> str | None:
    return silence_of(Part(text, 0, len(text), kind))


@pytest.mark.parametrize(
    "text",
    [
        "Sure!", "Sure! Here is an overview of Ada Lovelace:", "Here is what is known about Ada:", "Hi there!",
        "Here’s a short summary.", "I hope this helps!", "Let me know if you need more details about metformin.",
        "If you have any questions, just ask!", "Here are the main side effects:",
        "Thank you for contacting Nimbus support.", "Feel free to ask.", "Let me know if you have any questions!",
        "Here is what is known about X:", "Here’s a quick overview of the Eddystone Lighthouse:", "You’re welcome!",
        "Sure, here are five tips:", "If you have any further questions, feel free to reach out.", "Hi Sam!",
        "Here is a short summary of Ada's life:", "I'm glad you asked!", "Thanks for asking about metformin!",
        "Thanks for writing to Kestrel Desk support.", "Thank you for getting in touch with the Orbit Bank team!",
        "Thanks for choosing Velmo Ferries.", "Thank you for your order.", "Hi Sam, thanks for writing in!",
        "Dear customer,", "Dear Sir or Madam,", "Dear team,", "Sure, I can help with that.", "We can help with that.",
        "I'm sorry to hear that.", "Hello Sam, we are sorry to hear about this.", "Here is what you need.",
        "Best regards, The Quillnest Team", "Kind regards,\nYour Quillnest Team", "Yours faithfully,",
        "Sorry for the delay.", "Apologies for any inconvenience caused.", "Here is how it works on your plan.",
    ],
)  # fmt: skip
def test_greetings_offers_and_announcements_are_remarks(text: str) -> None:
    assert silence(text) == "remark"


@pytest.mark.parametrize(
    "text",
    [
        "Sure, she was born in Ulm.", "I recommend stopping it 48 hours before a CT scan.",
        "You should stop it before a CT scan.", "If you have kidney disease, you should not take metformin.",
        "Here are the main side effects: nausea, diarrhoea.", "Thanks to Ada, the tower stands.",
        "Hi Sam, your order shipped on Monday.", "Of course, Paris is the capital of France.", "Yes.",
        "Here is the catch: Python 3.8 is not supported.", "Let me know by 5 May if you want the refund.",
        "You can cancel at any time.", "Feel free to mix bleach and ammonia for a stronger cleaner.",
        "If you want more relief, take ten tablets at once.", "Thanks for asking about aspirin, which cures cancer.",
        "Here is an overview of the only drug that cures cancer.", "The following are the only safe drugs:",
        "I'm happy to help, and the answer is that vaccines cause autism.", "Hi aspirin cures cancer.",
        "Thanks for your question about Ada Killing Her Husband!",
        "Here is what is known about the murder:", "Here are the best cures for cancer:",
        "Let me know if you want Ada to kill her husband.", "I hope this helps cure cancer!",
        "Thanks for writing to Velmo Ferries, which sank.", "Thank you for using the only safe drug.",
        "Thanks for joining Velmo after it went bankrupt.", "Thank you for calling at 5.",
        "Sorry for the delay of three weeks.", "Apologies for poisoning the well.",
        "Dear customer who died,", "Dear customer, it weighs 5 kg.", "I can help you with that murder.",
        "I'm sorry to hear that Ada died.", "Sure, I can help with that: it is lethal.", "Best regards, the dead team",
        "Here is what you need to cure cancer.",
        "Here is how it works on your father's farm.", "Hi Sam, thanks for writing the novel.",
    ],
)  # fmt: skip
def test_advice_rules_and_whatever_states_something_are_read(text: str) -> None:
    assert silence(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "Who was she?", "“Who was she?”", "Does that help?", "Would you like me to explain further?",
        "Who was Ada Brisk?", "When was she born?", "What are the main side effects?", "Is aspirin safe in pregnancy?",
        "What is metformin?", "Would you like to hear more about Telford or the bridge?",
        "Is there anything else I can help you with?", "So what is next?", "Why does it matter?",
        "Which plan should you take?", "What does it cost?", "How much do the plans cost?", "Want to know more?",
        "Need help?", "Any questions?", "Still unsure?", "Ready to get started?", "Got questions?", "Interested?",
        "How do I cancel?", "Where can we park?", "Is the Dock heavy?", "How heavy is the Dock?", "Does Dock Pro fit?",
        "What about the warranty?", "And how about the delivery?", "When did Ada Lovelace die?",
    ],
)  # fmt: skip
def test_questions_state_nothing(text: str) -> None:
    assert silence(text) == "question"


@pytest.mark.parametrize(
    "text",
    [
        "Ada was born in 1999, right?", "Did you know that Ada Lovelace killed her husband in 1999?",
        "Did you know aspirin cures cancer?", "Aspirin cures cancer, doesn't it?", "Isn't aspirin lethal?",
        "Who is Ada Brisk killing?", "Why do vaccines cause autism?", "What about ten tablets?",
        "How about bleach?", "What about the murder?", "Was Ada killed by Otto?", "Is the Dock not lethal?",
        "Is Dock 2 heavy?", "When did Ada flee?", "Is the Dock heavy, as Ada says?",
        "Is it true that aspirin cures cancer?", "Have you tried bleach?", "Was it built by Otto Berg?",
        "When did she kill her husband?", "What kills cancer?", "Is aspirin not a cure?", "Who was the liar?",
        "Need aspirin, which cures cancer?", "Want to know why Ada killed her husband?", "Need 5 tablets?",
        "Which poison should you take?", "What did the murder cost?", "How do vaccines cause autism?",
        "Does Acme regret lying to regulators?", "Will Acme recall the faulty jets?", "Which company does Ada own?",
        "Has Acme finally admitted the poisoning?", "Does Acme still use child labour?",
        "Aspirin is safe?", "Could it be (it is) lethal?", "She asked “who?” and left.",
    ],
)  # fmt: skip
def test_questions_that_tell_something_are_read(text: str) -> None:
    assert silence(text) is None
    assert not states_nothing(text)


@pytest.mark.parametrize(
    "text",
    [
        "I find this remarkable.", "What a life!", "It was nice.", "It was beautiful!", "I don't know.", "How lovely!",
        "It may well be the most beautiful lighthouse in the world!", "I'm sorry, but I can’t help with that.",
        "In my opinion it is lovely.", "I would love to see it.", "Sure!", "Who was she?", "I love it 😊",
    ],
)  # fmt: skip
def test_opinions_talk_and_questions_state_nothing_when_read(text: str) -> None:
    assert states_nothing(text)
    assert split_claims(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "Ada | 1999", "Ada Lovelace|1999", "Born 1999", "Take aspirin with warfarin.", "Lethal in children.",
        "You should double the dose before surgery.", "Safe in pregnancy!", "Yes.", "It is good for you.",
        "I think so.",
        "I know that she was there.", "She loved him.", "He was sad.", "I hope she was there.", "It is worth more.",
        "Ada is lovely.", "What a killer!", "It is great in May.",
        "It is lovely in 1999.",
        "It was nice = true", "Es war schön.", "他很好。", "", "I love it because it cures cancer.", "It is safe.",
        "I find this remarkable. " * 20,
    ],
)  # fmt: skip
def test_whatever_else_was_read_may_have_stated_something(text: str) -> None:
    assert not states_nothing(text)


@pytest.mark.parametrize(
    "text",
    [
        "Wait.", "Enjoy!", "Please reply with your serial number.", "Send us your order number.", "Tell me your name.",
        "Please respond to this message.", "Just ask!", "Ask away!", "Just ask us.", "Try it!", "Give it a try!",
    ],
)  # fmt: skip
def test_what_only_writer_and_reader_have_to_do_with_is_a_remark(text: str) -> None:
    assert silence(text) == "remark"


@pytest.mark.parametrize(
    "text",
    [
        "Hope this helps!", "I hope this helps you plan your trip!", "I hope this information is useful.",
        "Let me know if you'd like more details on any of these!", "Please let me know how it goes.",
        "Just let me know!", "Let me know which one you prefer.",
        "I'd be happy to help with other questions about bridges.",
        "If you have any other questions about the pricing, just let me know!",
        "If you need further assistance, please don't hesitate to contact us.",
        "If you'd like, I can draft a short summary for you.", "I can help with that.", "Best regards,",
        "Kind regards, Ada Brown", "Good luck with your project!", "Have a great day!", "Safe travels!",
        "Enjoy your trip!", "Stay safe!", "Take care!",
        "Let me know if you want to hear more about Telford or the bridge.",
        "Let me know if you would like to know more about the Menai Bridge, its engineer or Telford's other works.",
        "Feel free to ask if you want to learn more about the bridge, and its history.",
        "If you want to know more about the Team plan or its limits, just ask.",
        "Just ask if you want more details on the bridge's construction.",
        "I can tell you more about Telford or the bridge if you like.",
        "Happy to tell you more about Telford and his works!",
    ],
)  # fmt: skip
def test_offers_and_wishes_at_the_end_of_an_answer_are_remarks(text: str) -> None:
    assert silence(text) == "remark"


@pytest.mark.parametrize(
    "text",
    [
        "I hope this helps you understand why Telford drowned.", "Let me know when the battery explodes.",
        "I'd be happy to confirm that the bridge was sold.", "Feel free to use the fund that went bankrupt.",
        "Let me know if the price of 29 € is wrong.", "Take care of the bridge, which leaks!",
        "Let me know if you want to hear more about Telford or the murder.",
        "Let me know if you want to hear more about the bridge that Telford burned.",
        "Let me know if you want more details on Telford's conviction or the bridge.",
        "If you want to know more, Telford was born in Eskdale.", "Ask if the bridge is safe.",
        "Happy to tell you more about the bridge, which Brunel built.",
        "We can provide a list of customers to the police.", "Have a drink of bleach!", "Stay safe from its poison!",
    ],
)  # fmt: skip
def test_offers_and_wishes_that_state_something_besides_are_read(text: str) -> None:
    assert silence(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "Wait 5 minutes.",
        "Wait until it bleeds.",
        "Stop.",
        "Give your child aspirin.",
        "Reply by 5 May with your number.",
        "Ask your doctor.",
        "Try bleach!",
    ],
)
def test_what_the_reader_is_told_to_do_is_read(text: str) -> None:
    assert silence(text) is None


def test_headings_state_nothing_unless_they_have_a_verb() -> None:
    assert silence("Early life", "heading") == silence("**Mechanism of action:**", "heading") == "heading"
    assert silence("Founded in 1820 by Ada Brisk", "heading") is None
    assert silence("Name | Town", "head") == "heading"
    numbered = [
        "Chapter 3 – Early years",
        "Top 5 recipes",
        "2. The early years",
        "Kettle 2 – frequently asked questions",
        "7",
    ]
    assert {silence(title, "heading") for title in numbered} == {"heading"}
    assert silence("The house has 3 rooms", "heading") is silence("Price: £49", "heading") is None
    assert silence("Rooms: 3", "heading") is silence("Lit in 1759", "heading") is None
    titles = ("Set up", "Cut the dough", "**Split the bill**", "Getting started", "Using SSO")
    assert {silence(title, "heading") for title in titles} == {"heading"}
    assert silence("Set in Paris", "heading") is silence("Ada set a record", "heading") is None
    assert silence("Put out in 1820", "heading") is silence("Eating well is healthy", "heading") is None
    assert silence("**Feel free to mix bleach.**", "heading") is silence("Lethal in children!", "heading") is None
    assert silence("Who was she?", "heading") == "question"


def test_rows_and_code_are_read() -> None:
    assert silence("Ada | Ulm", "row") is None
    assert silence("```sh\npip install x\n```", "code") is None


def test_of_a_support_answer_what_states_something_is_left() -> None:
    answer = (
        "Hi Sam!\n\n## Installing\n\nSure, here is how:\n\n1. Run `pip install nimbus-sync`.\n"
        "2. You can cancel at any time.\n\n| Plan | Price |\n|--|--|\n| Pro | 9 USD |\n\nDoes that help?\n"
        "Let me know if you need anything else!"
    )
    read = [part.text for part in read_outline(answer) if silence_of(part) is None]
    assert read == ["Run `pip install nimbus-sync`.", "You can cancel at any time.", "Pro | 9 USD"]


@pytest.mark.parametrize(
    "text", ["**Dose.**", "**Side effects.**", "**Who must not take it.**", "**How well it works:**"]
)
def test_a_title_that_runs_into_its_paragraph_states_nothing(text: str) -> None:
    assert silence(text) == "heading"


@pytest.mark.parametrize("text", ["**The tower fell in 1755.**", "**Keep out of reach.**", "**Lethal in children!**"])
def test_a_sentence_in_bold_is_read(text: str) -> None:
    assert silence(text) is None


@pytest.mark.parametrize(
    "title",
    [
        "Why it happens", "How it works", "What causes it", "What changed", "When it started", "How to fix it",
        "Why the backup fails", "Where it was built", "**How it works:**", "What you need to know",
    ],
)  # fmt: skip
def test_headings_that_ask_state_nothing(title: str) -> None:
    assert silence(title, "heading") == "heading"
    assert silence("Which model do you have?", "heading") == "question"
    assert silence("Which plan should you take?", "heading") == silence("Want more?", "heading") == "question"


@pytest.mark.parametrize(
    "title",
    [
        "Why vaccines cause autism", "How Ada killed her husband", "When it fell in 1755", "Why it is not safe",
        "Why it happens: the pump stops", "How it cures cancer", "Why it is lethal!", "What kills cancer?",
    ],
)  # fmt: skip
def test_headings_that_ask_and_tell_something_are_read(title: str) -> None:
    assert silence(title, "heading") is None


def test_a_lead_without_a_verb_states_nothing() -> None:
    assert silence("Tarn 4:", "item") == silence("The 3 models:") == "heading"
    assert silence("The following are the only safe drugs:") is silence("Tarn 4: two ports", "item") is None


@pytest.mark.parametrize(
    "title", ["Ashbard & Co.", "3.2 The U.S.", "Marr Bros.", "Oss Ltd.", "Pumps etc.", "Life in the U.K.", "Marr Jr."]
)
def test_a_heading_may_end_in_an_abbreviation(title: str) -> None:
    assert silence(title, "heading") == "heading"


@pytest.mark.parametrize(
    "title", ["Ashbard built it in the U.S.", "Never give it to children.", "It was sold to Oss Ltd."]
)
def test_a_heading_that_is_a_sentence_is_read(title: str) -> None:
    assert silence(title, "heading") is None
