package main

import (
	"encoding/json"
	"time"

	postrider "postrider.example/postrider-go"
)

// email has the arguments of emails.send, and of each email of a batch.
type email struct {
	From        string              `json:"from"`
	To          json.RawMessage     `json:"to"`
	Subject     string              `json:"subject"`
	HTML        string              `json:"html"`
	Text        string              `json:"text"`
	TemplateID  string              `json:"template_id"`
	Data        any                 `json:"data"`
	Headers     map[string]string   `json:"headers"`
	CC          json.RawMessage     `json:"cc"`
	BCC         json.RawMessage     `json:"bcc"`
	ReplyTo     json.RawMessage     `json:"reply_to"`
	Attachments []attachment        `json:"attachments"`
	Tags        map[string]string   `json:"tags"`
	Metadata    map[string]string   `json:"metadata"`
	Tracking    *postrider.Tracking `json:"tracking"`
	SendAt      string              `json:"send_at"`
	SendAtTime  *moment             `json:"send_at_time"`
}

type attachment struct {
	Filename     string `json:"filename"`
	Content      string `json:"content"`
	ContentBytes []byte `json:"content_bytes"`
	ContentType  string `json:"content_type"`
	ContentID    string `json:"content_id"`
}

// moment is what becomes a time.Time.
type moment struct {
	UnixMS        int64 `json:"unix_ms"`
	OffsetMinutes int   `json:"offset_minutes"`
}

// time is zero for no moment.
func (m *moment) time() time.Time {
	if m == nil {
		return time.Time{}
	}
	return time.UnixMilli(m.UnixMS).In(time.FixedZone("", m.OffsetMinutes*60))
}

func (args email) mail() postrider.SendRequest {
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
		SendAt:      args.SendAtTime.time(),
		SendAtText:  args.SendAt,
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

func (args arguments) batch() postrider.SendBatchRequest {
	batch := postrider.SendBatchRequest{OnError: postrider.OnError(args.OnError)}
	for _, one := range args.Emails {
		batch.Emails = append(batch.Emails, one.mail())
	}
	return batch
}

func (args arguments) sendOptions() []postrider.SendOption {
	if args.IdempotencyKey == nil {
		return nil
	}
	return []postrider.SendOption{postrider.WithIdempotencyKey(*args.IdempotencyKey)}
}

func (args arguments) move() postrider.MoveSubmissionRequest {
	return postrider.MoveSubmissionRequest{SendAt: args.SendAtTime.time(), SendAtText: args.SendAt}
}

// search reads to as text: here it is one address or domain.
func (args arguments) search() postrider.ListEmailsRequest {
	request := postrider.ListEmailsRequest{
		State:         postrider.MessageState(args.State),
		From:          args.From,
		Tag:           args.Tag,
		CreatedAfter:  args.CreatedAfter,
		CreatedBefore: args.CreatedBefore,
		After:         args.After,
		Limit:         args.Limit,
	}
	if to := oneOrMore(args.To); len(to) == 1 {
		request.To = to[0]
	}
	return request
}

func (args arguments) template() postrider.TemplateRequest {
	return postrider.TemplateRequest{Name: args.Name, HTML: args.HTML, Text: args.Text, Subject: args.Subject}
}

func (args arguments) newWebhook() postrider.CreateWebhookRequest {
	request := postrider.CreateWebhookRequest{URL: args.URL, Events: args.Events}
	if args.Description != nil {
		request.Description = *args.Description
	}
	return request
}

func (args arguments) changedWebhook() postrider.UpdateWebhookRequest {
	return postrider.UpdateWebhookRequest{URL: args.URL, Description: args.Description, Events: args.Events}
}

func (args arguments) deliveries() postrider.ListDeliveriesRequest {
	state := postrider.WebhookDeliveryState(args.State)
	return postrider.ListDeliveriesRequest{State: state, After: args.After, Limit: args.Limit}
}

func (args arguments) suppressions() postrider.ListSuppressionsRequest {
	reason := postrider.RejectionReason(args.Reason)
	return postrider.ListSuppressionsRequest{Address: args.Address, Reason: reason, After: args.After, Limit: args.Limit}
}

func (args arguments) suppression() postrider.AddSuppressionRequest {
	return postrider.AddSuppressionRequest{Address: args.Address, Reason: postrider.RejectionReason(args.Reason)}
}

func (args arguments) manySuppressions() postrider.ImportSuppressionsRequest {
	reason := postrider.RejectionReason(args.Reason)
	return postrider.ImportSuppressionsRequest{Addresses: args.Addresses, CSV: args.CSV, Reason: reason}
}

// stats reads to as text: here it is a time.
func (args arguments) stats() postrider.StatsRequest {
	request := postrider.StatsRequest{From: args.From, By: postrider.StatsInterval(args.By), Tag: args.Tag}
	if to := oneOrMore(args.To); len(to) == 1 {
		request.To = to[0]
	}
	return request
}
