"""The example agent as a command: a question as JSON on stdin, the answer as JSON on stdout."""

import json
import sys

from answering import answer

if __name__ == "__main__":
    if sys.argv[1:] == ["--lines"]:  # for `keep: true`: a line in, a line out, until stdin ends
        for line in sys.stdin:
            print(json.dumps(answer(json.loads(line))), flush=True)
    else:
        print(json.dumps(answer(json.load(sys.stdin))))
