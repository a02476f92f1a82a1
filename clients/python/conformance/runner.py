"""The runner of the conformance suite (clients/conformance/README.md): a call per line, a thread each."""

import base64
import dataclasses
import json
import keyword
import sys
import threading
import traceback
from datetime import datetime, timedelta, timezone

import postrider

printing = threading.Lock()


def plain(value):
    """A result as the API writes it."""
    if dataclasses.is_dataclass(value):
        fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        fields.pop("raw", None)
        return {name.rstrip("_"): plain(part) for name, part in fields.items()}
    if isinstance(value, list):
        return [plain(part) for part in value]
    return value


def client_of(options):
    names = ["api_key", "base_url", "max_retries"]
    given = {name: options[name] for name in names if name in options}
    if "timeout_ms" in options:
        given["timeout"] = options["timeout_ms"] / 1000
    return postrider.Postrider(**given)


def verify(args):
    more = {}
    if "tolerance_seconds" in args:
        more["tolerance"] = args["tolerance_seconds"]
    if "payload_base64" in args:
        payload = base64.b64decode(args["payload_base64"])
    else:
        payload = args.get("payload", args.get("payload_parsed"))
    return postrider.verify_webhook(
        payload, args["headers"], args["secret"], **more
    )


def attachment(given):
    fields = dict(given)
    if "content_bytes" in fields:
        fields["content"] = base64.b64decode(fields.pop("content_bytes"))
    return postrider.Attachment(**fields)


def time_of(given):
    zone = timezone(timedelta(minutes=given["offset_minutes"]))
    epoch = datetime(1970, 1, 1, tzinfo=timezone.utc)
    return (epoch + timedelta(milliseconds=given["unix_ms"])).astimezone(zone)


def email(given):
    """The arguments of emails.send, and those of other calls that are alike."""
    fields = dict(given)
    if "send_at_time" in fields:
        fields["send_at"] = time_of(fields.pop("send_at_time"))
    if "from" in fields:
        fields["from_"] = fields.pop("from")
    if "attachments" in fields:
        fields["attachments"] = [attachment(each) for each in fields["attachments"]]
    return fields


def run(order):
    method, args = order["call"]["method"], email(order["call"]["args"])
    if method == "verify_webhook":
        return verify(args)
    client = client_of(order["options"])
    if method == "inspect":
        parts = [client, client.emails, vars(client), vars(client.emails)]
        return " ".join(repr(part) for part in parts)
    if "emails" in args:
        args["emails"] = [email(each) for each in args["emails"]]
    target = client
    for name in method.split("."):
        # A keyword of the language has a line below it.
        target = getattr(target, f"{name}_" if keyword.iskeyword(name) else name)
    # Ids come first in every call that has one.
    ids = [args.pop("id")] if "id" in args else []
    return target(*ids, **args)


def caught(error):
    return {
        "class": type(error).__name__,
        "base": isinstance(error, postrider.PostriderError),
        "status": getattr(error, "status", None),
        "code": getattr(error, "code", None),
        "message": getattr(error, "message", str(error)),
        "request_id": getattr(error, "request_id", None),
        "timeout": getattr(error, "timeout", None),
        "index": getattr(error, "index", None),
        "retry_after": getattr(error, "retry_after", None),
        "domain": getattr(error, "domain", None),
        "check": plain(getattr(error, "check", None)),
        "text": "".join(traceback.format_exception(error)) + repr(error),
    }


def answer(order):
    try:
        outcome = {"result": plain(run(order))}
    except Exception as error:
        outcome = {"error": caught(error)}
    with printing:
        print(json.dumps({"name": order["name"], **outcome}), flush=True)


threads = []
for line in sys.stdin:
    threads.append(threading.Thread(target=answer, args=[json.loads(line)]))
    threads[-1].start()
for thread in threads:
    thread.join()
