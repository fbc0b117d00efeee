"""Prints what aimock is to answer, as it wants it: the answer of a file, by the word that the request begins with.

    python answers.py ANSWER
"""

import json
import sys

with open(sys.argv[1]) as file:
    edit = file.read()
limited = {"message": "Rate limit", "type": "rate_limit_error", "code": "rate_limit_exceeded"}
fixtures = [
    {"match": {"userMessage": "PLAIN"}, "response": {"content": edit}},
    {"match": {"userMessage": "THINKING"}, "response": {"reasoning": "In French, then.", "content": edit}},
    {"match": {"userMessage": "TAGGED"}, "response": {"content": "<think>\nIn French, then.\n</think>\n\n" + edit}},
    {"match": {"userMessage": "CUT"}, "response": {"content": edit}, "truncateAfterChunks": 4},
    # An agent: it lists and reads at once, edits, and ends. The last result tells how far it is.
    {
        "match": {"userMessage": "AGENT", "hasToolResult": False},
        "response": {
            "toolCalls": [
                {"name": "list_files", "arguments": {}},
                {"name": "read_file", "arguments": {"path": "greet.py"}},
            ]
        },
    },
    {
        "match": {"toolResultContains": "def greet"},
        "response": {
            "toolCalls": [
                {
                    "name": "edit",
                    "arguments": {
                        "path": "greet.py",
                        "search": "    return \"hello\"\n",
                        "replace": "    return \"bonjour\"\n",
                    },
                }
            ]
        },
    },
    {"match": {"toolResultContains": "greet.py: edited"}, "response": {"content": "It greets in French."}},
    {"match": {"userMessage": "LIMITED"}, "response": {"error": limited, "status": 429}},
]
json.dump({"fixtures": fixtures}, sys.stdout, indent=1)
