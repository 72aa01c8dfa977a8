"""Runs the programs that it reads, with a `requests` that writes down what it is asked for."""
import io, json, os, sys, types

os.environ["API_KEY"] = "$API_KEY"
sent = []


class Answer:
    text = "{}"

    def raise_for_status(self):
        pass

    def json(self):
        return {"id": "id"}


def request(method, url, headers=None, json=None, data=None, timeout=None):
    assert timeout is not None
    body = data.read() if hasattr(data, "read") else data
    sent.append({"method": method, "url": url, "headers": headers or {}, "json": json, "data": repr(body) if body else None})
    return Answer()


sys.modules["requests"] = types.SimpleNamespace(request=request)
out, sys.stdout = sys.stdout, io.StringIO()
for source in json.load(sys.stdin):
    exec(compile(source, "sample", "exec"), {"open": lambda *_: io.BytesIO(b"file")})
out.write(json.dumps(sent))
