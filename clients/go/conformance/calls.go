package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"time"

	postrider "postrider.example/postrider-go"
)

// arguments of all calls together, named as in the API.
type arguments struct {
	email
	ID             string   `json:"id"`
	IdempotencyKey *string  `json:"idempotency_key"`
	Emails         []email  `json:"emails"`
	OnError        string   `json:"on_error"`
	Domain         string   `json:"domain"`
	Selector       string   `json:"selector"`
	URL            string   `json:"url"`
	Description    *string  `json:"description"`
	Events         []string `json:"events"`
	EventID        string   `json:"event_id"`
	Name           string   `json:"name"`
	State          string   `json:"state"`
	Tag            string   `json:"tag"`
	CreatedAfter   string   `json:"created_after"`
	CreatedBefore  string   `json:"created_before"`
	Address        string   `json:"address"`
	Addresses      []string `json:"addresses"`
	CSV            string   `json:"csv"`
	Reason         string   `json:"reason"`
	By             string   `json:"by"`
	After          string   `json:"after"`
	Limit          int      `json:"limit"`

	Payload          *string `json:"payload"`
	PayloadBase64    []byte  `json:"payload_base64"`
	Secret           string  `json:"secret"`
	ToleranceSeconds *int64  `json:"tolerance_seconds"`
}

func readArguments(text json.RawMessage) arguments {
	var args arguments
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	decoder.UseNumber()
	if err := decoder.Decode(&args); err != nil {
		panic(err)
	}
	return args
}

func callMethod(client *postrider.Client, method string, text json.RawMessage) (any, error) {
	ctx := context.Background()
	args := readArguments(text)
	switch method {
	case "emails.send":
		return client.Emails.Send(ctx, args.mail(), args.sendOptions()...)
	case "emails.send_batch":
		return client.Emails.SendBatch(ctx, args.batch(), args.sendOptions()...)
	case "emails.get":
		return client.Emails.Get(ctx, args.ID)
	case "emails.list":
		return client.Emails.List(ctx, args.search())
	case "submissions.get":
		return client.Submissions.Get(ctx, args.ID)
	case "submissions.move":
		return client.Submissions.Move(ctx, args.ID, args.move())
	case "submissions.cancel":
		return client.Submissions.Cancel(ctx, args.ID)
	case "domains.create":
		return client.Domains.Create(ctx, postrider.CreateDomainRequest{Domain: args.Domain, Selector: args.Selector})
	case "domains.list":
		return client.Domains.List(ctx)
	case "domains.get":
		return client.Domains.Get(ctx, args.ID)
	case "domains.verify":
		return client.Domains.Verify(ctx, args.ID)
	case "domains.delete":
		return client.Domains.Delete(ctx, args.ID)
	case "templates.create":
		return client.Templates.Create(ctx, args.template())
	case "templates.update":
		return client.Templates.Update(ctx, args.ID, args.template())
	case "templates.list":
		return client.Templates.List(ctx)
	case "templates.get":
		return client.Templates.Get(ctx, args.ID)
	case "templates.delete":
		return nil, client.Templates.Delete(ctx, args.ID)
	case "events.list":
		return client.Events.List(ctx, postrider.ListEventsRequest{After: args.After, Limit: args.Limit})
	}
	return callManaging(client, method, args)
}

func callManaging(client *postrider.Client, method string, args arguments) (any, error) {
	ctx := context.Background()
	switch method {
	case "webhooks.create":
		return client.Webhooks.Create(ctx, args.newWebhook())
	case "webhooks.list":
		return client.Webhooks.List(ctx)
	case "webhooks.get":
		return client.Webhooks.Get(ctx, args.ID)
	case "webhooks.update":
		return client.Webhooks.Update(ctx, args.ID, args.changedWebhook())
	case "webhooks.rotate":
		return client.Webhooks.Rotate(ctx, args.ID)
	case "webhooks.test":
		return client.Webhooks.Test(ctx, args.ID)
	case "webhooks.deliveries":
		return client.Webhooks.Deliveries(ctx, args.ID, args.deliveries())
	case "webhooks.replay":
		return client.Webhooks.Replay(ctx, args.ID, args.EventID)
	case "webhooks.delete":
		return nil, client.Webhooks.Delete(ctx, args.ID)
	case "suppressions.list":
		return client.Suppressions.List(ctx, args.suppressions())
	case "suppressions.add":
		return client.Suppressions.Add(ctx, args.suppression())
	case "suppressions.remove":
		return nil, client.Suppressions.Remove(ctx, args.Address)
	case "suppressions.import":
		return client.Suppressions.Import(ctx, args.manySuppressions())
	case "stats":
		return client.Stats(ctx, args.stats())
	case "health":
		return client.Health(ctx)
	case "inspect":
		return fmt.Sprintf("%v %+v %#v %s %+v %+v", client, client, client, client, *client, client.Emails), nil
	}
	panic("no such method: " + method)
}

func verify(text json.RawMessage) (any, error) {
	args := readArguments(text)
	headers := http.Header{}
	for name, value := range args.Headers {
		// Not by Set: names come in any case, and are to be found all the same.
		headers[name] = []string{value}
	}
	var options []postrider.VerifyOption
	if args.ToleranceSeconds != nil {
		options = append(options, postrider.WithTolerance(seconds(*args.ToleranceSeconds)))
	}
	event, err := verifyPayload(args, headers, options)
	if err != nil {
		return nil, err
	}
	return event.Raw, nil
}

func verifyPayload(args arguments, headers http.Header, options []postrider.VerifyOption) (*postrider.Event, error) {
	if args.Payload != nil {
		return postrider.VerifyWebhook(*args.Payload, headers, args.Secret, options...)
	}
	return postrider.VerifyWebhook(args.PayloadBase64, headers, args.Secret, options...)
}

// seconds as a Duration, which ends after 292 years.
func seconds(count int64) time.Duration {
	if count > math.MaxInt64/int64(time.Second) {
		return math.MaxInt64
	}
	return time.Duration(count) * time.Second
}
