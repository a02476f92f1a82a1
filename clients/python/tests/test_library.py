"""What the conformance suite cannot see: it only speaks JSON."""

import json
import pickle
import unittest
from email.message import Message
from unittest import mock

import postrider
from postrider import _transport

SECRET = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
BODY = '{"test": 2432232314}'
SIGNED = {
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
}


class Headers(unittest.TestCase):
    def verified(self, headers, payload=BODY):
        return postrider.verify_webhook(
            payload, headers, SECRET, tolerance=1e10
        )

    def test_pairs(self):
        self.assertEqual(self.verified(list(SIGNED.items())).raw["test"], 2432232314)

    def test_pairs_of_bytes_as_asgi_has_them(self):
        pairs = [(k.encode(), v.encode()) for k, v in SIGNED.items()]
        self.assertEqual(self.verified(pairs).raw["test"], 2432232314)

    def test_message_as_http_server_has_it(self):
        message = Message()
        for name, value in SIGNED.items():
            message[name.title()] = value
        self.assertEqual(self.verified(message).raw["test"], 2432232314)

    def test_bytearray(self):
        payload = bytearray(BODY.encode())
        self.assertEqual(self.verified(SIGNED, payload).raw["test"], 2432232314)


class Tolerance(unittest.TestCase):
    def test_that_is_no_number_lets_nothing_pass(self):
        with self.assertRaises(postrider.WebhookVerificationError) as caught:
            postrider.verify_webhook(
                BODY, SIGNED, SECRET, tolerance=float("nan")
            )
        self.assertEqual(caught.exception.code, "timestamp_too_old")


class Errors(unittest.TestCase):
    def test_can_be_pickled(self):
        error = postrider.RateLimitError(
            "slow down", code="rate_limited", status=429, retry_after=7
        )
        copy = pickle.loads(pickle.dumps(error))
        self.assertEqual(vars(copy), vars(error))
        self.assertEqual(str(copy), "slow down")

    def test_one_base_class(self):
        for name in postrider.__all__:
            if name.endswith("Error"):
                kind = getattr(postrider, name)
                self.assertTrue(issubclass(kind, postrider.PostriderError))


class Options(unittest.TestCase):
    def test_timeouts_that_are_none(self):
        for timeout in (None, float("nan"), float("inf"), -1):
            with self.assertRaises(postrider.PostriderError) as caught:
                postrider.Postrider("pr_k", "http://127.0.0.1", timeout=timeout)
            self.assertEqual(caught.exception.code, "invalid_option")

    def test_an_attempt_may_take_30_s(self):
        client = postrider.Postrider("pr_k", "http://127.0.0.1", max_retries=0)
        with mock.patch.object(_transport, "exchange") as exchange:
            exchange.side_effect = TimeoutError()
            with self.assertRaisesRegex(postrider.NetworkError, "within 30 s"):
                client.health()
        self.assertEqual(exchange.call_args.args[3], 30.0)

    def test_https_has_its_port(self):
        client = postrider.Postrider("pr_k", "https://mail.example.com/v1/")
        self.assertEqual(repr(client), "<Postrider at mail.example.com:443/v1>")


class Sending(unittest.TestCase):
    def sent(self, **more):
        client = postrider.Postrider("pr_k", "http://127.0.0.1", max_retries=0)
        with mock.patch.object(_transport, "exchange") as exchange:
            exchange.side_effect = TimeoutError()
            with self.assertRaises(postrider.NetworkError):
                client.emails.send(
                    from_="a@b.c", to=("d@e.f",), subject="S", **more
                )
        _, _, _, body = exchange.call_args.args[4]
        return body

    def test_bytes_of_all_kinds_and_base64(self):
        content = b"\x00\xff\xfe"
        kinds = [content, bytearray(content), memoryview(content), "AP/+"]
        body = self.sent(
            attachments=tuple(postrider.Attachment("a", each) for each in kinds)
        )
        self.assertEqual(
            json.loads(body)["attachments"],
            [{"filename": "a", "content": "AP/+"}] * 4,
        )

    def test_what_is_no_attachment_is_refused(self):
        dict_of_fields = {"filename": "a", "content": b"text"}
        for given in (postrider.Attachment("a", 17), dict_of_fields):
            client = postrider.Postrider("pr_k", "http://127.0.0.1:1")
            with self.assertRaises(postrider.PostriderError) as caught:
                client.emails.send(
                    from_="a", to="b", subject="S", attachments=[given]
                )
            self.assertEqual(caught.exception.code, "invalid_argument")

    def test_the_content_is_not_shown(self):
        self.assertEqual(
            repr(postrider.Attachment("a.txt", b"secret")),
            "Attachment(filename='a.txt', content_type=None, content_id=None)",
        )

    def test_without_new_fields_the_bytes_are_the_same_as_before(self):
        self.assertEqual(
            self.sent(text="T", data={"reply_to": 1}),
            b'{"from": "a@b.c", "to": ["d@e.f"], "subject": "S",'
            b' "text": "T", "data": {"reply_to": 1}}',
        )


class Models(unittest.TestCase):
    def test_can_be_made_without_the_fields_of_later_versions(self):
        email = postrider.Email("1", "2", "queued", "a", "b", "S", "", [])
        self.assertIsNone(email.tags)


class Jitter(unittest.TestCase):
    def test_is_added_and_never_taken_away(self):
        error = postrider.ServerError("no", status=500)
        for drawn, expected in ((0.0, 0.25), (0.5, 0.275)):
            with mock.patch("random.random", return_value=drawn):
                self.assertAlmostEqual(
                    _transport._wait_before(1, error), expected
                )


if __name__ == "__main__":
    unittest.main()
