package postrider

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// WebhooksService manages the addresses that your events are sent to; see Client.
type WebhooksService struct{ caller *caller }

// CreateWebhookRequest names an address for events.
type CreateWebhookRequest struct {
	// URL is http or https (recommended), without credentials and fragment.
	URL string `json:"url"`
	// Description is a label of your own.
	Description string `json:"description,omitempty"`
	// Events are the types and families that it is sent, for example "bounce" or
	// "email.complained"; every event when there are none.
	Events []string `json:"-"`
}

// MarshalJSON writes what the API takes. Events that are empty but not nil stay
// an empty list.
func (r CreateWebhookRequest) MarshalJSON() ([]byte, error) {
	type plain CreateWebhookRequest
	return encodeBody(struct {
		plain
		Events *[]string `json:"events,omitempty"`
	}{plain(r), givenList(r.Events)})
}

// UpdateWebhookRequest says what changes of a webhook; the rest stays as it is.
type UpdateWebhookRequest struct {
	// URL gets the events that are waiting, too.
	URL string
	// Description changes when it is not nil; see String.
	Description *string
	// Events change when they are not nil. Empty means every event.
	Events []string
}

// MarshalJSON writes what the API takes.
func (r UpdateWebhookRequest) MarshalJSON() ([]byte, error) {
	return encodeBody(struct {
		URL         string    `json:"url,omitempty"`
		Description *string   `json:"description,omitempty"`
		Events      *[]string `json:"events,omitempty"`
	}{r.URL, r.Description, givenList(r.Events)})
}

// String makes a pointer to a text, for UpdateWebhookRequest.
func String(text string) *string { return &text }

// Webhook is an address that your events are sent to.
type Webhook struct {
	ID          string    `json:"id"`
	URL         string    `json:"url"`
	Description *string   `json:"description"`
	CreatedAt   time.Time `json:"created_at"`
	// Events are the types and families that it is sent; nil when it is sent every
	// event.
	Events []string `json:"events,omitempty"`
	// Secret is what VerifyWebhook needs. Only Create and Rotate give it, each time
	// once: keep it.
	Secret string `json:"secret,omitempty"`
	// PreviousUntil is until when the secret before signs, too; only from Rotate.
	PreviousUntil *time.Time `json:"previous_until,omitempty"`
}

// String shows a webhook without its secret.
func (w Webhook) String() string {
	return fmt.Sprintf("postrider.Webhook(%s, %s)", w.ID, w.URL)
}

// GoString is the same as String, so that %#v does not show the secret.
func (w Webhook) GoString() string { return w.String() }

// Create registers an address. Keep the Secret of the answer; when it is lost,
// make a new one with Rotate.
func (s *WebhooksService) Create(ctx context.Context, request CreateWebhookRequest) (*Webhook, error) {
	return s.one(ctx, call{method: http.MethodPost, path: "/webhooks", body: request})
}

// List shows all your webhooks, oldest first.
func (s *WebhooksService) List(ctx context.Context) ([]Webhook, error) {
	var page struct {
		Webhooks []Webhook `json:"webhooks"`
	}
	if err := s.caller.do(ctx, call{method: http.MethodGet, path: "/webhooks"}, &page); err != nil {
		return nil, err
	}
	return page.Webhooks, nil
}

// Get shows one webhook.
func (s *WebhooksService) Get(ctx context.Context, id string) (*Webhook, error) {
	path, err := pathWithID("/webhooks", id)
	if err != nil {
		return nil, err
	}
	return s.one(ctx, call{method: http.MethodGet, path: path})
}

// Update changes a webhook; its secret stays.
func (s *WebhooksService) Update(ctx context.Context, id string, request UpdateWebhookRequest) (*Webhook, error) {
	path, err := pathWithID("/webhooks", id)
	if err != nil {
		return nil, err
	}
	return s.one(ctx, call{method: http.MethodPatch, path: path, body: request})
}

// Rotate gives a webhook a new Secret. For 24 hours the one before signs, too.
// This call is repeated after a 429 only. After another error the secret may be a
// new one, which nobody knows: rotate it again.
func (s *WebhooksService) Rotate(ctx context.Context, id string) (*Webhook, error) {
	path, err := pathWithID("/webhooks", id)
	if err != nil {
		return nil, err
	}
	return s.one(ctx, call{method: http.MethodPost, path: path + "/rotate", onlyAfter429: true})
}

// Delete ends a webhook: nothing is sent to it any more.
func (s *WebhooksService) Delete(ctx context.Context, id string) error {
	path, err := pathWithID("/webhooks", id)
	if err != nil {
		return err
	}
	return s.caller.do(ctx, call{method: http.MethodDelete, path: path}, nil)
}

func (s *WebhooksService) one(ctx context.Context, what call) (*Webhook, error) {
	webhook := new(Webhook)
	if err := s.caller.do(ctx, what, webhook); err != nil {
		return nil, err
	}
	return webhook, nil
}
