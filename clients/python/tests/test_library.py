"""What the conformance suite cannot see: it only speaks JSON."""

import json
import pickle
import unittest
from datetime import datetime, timedelta, timezone
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


class Requests(unittest.TestCase):
    def requested(self, call):
        """Path and body of the one request of a call."""
        client = postrider.Postrider("pr_k", "http://127.0.0.1", max_retries=0)
        with mock.patch.object(_transport, "exchange") as exchange:
            exchange.side_effect = TimeoutError()
            with self.assertRaises(postrider.NetworkError):
                call(client)
        _, path, _, body = exchange.call_args.args[4]
        return path, body

    def refused(self, call):
        """The message of the error of a call that sends nothing."""
        client = postrider.Postrider("pr_k", "http://127.0.0.1:1")
        with self.assertRaises(postrider.PostriderError) as caught:
            call(client)
        self.assertEqual(caught.exception.code, "invalid_argument")
        return caught.exception.message


class Sending(Requests):
    def sent(self, **more):
        _, body = self.requested(
            lambda client: client.emails.send(
                from_="a@b.c", to=("d@e.f",), subject="S", **more
            )
        )
        return body

    def test_data_that_is_no_json(self):
        itself = {}
        itself["itself"] = itself
        for value in (object(), float("nan"), datetime.now(), "\ud800", itself):
            message = self.refused(
                lambda client: client.emails.send(
                    from_="a@b.c",
                    to="d@e.f",
                    subject="S",
                    template_id="1",
                    data={"value": value},
                )
            )
            self.assertIn("cannot be written as JSON", message)

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
            self.refused(
                lambda client: client.emails.send(
                    from_="a", to="b", subject="S", attachments=[given]
                )
            )

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


    def test_an_email_of_a_batch_is_the_same_as_a_single_one(self):
        email = {
            "from_": "a@b.c",
            "to": ("d@e.f",),
            "subject": "S",
            "cc": "g@h.i",
            "tags": {"kind": "x"},
            "attachments": [postrider.Attachment("a", b"text")],
            "send_at": datetime(2026, 12, 24, 17, tzinfo=timezone.utc),
        }
        single = self.requested(lambda client: client.emails.send(**email))
        batch = self.requested(lambda client: client.emails.send_batch([email]))
        self.assertEqual(batch, ("/emails/batch", b'{"emails": [%s]}' % single[1]))

    def test_what_is_no_email_of_a_batch_is_refused_with_its_place(self):
        good = {"from_": "a@b.c", "to": "d@e.f"}
        for bad, message in (
            ({**good, "idempotency_key": "k"}, "has an idempotency_key"),
            ({**good, "subjct": "S"}, "unknown field: 'subjct'"),
            ({"from_": "a@b.c"}, "has no to"),
            ("d@e.f", "is not a dict"),
        ):
            said = self.refused(
                lambda client: client.emails.send_batch([good, bad])
            )
            self.assertRegex(said, r"^emails\[1\] ")
            self.assertIn(message, said)


class Times(Requests):
    def moved(self, time):
        _, body = self.requested(
            lambda client: client.submissions.move("1", send_at=time)
        )
        return json.loads(body)["send_at"]

    def test_are_sent_in_utc_with_milliseconds(self):
        winter = timezone(timedelta(hours=1))
        for time, expected in (
            (datetime(2026, 12, 24, 18, tzinfo=winter), "2026-12-24T17:00:00.000Z"),
            (
                datetime(2026, 1, 1, 0, 30, 1, 999_999, tzinfo=winter),
                "2025-12-31T23:30:01.999Z",
            ),
            ("tomorrow", "tomorrow"),
        ):
            self.assertEqual(self.moved(time), expected)

    def test_without_a_zone_are_refused(self):
        late = datetime.max.replace(tzinfo=timezone(timedelta(hours=-1)))
        no_times = (datetime(2026, 12, 24), late, 1_800_000_000)
        for time in no_times:
            for call in (
                lambda client: client.emails.send(from_="a", to="b", send_at=time),
                lambda client: client.submissions.move("1", send_at=time),
            ):
                self.assertIn("send_at is a datetime", self.refused(call))

    def test_limit_searches_and_figures(self):
        time = datetime(2026, 11, 1, tzinfo=timezone.utc)
        text = "2026-11-01T00%3A00%3A00.000Z"
        for call, expected in (
            (
                lambda client: client.emails.list(
                    created_after=time, created_before=time
                ),
                f"/emails?created_after={text}&created_before={text}",
            ),
            (
                lambda client: client.stats(from_=time, to=time),
                f"/stats?from={text}&to={text}",
            ),
        ):
            self.assertEqual(self.requested(call), (expected, None))


class Models(unittest.TestCase):
    def test_can_be_made_without_the_fields_of_later_versions(self):
        email = postrider.Email("1", "2", "queued", "a", "b", "S", "", [])
        self.assertIsNone(email.tags)
        webhook = postrider.WebhookWithSecret("1", "http://a", None, "", "c2Vj")
        self.assertEqual((webhook.secret, webhook.events), ("c2Vj", None))
        template = postrider.Template("1", "T", "<p>", None, "", "")
        self.assertIsNone(template.subject)

    def test_do_not_show_a_secret(self):
        for kind in (postrider.WebhookWithSecret, postrider.RotatedWebhook):
            more = [""] if kind is postrider.RotatedWebhook else []
            shown = repr(kind("1", "http://a", None, "", "c2Vj", *more))
            self.assertNotIn("c2Vj", shown)

    def test_of_an_answer_that_has_nothing_are_empty(self):
        client = postrider.Postrider("pr_k", "http://127.0.0.1")
        with mock.patch.object(_transport.Transport, "call", return_value={}):
            self.assertEqual(client.emails.send_batch([]).results, [])
            self.assertEqual(client.emails.list().emails, [])
            self.assertEqual(client.stats().total.clicked, None)
            self.assertEqual(client.webhooks.deliveries("1").deliveries, [])


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
