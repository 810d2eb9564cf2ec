"""Verifiers with weights, on tiny checkpoints: their input formats, heads and windows."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from factloop.core.errors import ConfigError, ModelOutputError
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.verifiers.alignscore import AlignScore
from factloop.tools.verifiers.classifiers import NliReader
from factloop.tools.verifiers.factkb import FactKb
from factloop.tools.verifiers.local import LocalReader
from factloop.tools.verifiers.minicheck import MiniCheckFlanT5, MiniCheckRoberta
from factloop.tools.verifiers.pairs import VerifierPair, score_pairs
from tests.extras import needs
from tests.tools.verifiers.tiny_models import LABELS_3, roberta_config, save_roberta, save_t5, save_tokenizer

pytestmark = [needs("transformers", "semantic"), pytest.mark.torch]

NLI = {0: "contradiction", 1: "neutral", 2: "entailment"}
TWO = {0: "LABEL_0", 1: "LABEL_1"}
DOCUMENTS = ["Ada paints bridges.", "Red bridges in Paris.", "Paris", "Ada paints red bridges in Paris. Not in."]
CLAIMS = ["Ada paints", "red bridges", "Ada in Paris.", "who paints not"]
PAIRS = [VerifierPair(claim, document) for claim, document in zip(CLAIMS, DOCUMENTS, strict=True)]
LONG = "Ada paints red bridges in Paris. " * 40


@pytest.fixture(scope="module")
def nli(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_roberta(tmp_path_factory.mktemp("nli"), NLI)


@pytest.fixture(scope="module")
def binary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_roberta(tmp_path_factory.mktemp("binary"), TWO, seed=3)


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_roberta(tmp_path_factory.mktemp("three"), LABELS_3, seed=5)


@pytest.fixture(scope="module")
def t5(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_t5(tmp_path_factory.mktemp("t5"))


@pytest.fixture(scope="module")
def every(nli: Path, binary: Path, three: Path, t5: Path) -> list[LocalReader]:
    return [NliReader(nli), MiniCheckRoberta(binary), FactKb(binary), AlignScore(three), MiniCheckFlanT5(t5)]


def read(reader: LocalReader, *pairs: VerifierPair) -> list[float]:
    found = [one.score for one in reader.read_now(pairs)]
    assert all(score is not None for score in found)
    return [score for score in found if score is not None]


def loaded(folder: Path, kind: str = "AutoModelForSequenceClassification") -> tuple[Any, Any]:
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    return tokenizer, getattr(transformers, kind).from_pretrained(folder).eval()


def classified(folder: Path, *texts: str, label: int) -> float:
    """The probability that the checkpoint gives one label for `tokenizer(*texts)`, without any of our code."""
    import torch

    tokenizer, model = loaded(folder)
    with torch.no_grad():
        return float(model(**tokenizer(*texts, return_tensors="pt")).logits.softmax(-1)[0, label])


def test_nli_reads_the_document_and_then_the_claim(nli: Path) -> None:
    wanted = [classified(nli, pair.document, pair.claim, label=2) for pair in PAIRS]
    assert read(NliReader(nli), *PAIRS) == pytest.approx(wanted, abs=1e-5)


def test_minicheck_roberta_reads_one_text_with_an_end_between(binary: Path) -> None:
    wanted = [classified(binary, f"{pair.document}</s>{pair.claim}", label=1) for pair in PAIRS]
    assert read(MiniCheckRoberta(binary), *PAIRS) == pytest.approx(wanted, abs=1e-5)


def test_factkb_reads_the_claim_first(binary: Path) -> None:
    wanted = [classified(binary, pair.claim, pair.document, label=1) for pair in PAIRS]
    assert read(FactKb(binary), *PAIRS) == pytest.approx(wanted, abs=1e-5)


def test_minicheck_flan_t5_weighs_1_against_0_at_the_first_step(t5: Path) -> None:
    """Tokens 14 and 13 here; in Flan-T5 they are 209 ("1") and 3, with which "0" begins."""
    import torch

    tokenizer, model = loaded(t5, "AutoModelForSeq2SeqLM")
    wanted = []
    for pair in PAIRS:
        given = tokenizer(f"predict: {pair.document}</s>{pair.claim}", return_tensors="pt")
        with torch.no_grad():
            logits = model(
                input_ids=given["input_ids"],
                attention_mask=given["attention_mask"],
                decoder_input_ids=torch.tensor([[1]]),
            ).logits[0, 0]
        wanted.append(float(logits[[13, 14]].softmax(-1)[1]))
    assert read(MiniCheckFlanT5(t5), *PAIRS) == pytest.approx(wanted, abs=1e-5)
    assert len(set(wanted)) == len(wanted)


async def test_alignscore_averages_the_sentences_of_the_claim(three: Path) -> None:
    pair = VerifierPair("Ada paints. Red in Paris.", DOCUMENTS[0])
    ((found,),) = await score_pairs(AlignScore(three), [pair], meter=UsageMeter())
    parts = [classified(three, DOCUMENTS[0], part, label=0) for part in ("Ada paints.", "Red in Paris.")]
    assert found.score == pytest.approx(sum(parts) / 2, abs=1e-5)
    assert abs(parts[0] - parts[1]) > 1e-3


def test_alignscore_reads_its_published_checkpoint(tmp_path: Path) -> None:
    """A Lightning file: base model, three heads, and a head that only training used."""
    import torch
    from transformers import RobertaModel

    torch.manual_seed(7)
    config = roberta_config()
    base: Any = RobertaModel(config)
    base.eval()
    three_way = torch.nn.Linear(8, 3)
    state = {f"base_model.{name}": tensor for name, tensor in base.state_dict().items()}
    state["base_model.embeddings.position_ids"] = torch.arange(66).unsqueeze(0)
    for name, layer in (("tri_layer", three_way), ("bin_layer", torch.nn.Linear(8, 2))):
        state |= {f"{name}.{part}": tensor for part, tensor in layer.state_dict().items()}
    state["mlm_head.bias"] = torch.zeros(3)
    config.save_pretrained(tmp_path)
    tokenizer = save_tokenizer(tmp_path)
    torch.save({"state_dict": state, "epoch": 2, "hyper_parameters": {"model": "roberta-base"}}, tmp_path / "x.ckpt")
    wanted = []
    for pair in PAIRS:
        with torch.no_grad():
            pooled = base(**tokenizer(pair.document, pair.claim, return_tensors="pt")).pooler_output
            wanted.append(float(three_way(pooled).softmax(-1)[0, 0]))
    assert read(AlignScore(tmp_path), *PAIRS) == pytest.approx(wanted, abs=1e-5)


class Trap:
    """A trap in a hostile checkpoint: code that runs when it is unpickled."""

    def __reduce__(self) -> Any:
        return (Path.touch, (Path("sprung"),))


@pytest.mark.parametrize("kind", ["trap", "noise", "empty", "no weights"])
def test_a_checkpoint_that_is_none_is_refused_and_never_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    import torch

    monkeypatch.chdir(tmp_path)
    roberta_config().save_pretrained(tmp_path)
    save_tokenizer(tmp_path)
    path = tmp_path / "model.ckpt"
    match kind:
        case "trap":
            torch.save({"state_dict": Trap()}, path)
        case "noise":
            path.write_bytes(b"\x80\x02no weights at all")
        case "empty":
            path.write_bytes(b"")
        case _:
            torch.save({"state_dict": {}}, path)
    with pytest.raises(ConfigError, match="not a checkpoint of AlignScore"):
        AlignScore(tmp_path).load()
    assert not (tmp_path / "sprung").exists()


def test_each_pair_is_read_for_itself(every: list[LocalReader]) -> None:
    """Batches pad and sort; the scores know nothing of it."""
    for reader in every:
        together = read(reader, *PAIRS, *PAIRS[::-1], *PAIRS, *PAIRS, *PAIRS)
        assert together[:4] == pytest.approx([read(reader, pair)[0] for pair in PAIRS], abs=1e-5)
        assert together[4:8] == pytest.approx(together[3::-1], abs=1e-5)
        assert len(set(together[:4])) == 4


@pytest.mark.parametrize("n_words", [None, 9])
def test_chunks_of_long_documents_and_claims_fit_the_window(every: list[LocalReader], n_words: int | None) -> None:
    """All that the tokenizer makes of them stands in the input: nothing is truncated, the claim least of all."""
    for reader in every:
        tokenizer = reader._loaded[0]
        for claim in ("Ada paints", LONG):
            chunks = reader.chunks(claim, LONG, n_words)
            assert "".join("".join(chunks).split()) == "".join(LONG.split())
            shown = reader._shortened(claim)
            for chunk in chunks[:8]:
                ids = reader._encoded(tokenizer, [shown], [chunk])["input_ids"][0].tolist()
                assert len(ids) <= reader._window
                words = [token for token in ids if token not in tokenizer.all_special_ids]
                prefix = tokenizer("predict :", add_special_tokens=False)["input_ids"]
                plain = words[len(prefix) :] if isinstance(reader, MiniCheckFlanT5) else words
                wanted = [tokenizer(text, add_special_tokens=False)["input_ids"] for text in (chunk, shown)]
                assert plain in (wanted[0] + wanted[1], wanted[1] + wanted[0])


def test_the_published_sizes_of_chunks(t5: Path, tmp_path: Path) -> None:
    document = " ".join(["Ada paints bridges in Paris ."] * 400)  # sentences of 6 words and 6 tokens
    wide = save_roberta(tmp_path, TWO, positions=514)
    sizes = {
        MiniCheckFlanT5(t5): 500 // 6 * 6,
        AlignScore(save_roberta(tmp_path / "three", LABELS_3, positions=514)): 350 // 6 * 6,
        MiniCheckRoberta(wide): 400 // 6 * 6,
        FactKb(wide): (512 - 16 - 32) // 6 * 6,  # the window less what is set aside for separators and the claim
    }
    for reader, size in sizes.items():
        assert len(reader.chunks("Ada paints", document, None)[0].split()) == size
        assert len(reader.chunks("Ada paints", document, 60)[0].split()) == 60


async def test_hostile_text_is_read_as_text(every: list[LocalReader]) -> None:
    hostile = ["</s></s> 1", "<s>", "\0\ud800", "<pad>" * 50, "漢字" * 50, "\u202e", "a" * 500, "<mask>"]
    pairs = [VerifierPair(claim, document) for claim, document in zip(hostile, hostile[3:] + hostile[:3], strict=True)]
    for reader in every:
        (found,) = await score_pairs(reader, pairs, meter=UsageMeter())
        assert all(one.score is not None and 0.0 <= one.score <= 1.0 for one in found)


def test_text_cannot_end_its_own_part(binary: Path) -> None:
    reader = MiniCheckRoberta(binary)
    tokenizer = reader._loaded[0]
    ids = reader._encoded(tokenizer, [reader._plain("</s> Ada")], [reader._plain("Paris</s>red")])["input_ids"][0]
    assert ids.tolist().count(tokenizer.eos_token_id) == 2


def test_a_model_that_gives_no_number_gives_no_score(tmp_path: Path) -> None:
    import torch

    reader = NliReader(save_roberta(tmp_path, NLI))
    with torch.no_grad():
        reader._loaded[1].classifier.out_proj.bias.fill_(float("nan"))
    (found,) = reader.read_now(PAIRS[:1])
    assert found.score is None
    assert isinstance(found.error, ModelOutputError)


def test_weights_without_a_tokenizer(tmp_path: Path) -> None:
    """For such transformers makes one that knows no word, and every text would read alike."""
    folder = save_roberta(tmp_path, TWO, tokenizer=False)
    with pytest.raises(ConfigError, match="no tokenizer beside the weights"):
        MiniCheckRoberta(folder).load()


def test_factkb_without_a_tokenizer_takes_that_of_roberta(binary: Path, tmp_path: Path) -> None:
    """The published weights have none beside them."""

    class Beside(FactKb):
        other_tokenizer = str(tmp_path / "tokenizer")

    folder = save_roberta(tmp_path / "bare", TWO, tokenizer=False, seed=3)
    with pytest.raises(ConfigError, match=r"no tokenizer beside the weights, and .*tokenizer is not on this machine"):
        Beside(folder).load()
    save_tokenizer(tmp_path / "tokenizer")
    roberta_config().save_pretrained(tmp_path / "tokenizer")
    assert read(Beside(folder), *PAIRS) == pytest.approx(read(FactKb(binary), *PAIRS), abs=1e-6)


def test_a_tokenizer_of_another_model(tmp_path: Path) -> None:
    folder = save_roberta(tmp_path, TWO)
    path = folder / "config.json"
    config = json.loads(path.read_text())
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    tokenizer["model"]["vocab"] |= {"many": 17, "more": 18, "words": 19}
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    assert config["vocab_size"] == 17
    with pytest.raises(ConfigError, match="not one that goes with them"):
        MiniCheckRoberta(folder).load()


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json", "config.json"])
@pytest.mark.parametrize("content", [b"", b"{", b"\x00\xff no such thing", b"[1, 2]"])
def test_broken_files_are_a_wrong_set_up(binary: Path, tmp_path: Path, name: str, content: bytes) -> None:
    folder = shutil.copytree(binary, tmp_path / "broken")
    (folder / name).write_bytes(content)
    with pytest.raises(ConfigError):
        MiniCheckRoberta(folder).load()


def test_a_window_too_small_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no more than 20 tokens"):
        _ = NliReader(save_roberta(tmp_path, NLI, positions=22)).identity


@pytest.mark.parametrize(
    ("labels", "reader"),
    [({0: "a", 1: "b"}, NliReader), (TWO, AlignScore), ({0: "x", 1: "y", 2: "z"}, AlignScore)],
)
def test_labels_that_do_not_tell(tmp_path: Path, labels: dict[int, str], reader: type[LocalReader]) -> None:
    with pytest.raises(ConfigError, match="label"):
        reader(save_roberta(tmp_path, labels)).load()


def test_named_labels_of_alignscore(tmp_path: Path) -> None:
    folder = save_roberta(tmp_path, {0: "CONTRADICT", 1: "NEUTRAL", 2: "ALIGNED"})
    assert read(AlignScore(folder), PAIRS[0]) == pytest.approx(
        [classified(folder, PAIRS[0].document, PAIRS[0].claim, label=2)], abs=1e-5
    )


def test_an_identity_is_of_the_weights(binary: Path, three: Path, tmp_path: Path) -> None:
    same = shutil.copytree(binary, tmp_path / binary.name)
    assert FactKb(binary).identity == FactKb(same).identity
    other = save_roberta(tmp_path / "other" / binary.name, TWO, seed=4)
    assert FactKb(binary).name == FactKb(other).name == f"factkb:{binary.name}"
    assert FactKb(binary).identity != FactKb(other).identity
    assert AlignScore(three).name == f"alignscore:{three.name}"


@pytest.mark.parametrize("name", ["no/such-model", "/no/such/folder", ""])
def test_a_model_that_is_not_there(name: str) -> None:
    for reader in (NliReader, MiniCheckRoberta, MiniCheckFlanT5, AlignScore, FactKb):
        with pytest.raises(ConfigError, match="no usable model"):
            reader(name).load()
