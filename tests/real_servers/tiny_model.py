"""Writes a tiny language model of random numbers: every byte is a token of its own, and nothing that it says has a meaning.

    python tiny_model.py FILE
"""

import sys
import numpy
from gguf import GGUFWriter, TokenType

WIDTH, INNER, BLOCKS, HEADS = 64, 128, 2, 4

writer = GGUFWriter(sys.argv[1], "llama")
writer.add_context_length(32768)
writer.add_embedding_length(WIDTH)
writer.add_block_count(BLOCKS)
writer.add_feed_forward_length(INNER)
writer.add_head_count(HEADS)
writer.add_head_count_kv(HEADS)
writer.add_layer_norm_rms_eps(1e-5)
writer.add_rope_dimension_count(WIDTH // HEADS)

tokens = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)] + list("▁etaoinshr")
kinds = [TokenType.UNKNOWN, TokenType.CONTROL, TokenType.CONTROL] + [TokenType.BYTE] * 256 + [TokenType.NORMAL] * 10
writer.add_tokenizer_model("llama")
writer.add_token_list(tokens)
writer.add_token_scores([0.0] * len(tokens))
writer.add_token_types(kinds)
writer.add_bos_token_id(1)
writer.add_eos_token_id(2)
writer.add_unk_token_id(0)
writer.add_chat_template("{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}assistant:")

random = numpy.random.default_rng(1)


def add(name, *shape):
    writer.add_tensor(name, (random.standard_normal(shape) * 0.08).astype(numpy.float32))


add("token_embd.weight", len(tokens), WIDTH)
add("output_norm.weight", WIDTH)
add("output.weight", len(tokens), WIDTH)
for block in range(BLOCKS):
    for name in ["attn_norm", "ffn_norm"]:
        add(f"blk.{block}.{name}.weight", WIDTH)
    for name in ["attn_q", "attn_k", "attn_v", "attn_output"]:
        add(f"blk.{block}.{name}.weight", WIDTH, WIDTH)
    for name in ["ffn_gate", "ffn_up"]:
        add(f"blk.{block}.{name}.weight", INNER, WIDTH)
    add(f"blk.{block}.ffn_down.weight", WIDTH, INNER)

writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()
