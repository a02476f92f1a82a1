package postrider

import (
	"context"
	"net/http"
	"time"
)

// ListDeliveriesRequest says which deliveries of a webhook to list.
type ListDeliveriesRequest struct {
	State WebhookDeliveryState
	// After is Next of the page before with the same State; empty for the first
	// page.
	After string
	// Limit is how many deliveries to list at most, 1 to 100; 25 when it is 0.
	Limit int
}

// WebhookDeliveryState says how far the delivery of an event to a webhook has
// come.
type WebhookDeliveryState string

// What a WebhookDeliveryState can be. Due waits for its next attempt; failed
// means that all attempts failed.
const (
	WebhookDue       WebhookDeliveryState = "due"
	WebhookDelivered WebhookDeliveryState = "delivered"
	WebhookFailed    WebhookDeliveryState = "failed"
)

// WebhookDeliveryPage is a part of a webhook's deliveries: the latest failure
// first if only failed ones are listed, the next attempt first if only due ones
// are, otherwise the newest event first.
type WebhookDeliveryPage struct {
	Deliveries []WebhookDelivery `json:"deliveries"`
	// HasMore says that there may be deliveries after this page.
	HasMore bool `json:"has_more"`
	// Next is what to pass as After; empty at the end.
	Next string `json:"next,omitempty"`
}

// WebhookDelivery is the delivery of one event to a webhook.
type WebhookDelivery struct {
	EventID string               `json:"event_id"`
	Type    EventType            `json:"type"`
	State   WebhookDeliveryState `json:"state"`
	// Attempts counts those of all replays, one in progress included.
	Attempts int `json:"attempts"`
	// NextAttemptAt is nil when it has ended or is in progress.
	NextAttemptAt *time.Time `json:"next_attempt_at"`
	// FinishedAt is nil until it is delivered or has failed.
	FinishedAt *time.Time `json:"finished_at"`
	// LastAttempt is the last one that has ended; nil when there is none.
	LastAttempt *WebhookAttempt `json:"last_attempt"`
}

// WebhookAttempt is one attempt to deliver an event.
type WebhookAttempt struct {
	Number    int       `json:"number"`
	StartedAt time.Time `json:"started_at"`
	ElapsedMS int64     `json:"elapsed_ms"`
	// Status is that of the HTTP response; nil without one.
	Status *int `json:"status"`
	// Reason is the outcome in one sentence.
	Reason string `json:"reason"`
	// Answer is the first 4 KiB of the response; nil without one.
	Answer *string `json:"answer"`
}

// WebhookTest says what the endpoint answered to a test event.
type WebhookTest struct {
	// Accepted says that it answered 2xx.
	Accepted bool `json:"accepted"`
	// Status is that of the HTTP response; nil without one.
	Status *int `json:"status"`
	// Reason is the outcome in one sentence.
	Reason string `json:"reason"`
	// Answer is the first 4 KiB of the response; nil without one.
	Answer    *string `json:"answer"`
	ElapsedMS int64   `json:"elapsed_ms"`
}

// WebhookReplay is an event that is sent again.
type WebhookReplay struct {
	WebhookID string               `json:"webhook_id"`
	EventID   string               `json:"event_id"`
	State     WebhookDeliveryState `json:"state"`
}

// Test sends an event of the type TestEvent to a webhook and waits for the
// answer, up to 15 s.
func (s *WebhooksService) Test(ctx context.Context, id string) (*WebhookTest, error) {
	path, err := pathWithID("/webhooks", id)
	if err != nil {
		return nil, err
	}
	test := new(WebhookTest)
	if err := s.caller.do(ctx, call{method: http.MethodPost, path: path + "/test"}, test); err != nil {
		return nil, err
	}
	return test, nil
}

// Deliveries lists the events that a webhook was sent or is to be sent. Pass
// Next of the page as After until HasMore is false.
func (s *WebhooksService) Deliveries(ctx context.Context, id string, request ListDeliveriesRequest) (*WebhookDeliveryPage, error) {
	path, err := pathWithID("/webhooks", id)
	if err != nil {
		return nil, err
	}
	var q query
	q.text("state", string(request.State))
	q.text("after", request.After)
	q.number("limit", request.Limit)
	page := new(WebhookDeliveryPage)
	if err := s.caller.do(ctx, call{method: http.MethodGet, path: q.after(path + "/deliveries")}, page); err != nil {
		return nil, err
	}
	return page, nil
}

// Replay sends an event to a webhook again, with the same ID: whether it was
// delivered or has failed, and even if the webhook did not ask for it.
func (s *WebhooksService) Replay(ctx context.Context, id, eventID string) (*WebhookReplay, error) {
	path, err := pathWithID("/webhooks", id)
	if err != nil {
		return nil, err
	}
	path, err = pathWithID(path+"/deliveries", eventID)
	if err != nil {
		return nil, err
	}
	replay := new(WebhookReplay)
	if err := s.caller.do(ctx, call{method: http.MethodPost, path: path + "/replay"}, replay); err != nil {
		return nil, err
	}
	return replay, nil
}
