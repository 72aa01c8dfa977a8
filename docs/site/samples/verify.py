import hashlib
import hmac
import time


def verify(body: bytes, signature: str, secret: str) -> bool:
    """Returns whether a delivery was signed with the endpoint's secret at most five minutes ago."""
    first, *others = signature.split(",")
    seconds = first.removeprefix("t=")
    message = seconds.encode() + b"." + body
    expected = hmac.new(secret.encode(), message, hashlib.sha256).hexdigest()
    given = [each.removeprefix("v1=") for each in others if each.startswith("v1=")]
    signed = any(hmac.compare_digest(expected, each) for each in given)
    return signed and abs(time.time() - int(seconds)) <= 300
