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
    {"match": {"userMessage": "LIMITED"}, "response": {"error": limited, "status": 429}},
]
json.dump({"fixtures": fixtures}, sys.stdout, indent=1)
