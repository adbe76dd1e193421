"""The example agent behind an address: `python examples/agents/over_http.py 8765`."""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from answering import answer


class Handler(BaseHTTPRequestHandler):
    """Answers each question that is posted."""

    def do_POST(self) -> None:
        question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = json.dumps(answer(question)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        return None


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8765
    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    print(f"listening on http://127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()
