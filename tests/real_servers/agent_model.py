"""Writes a tiny language model that makes the calls of an agent loop, one in each step, and ends it with a text.

    python agent_model.py FILE

Its blocks do nothing, and each token has one successor. The chat template ends with a token for the step, which is the number
of results so far; the answer of the step follows it.
"""

import json
import sys
import numpy
from gguf import GGUFWriter, TokenType

WIDTH = 512

CALLS = [
    ("read_file", {"path": "greet.py"}),
    ("grep", {"pattern": "hello"}),
    ("edit", {"path": "greet.py", "search": '    return "hello"', "replace": '    return "bonjour"'}),
]
ANSWERS = [f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>" for name, arguments in CALLS]
ANSWERS.append("It greets in French now.")

# The format of Hermes and Qwen, which many models use.
TEMPLATE = """\
{%- if tools %}<|im_start|>system
{{ messages[0].content if messages[0].role == 'system' }}
# Tools
<tools>
{%- for tool in tools %}
{{ tool | tojson }}
{%- endfor %}
</tools>
For each call, write a JSON object within <tool_call></tool_call> tags:
<tool_call>
{"name": <function-name>, "arguments": <args-json-object>}
</tool_call><|im_end|>
{% endif %}
{%- for message in messages %}
{%- if message.role == 'user' or (message.role == 'system' and not (tools and loop.first)) %}<|im_start|>{{ message.role }}
{{ message.content }}<|im_end|>
{% elif message.role == 'assistant' %}<|im_start|>assistant
{{ message.content or '' }}
{%- for call in message.tool_calls or [] %}
{%- set call = call.function or call %}
<tool_call>
{"name": "{{ call.name }}", "arguments": {{ call.arguments if call.arguments is string else call.arguments | tojson }}}
</tool_call>
{%- endfor %}<|im_end|>
{% elif message.role == 'tool' %}<|im_start|>user
<tool_response>
{{ message.content }}
</tool_response><|im_end|>
{% endif %}
{%- endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
<|step {{ messages | selectattr('role', 'equalto', 'tool') | list | length }}|>
{%- endif %}"""

tokens = ["<unk>", "<s>", "<|im_end|>", "<|im_start|>"] + [f"<0x{byte:02X}>" for byte in range(256)] + ["▁"]
kinds = [TokenType.UNKNOWN] + [TokenType.CONTROL] * 3 + [TokenType.BYTE] * 256 + [TokenType.NORMAL]
successors = {}


def pieces(text, used):
    """Cuts a text into pieces, each of which is there once, as a token has one successor. None if that is not possible."""
    for size in range(4, len(text) + 1):
        piece, rest = text[:size], text[size:]
        if piece not in used:
            following = pieces(rest, used | {piece}) if rest else []
            if following is not None:
                return [piece] + following
    return None


for step, answer in enumerate(ANSWERS):
    chain = [f"<|step {step}|>"] + pieces(answer.replace(" ", "▁"), set(tokens))
    first = len(tokens)
    tokens += chain
    kinds += [TokenType.CONTROL] + [TokenType.NORMAL] * (len(chain) - 1)
    for token in range(first, len(tokens)):
        successors[token] = token + 1 if token + 1 < len(tokens) else tokens.index("<|im_end|>")

writer = GGUFWriter(sys.argv[1], "llama")
writer.add_context_length(32768)
writer.add_embedding_length(WIDTH)
writer.add_block_count(1)
writer.add_feed_forward_length(WIDTH)
writer.add_head_count(1)
writer.add_head_count_kv(1)
writer.add_layer_norm_rms_eps(1e-5)
writer.add_rope_dimension_count(WIDTH)
writer.add_tokenizer_model("llama")
writer.add_token_list(tokens)
writer.add_token_scores([0.0] * len(tokens))
writer.add_token_types(kinds)
writer.add_bos_token_id(1)
writer.add_eos_token_id(2)
writer.add_unk_token_id(0)
writer.add_chat_template(TEMPLATE)


def add(name, values):
    writer.add_tensor(name, values.astype(numpy.float32))


# The embedding of a token has one number that is not zero; the output weights map it to the successor.
embedding = numpy.zeros((len(tokens), WIDTH))
output = numpy.zeros((len(tokens), WIDTH))
for number, (token, successor) in enumerate(successors.items()):
    embedding[token, number] = 1
    output[successor, number] = 10
add("token_embd.weight", embedding)
add("output_norm.weight", numpy.ones(WIDTH))
add("output.weight", output)
for name in ["attn_norm", "ffn_norm"]:
    add(f"blk.0.{name}.weight", numpy.ones(WIDTH))
for name in ["attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"]:
    add(f"blk.0.{name}.weight", numpy.zeros((WIDTH, WIDTH)))

writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()
