"""Serves a model with llama.cpp on the loopback until it is killed. With ANSWER, a grammar leaves the model no choice: whatever
it is asked, it says what stands in that file. Without it, the model can call tools, in the way of its chat template.

    python llama_server.py MODEL PORT [ANSWER]
"""

import json
import sys
import time

import xllamacpp

model, port, *answer = sys.argv[1:]
params = xllamacpp.CommonParams()
params.model.path = model
params.hostnames = ["127.0.0.1"]
params.port = int(port)
params.n_ctx = 32768
params.n_parallel = 1
params.cpuparams.n_threads = 1
params.warmup = False
for path in answer:
    with open(path) as file:
        grammar = "root ::= " + json.dumps(file.read())
    kind = xllamacpp.common_grammar_type.COMMON_GRAMMAR_TYPE_USER
    params.sampling.grammar = xllamacpp.CommonGrammar(kind, grammar)
server = xllamacpp.Server(params)
print("ready", flush=True)
while True:
    time.sleep(3600)
