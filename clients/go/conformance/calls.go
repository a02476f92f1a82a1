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
	ID             string              `json:"id"`
	From           string              `json:"from"`
	To             json.RawMessage     `json:"to"`
	Subject        string              `json:"subject"`
	HTML           string              `json:"html"`
	Text           string              `json:"text"`
	TemplateID     string              `json:"template_id"`
	Data           any                 `json:"data"`
	Headers        map[string]string   `json:"headers"`
	CC             json.RawMessage     `json:"cc"`
	BCC            json.RawMessage     `json:"bcc"`
	ReplyTo        json.RawMessage     `json:"reply_to"`
	Attachments    []attachment        `json:"attachments"`
	Tags           map[string]string   `json:"tags"`
	Metadata       map[string]string   `json:"metadata"`
	Tracking       *postrider.Tracking `json:"tracking"`
	IdempotencyKey *string             `json:"idempotency_key"`
	Domain         string              `json:"domain"`
	Selector       string              `json:"selector"`
	URL            string              `json:"url"`
	Description    string              `json:"description"`
	Name           string              `json:"name"`
	After          string              `json:"after"`
	Limit          int                 `json:"limit"`

	Payload          *string `json:"payload"`
	PayloadBase64    []byte  `json:"payload_base64"`
	Secret           string  `json:"secret"`
	ToleranceSeconds *int64  `json:"tolerance_seconds"`
}

type attachment struct {
	Filename     string `json:"filename"`
	Content      string `json:"content"`
	ContentBytes []byte `json:"content_bytes"`
	ContentType  string `json:"content_type"`
	ContentID    string `json:"content_id"`
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
	case "emails.get":
		return client.Emails.Get(ctx, args.ID)
	case "submissions.get":
		return client.Submissions.Get(ctx, args.ID)
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
	case "webhooks.create":
		return client.Webhooks.Create(ctx, postrider.CreateWebhookRequest{URL: args.URL, Description: args.Description})
	case "webhooks.list":
		return client.Webhooks.List(ctx)
	case "webhooks.get":
		return client.Webhooks.Get(ctx, args.ID)
	case "webhooks.delete":
		return nil, client.Webhooks.Delete(ctx, args.ID)
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
	case "health":
		return client.Health(ctx)
	case "inspect":
		return fmt.Sprintf("%v %+v %#v %s %+v %+v", client, client, client, client, *client, client.Emails), nil
	}
	panic("no such method: " + method)
}

func (args arguments) mail() postrider.SendRequest {
	var attachments []postrider.Attachment
	for _, given := range args.Attachments {
		attachments = append(attachments, postrider.Attachment{
			Filename:      given.Filename,
			Content:       given.ContentBytes,
			ContentBase64: given.Content,
			ContentType:   given.ContentType,
			ContentID:     given.ContentID,
		})
	}
	return postrider.SendRequest{
		From:        args.From,
		To:          oneOrMore(args.To),
		Subject:     args.Subject,
		HTML:        args.HTML,
		Text:        args.Text,
		TemplateID:  args.TemplateID,
		Data:        args.Data,
		Headers:     args.Headers,
		CC:          oneOrMore(args.CC),
		BCC:         oneOrMore(args.BCC),
		ReplyTo:     oneOrMore(args.ReplyTo),
		Attachments: attachments,
		Tags:        args.Tags,
		Metadata:    args.Metadata,
		Tracking:    args.Tracking,
	}
}

// oneOrMore reads a string or a list of strings; nil when there is neither.
func oneOrMore(text json.RawMessage) []string {
	if text == nil {
		return nil
	}
	list := []string{""}
	if json.Unmarshal(text, &list[0]) != nil {
		list = nil
		if err := json.Unmarshal(text, &list); err != nil {
			panic(err)
		}
	}
	return list
}

func (args arguments) sendOptions() []postrider.SendOption {
	if args.IdempotencyKey == nil {
		return nil
	}
	return []postrider.SendOption{postrider.WithIdempotencyKey(*args.IdempotencyKey)}
}

func (args arguments) template() postrider.TemplateRequest {
	return postrider.TemplateRequest{Name: args.Name, HTML: args.HTML, Text: args.Text}
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
