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
}

// Webhook is an address that your events are sent to.
type Webhook struct {
	ID          string    `json:"id"`
	URL         string    `json:"url"`
	Description *string   `json:"description"`
	CreatedAt   time.Time `json:"created_at"`
	// Secret is what VerifyWebhook needs. Only Create gives it, this once: keep it.
	Secret string `json:"secret,omitempty"`
}

// String shows a webhook without its secret.
func (w Webhook) String() string {
	return fmt.Sprintf("postrider.Webhook(%s, %s)", w.ID, w.URL)
}

// GoString is the same as String, so that %#v does not show the secret.
func (w Webhook) GoString() string { return w.String() }

// Create registers an address. Keep the Secret of the answer; when it is lost,
// delete the webhook and register it anew.
func (s *WebhooksService) Create(ctx context.Context, request CreateWebhookRequest) (*Webhook, error) {
	webhook := new(Webhook)
	err := s.caller.do(ctx, call{method: http.MethodPost, path: "/webhooks", body: request}, webhook)
	if err != nil {
		return nil, err
	}
	return webhook, nil
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
	webhook := new(Webhook)
	if err := s.caller.do(ctx, call{method: http.MethodGet, path: path}, webhook); err != nil {
		return nil, err
	}
	return webhook, nil
}

// Delete ends a webhook: nothing is sent to it any more.
func (s *WebhooksService) Delete(ctx context.Context, id string) error {
	path, err := pathWithID("/webhooks", id)
	if err != nil {
		return err
	}
	return s.caller.do(ctx, call{method: http.MethodDelete, path: path}, nil)
}
