package postrider

import (
	"context"
	"net/http"
	"time"
)

// ListEmailsRequest says which messages to list: those that meet all conditions
// that are given.
type ListEmailsRequest struct {
	State MessageState
	// To and From are an address, in any case, or a domain.
	To   string
	From string
	// Tag is "name:value".
	Tag string
	// CreatedAfter and CreatedBefore are an RFC 3339 time or a date; the first is
	// included, the second is not.
	CreatedAfter  string
	CreatedBefore string
	// After is Next of the page before; empty for the first page.
	After string
	// Limit is how many messages to list at most, 1 to 100; 25 when it is 0.
	Limit int
}

// EmailPage is a part of the list of messages, newest first.
type EmailPage struct {
	Emails []ListedEmail `json:"emails"`
	// HasMore says that there may be messages after this page.
	HasMore bool `json:"has_more"`
	// Complete is false when the search stopped before the page was full, because
	// it had looked at many messages. Continue with Next.
	Complete bool `json:"complete"`
	// Next is what to pass as After; empty at the end.
	Next string `json:"next,omitempty"`
}

// ListedEmail is a message without its events.
type ListedEmail struct {
	ID           string       `json:"id"`
	SubmissionID string       `json:"submission_id"`
	State        MessageState `json:"state"`
	From         string       `json:"from"`
	To           string       `json:"to"`
	Subject      string       `json:"subject"`
	// HeaderMessageID is the Message-ID of a mail that was handed in by SMTP;
	// empty for all others.
	HeaderMessageID string `json:"header_message_id,omitempty"`
	// Tags and Metadata are nil where the call gave none.
	Tags      map[string]string `json:"tags,omitempty"`
	Metadata  map[string]string `json:"metadata,omitempty"`
	CreatedAt time.Time         `json:"created_at"`
}

// List searches the messages, one per recipient, newest first. Pass Next of the
// page as After until HasMore is false: a page can be short or empty although
// more follow.
func (s *EmailsService) List(ctx context.Context, request ListEmailsRequest) (*EmailPage, error) {
	var q query
	q.text("state", string(request.State))
	q.text("to", request.To)
	q.text("from", request.From)
	q.text("tag", request.Tag)
	q.text("created_after", request.CreatedAfter)
	q.text("created_before", request.CreatedBefore)
	q.text("after", request.After)
	q.number("limit", request.Limit)
	page := new(EmailPage)
	if err := s.caller.do(ctx, call{method: http.MethodGet, path: q.after("/emails")}, page); err != nil {
		return nil, err
	}
	return page, nil
}
