// Package postrider is the client library of Postrider, a service that sends
// transactional e-mail. It needs nothing but Go's standard library.
//
//	client, err := postrider.New() // POSTRIDER_API_KEY and POSTRIDER_BASE_URL
//	if err != nil {
//		log.Fatal(err)
//	}
//	sent, err := client.Emails.Send(ctx, postrider.SendRequest{
//		From:    "Shop <shop@mail.example.com>",
//		To:      []string{"jo@example.org"},
//		Subject: "Your order",
//		Text:    "It is on its way.",
//	})
//
// # Errors
//
// Every failure is one of the typed errors of this package, to be told apart
// with errors.As; *Error is the base of all of them and has the status, code,
// message and request id.
//
// # Retries
//
// A call is repeated up to three times (see WithMaxRetries) after a network
// failure, a timeout, a 429 and a 5xx. Emails.Send and SendBatch are safe to
// repeat because they always carry an Idempotency-Key; give one of your own
// (WithIdempotencyKey) when a later run of your program may send the same message
// again. Webhooks.Rotate is repeated after a 429 only.
//
// # Webhooks
//
// VerifyWebhook checks the signature of a request that came to your webhook and
// gives you its event.
package postrider

// Version of this library.
const Version = "0.1.0"
