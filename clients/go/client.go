package postrider

import (
	"context"
	"net/http"
)

// Client calls the API with one key. Make one with New and share it: it may be
// used by many goroutines at once.
type Client struct {
	// Emails sends messages and shows what became of them.
	Emails *EmailsService
	// Submissions shows, moves and cancels calls of Emails.Send with all their
	// messages.
	Submissions *SubmissionsService
	// Domains manages the domains that you send from.
	Domains *DomainsService
	// Webhooks manages the addresses that your events are sent to.
	Webhooks *WebhooksService
	// Templates manages stored contents.
	Templates *TemplatesService
	// Events reads the feed of everything that happened to your messages.
	Events *EventsService
	// Suppressions manages the addresses that get no mail from you.
	Suppressions *SuppressionsService

	caller *caller
}

// New makes a client. The API key and the base URL come from the options or
// from POSTRIDER_API_KEY and POSTRIDER_BASE_URL; when one is missing, the error
// says which.
func New(options ...Option) (*Client, error) {
	s := readSettings(options)
	if problem := s.problem(); problem != nil {
		return nil, problem
	}
	c := newCaller(s)
	return &Client{
		Emails:       &EmailsService{c},
		Submissions:  &SubmissionsService{c},
		Domains:      &DomainsService{c},
		Webhooks:     &WebhooksService{c},
		Templates:    &TemplatesService{c},
		Events:       &EventsService{c},
		Suppressions: &SuppressionsService{c},
		caller:       c,
	}, nil
}

// String names the client without its key.
func (c Client) String() string {
	if c.caller == nil {
		return "postrider.Client"
	}
	return "postrider.Client(" + c.caller.baseURL + ")"
}

// GoString is the same as String, so that %#v does not show more.
func (c Client) GoString() string { return c.String() }

// HealthStatus says whether the service can do its work.
type HealthStatus string

// What a HealthStatus can be.
const (
	HealthOK            HealthStatus = "ok"
	HealthDBUnreachable HealthStatus = "db_unreachable"
)

// Health is the answer of Client.Health.
type Health struct {
	Status HealthStatus `json:"status"`
}

// Health asks whether the service is well. A service that answers that its
// database is out of reach (503) is an answer, too, not an error.
func (c *Client) Health(ctx context.Context) (*Health, error) {
	health := new(Health)
	err := c.caller.do(ctx, call{method: http.MethodGet, path: "/healthz", isHealth: true}, health)
	if err != nil {
		return nil, err
	}
	return health, nil
}
