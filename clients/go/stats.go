package postrider

import (
	"context"
	"net/http"
	"time"
)

// StatsRequest says what to count.
type StatsRequest struct {
	// From and To are an RFC 3339 time or a date; From is included, To is not. To is
	// now when it is empty, and From 30 days before, or 24 hours by StatsHour.
	From string
	To   string
	// By is StatsDay when it is empty.
	By StatsInterval
	// Tag counts only messages with this tag, "name:value".
	Tag string
}

// StatsInterval is the length of a step.
type StatsInterval string

// What a StatsInterval can be.
const (
	StatsHour StatsInterval = "hour"
	StatsDay  StatsInterval = "day"
)

// Stats are the sums of a span, which has whole hours or days (UTC).
type Stats struct {
	From time.Time     `json:"from"`
	To   time.Time     `json:"to"`
	By   StatsInterval `json:"by"`
	// Tag is the one that was asked for.
	Tag string `json:"tag,omitempty"`
	// Complete is false when the sums of the tag may be too low, because a day had
	// too many tags; nil without a tag.
	Complete *bool   `json:"complete,omitempty"`
	Total    Figures `json:"total"`
	// Steps are oldest first, those without anything included.
	Steps []StatsStep `json:"steps"`
}

// StatsStep has the sums of one hour or day.
type StatsStep struct {
	Start time.Time `json:"start"`
	Figures
}

// Figures are the sums of what happened.
type Figures struct {
	// Accepted and Delivered count messages, Deferred events.
	Accepted  int64 `json:"accepted"`
	Delivered int64 `json:"delivered"`
	Deferred  int64 `json:"deferred"`
	// BouncedHard, BouncedSoft and BouncedBlock count bounces by their BounceType.
	BouncedHard  int64 `json:"bounced_hard"`
	BouncedSoft  int64 `json:"bounced_soft"`
	BouncedBlock int64 `json:"bounced_block"`
	// BouncedLater counts those of the three that came after delivery.
	BouncedLater int64 `json:"bounced_later"`
	Failed       int64 `json:"failed"`
	Canceled     int64 `json:"canceled"`
	Complained   int64 `json:"complained"`
	// Opened counts messages whose pixel was fetched, OpenedByMachine those of them
	// where it was most likely not a person.
	Opened          int64 `json:"opened"`
	OpenedByMachine int64 `json:"opened_by_machine"`
	// Clicked counts links that were followed.
	Clicked int64 `json:"clicked"`
}

// Stats counts what happened to your messages, by day or hour. Messages are
// counted when they are accepted, everything else when it happens.
func (c *Client) Stats(ctx context.Context, request StatsRequest) (*Stats, error) {
	var q query
	q.text("from", request.From)
	q.text("to", request.To)
	q.text("by", string(request.By))
	q.text("tag", request.Tag)
	stats := new(Stats)
	if err := c.caller.do(ctx, call{method: http.MethodGet, path: q.after("/stats")}, stats); err != nil {
		return nil, err
	}
	return stats, nil
}
