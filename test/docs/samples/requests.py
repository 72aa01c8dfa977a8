"""The part of `requests` that samples use, for machines without it."""
import json as text
import urllib.request


class Answer:
    def __init__(self, status, body):
        self.status_code = status
        self.text = body.decode()

    def raise_for_status(self):
        if self.status_code >= 400:
            raise RuntimeError(self.status_code)

    def json(self):
        return text.loads(self.text)


def request(method, url, headers, timeout, json=None):
    body = None if json is None else text.dumps(json).encode()
    typed = headers if json is None else {**headers, "Content-Type": "application/json"}
    asked = urllib.request.Request(url, body, typed, method=method)
    try:
        with urllib.request.urlopen(asked, timeout=timeout) as answer:
            return Answer(answer.status, answer.read())
    except urllib.error.HTTPError as error:
        return Answer(error.code, error.read())
