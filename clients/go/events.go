package postrider

import (
	"context"
	"net/http"
)

// EventsService reads the feed of events; see Client.
type EventsService struct{ caller *caller }

// ListEventsRequest says which part of the feed to read.
type ListEventsRequest struct {
	// After is the id of the last event that you have seen; empty to begin with
	// the oldest.
	After string
	// Limit is how many events to read at most, 1 to 1,000; 100 when it is 0.
	Limit int
}

// EventPage is a part of the feed, oldest first.
type EventPage struct {
	Events []Event `json:"events"`
	// HasMore says that there are events behind this page.
	HasMore bool `json:"has_more"`
}

// List reads a page of the feed of everything that happened to your messages.
// Pass the id of the last event as After until HasMore is false; later, go on
// from there.
func (s *EventsService) List(ctx context.Context, request ListEventsRequest) (*EventPage, error) {
	var q query
	q.text("after", request.After)
	q.number("limit", request.Limit)
	page := new(EventPage)
	if err := s.caller.do(ctx, call{method: http.MethodGet, path: q.after("/events")}, page); err != nil {
		return nil, err
	}
	return page, nil
}
