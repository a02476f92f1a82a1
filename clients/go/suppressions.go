package postrider

import (
	"context"
	"net/http"
	"time"
)

// SuppressionsService manages the addresses that get no mail from you; see
// Client.
type SuppressionsService struct{ caller *caller }

// Suppression is an address that gets no mail from you.
type Suppression struct {
	// Address is in lower case, its domain in ASCII.
	Address string          `json:"address"`
	Reason  RejectionReason `json:"reason"`
	// MessageID is the message that bounced, or that the recipient complained about
	// or unsubscribed from; nil when there is none.
	MessageID *string   `json:"message_id"`
	CreatedAt time.Time `json:"created_at"`
}

// ListSuppressionsRequest says which part of the list to read.
type ListSuppressionsRequest struct {
	// Address finds one entry, in any spelling that the list treats as the same.
	Address string
	Reason  RejectionReason
	// After is Next of the page before; empty for the first page.
	After string
	// Limit is how many addresses to list at most, 1 to 1,000; 100 when it is 0.
	Limit int
}

// SuppressionPage is a part of the list, in alphabetical order.
type SuppressionPage struct {
	Suppressions []Suppression `json:"suppressions"`
	// HasMore says that there may be addresses after this page.
	HasMore bool `json:"has_more"`
	// Next is what to pass as After; empty at the end.
	Next string `json:"next,omitempty"`
}

// AddSuppressionRequest names an address to suppress.
type AddSuppressionRequest struct {
	// Address has no display name.
	Address string `json:"address"`
	// Reason is RejectedManual when it is empty.
	Reason RejectionReason `json:"reason,omitempty"`
}

// ImportSuppressionsRequest names addresses to suppress: give Addresses or CSV.
type ImportSuppressionsRequest struct {
	// Addresses are up to 10,000, without display names.
	Addresses []string
	// CSV is the text of a file of up to 10,000 lines. Its first line names the
	// columns: address and, if it has them, reason and created_at. A plain list of
	// addresses, one per line, works too.
	CSV string
	// Reason holds where the CSV gives none; RejectedManual when it is empty.
	Reason RejectionReason
}

// MarshalJSON writes what the API takes. Addresses that are empty but not nil
// stay an empty list.
func (r ImportSuppressionsRequest) MarshalJSON() ([]byte, error) {
	return encodeBody(struct {
		Addresses *[]string       `json:"addresses,omitempty"`
		CSV       string          `json:"csv,omitempty"`
		Reason    RejectionReason `json:"reason,omitempty"`
	}{givenList(r.Addresses), r.CSV, r.Reason})
}

// ImportSuppressionsResult counts what became of the addresses.
type ImportSuppressionsResult struct {
	Added int `json:"added"`
	// Known were on the list already, and keep their reason.
	Known int `json:"known"`
	// Refused can't be used. Refusals has the first 100 of them.
	Refused  int             `json:"refused"`
	Refusals []ImportRefusal `json:"refusals"`
	// IgnoredColumns are the columns of the CSV that are not understood, and were
	// not imported.
	IgnoredColumns []string `json:"ignored_columns"`
}

// ImportRefusal says which address can't be used, and why.
type ImportRefusal struct {
	// Index is the place in Addresses, from 0; nil for CSV.
	Index *int `json:"index,omitempty"`
	// Line is the line of the CSV, from 1; nil for Addresses.
	Line    *int   `json:"line,omitempty"`
	Message string `json:"message"`
}

// List reads a page of the list. Pass Next of the page as After until HasMore is
// false: a page can be short or empty although more follow.
func (s *SuppressionsService) List(ctx context.Context, request ListSuppressionsRequest) (*SuppressionPage, error) {
	var q query
	q.text("address", request.Address)
	q.text("reason", string(request.Reason))
	q.text("after", request.After)
	q.number("limit", request.Limit)
	page := new(SuppressionPage)
	if err := s.caller.do(ctx, call{method: http.MethodGet, path: q.after("/suppressions")}, page); err != nil {
		return nil, err
	}
	return page, nil
}

// Add suppresses an address. One that is on the list already keeps its reason.
func (s *SuppressionsService) Add(ctx context.Context, request AddSuppressionRequest) (*Suppression, error) {
	entry := new(Suppression)
	err := s.caller.do(ctx, call{method: http.MethodPost, path: "/suppressions", body: request}, entry)
	if err != nil {
		return nil, err
	}
	return entry, nil
}

// Remove takes an address off the list, so that it gets mail again.
func (s *SuppressionsService) Remove(ctx context.Context, address string) error {
	path, err := pathWithAddress("/suppressions", address)
	if err != nil {
		return err
	}
	return s.caller.do(ctx, call{method: http.MethodDelete, path: path}, nil)
}

// Import suppresses up to 10,000 addresses. Those that can't be used are counted
// and left out.
func (s *SuppressionsService) Import(ctx context.Context, request ImportSuppressionsRequest) (*ImportSuppressionsResult, error) {
	result := new(ImportSuppressionsResult)
	err := s.caller.do(ctx, call{method: http.MethodPost, path: "/suppressions/import", body: request}, result)
	if err != nil {
		return nil, err
	}
	return result, nil
}
