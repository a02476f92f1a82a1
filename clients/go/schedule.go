package postrider

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// timeFormat is how the API writes times, in UTC.
const timeFormat = "2006-01-02T15:04:05.000Z"

// writtenTime is a time as the API takes it; "" when neither form is given.
func writtenTime(at time.Time, text string) (string, error) {
	switch {
	case at.IsZero():
		return text, nil
	case text != "":
		return "", errors.New("there are both SendAt and SendAtText")
	}
	return at.UTC().Format(timeFormat), nil
}

// MoveSubmissionRequest is the new time of a submission.
type MoveSubmissionRequest struct {
	// SendAt is at most 30 days ahead. A time up to five minutes ago sends at once.
	SendAt time.Time
	// SendAtText is the same as RFC 3339 with an offset, for programs that have it
	// as text; it is sent as it is. Give one of the two.
	SendAtText string
}

// MarshalJSON writes what the API takes.
func (r MoveSubmissionRequest) MarshalJSON() ([]byte, error) {
	at, err := writtenTime(r.SendAt, r.SendAtText)
	if err != nil {
		return nil, err
	}
	return encodeBody(struct {
		SendAt string `json:"send_at"`
	}{at})
}

// MoveSubmissionResult says when the messages will be sent.
type MoveSubmissionResult struct {
	ID     string    `json:"id"`
	SendAt time.Time `json:"send_at"`
}

// CancelSubmissionResult says which messages are not sent.
type CancelSubmissionResult struct {
	// Canceled has the IDs of the messages that are canceled now.
	Canceled []string `json:"canceled"`
	// TooLate has the IDs of those that had ended or were being sent.
	TooLate []string `json:"too_late"`
}

// Move sends the messages of a submission that are still scheduled at another
// time. If none is, the error is a ValidationError with the code
// "not_scheduled".
func (s *SubmissionsService) Move(ctx context.Context, id string, request MoveSubmissionRequest) (*MoveSubmissionResult, error) {
	path, err := pathWithID("/submissions", id)
	if err != nil {
		return nil, err
	}
	moved := new(MoveSubmissionResult)
	if err := s.caller.do(ctx, call{method: http.MethodPatch, path: path, body: request}, moved); err != nil {
		return nil, err
	}
	return moved, nil
}

// Cancel ends every message of a submission, scheduled or not, that has neither
// ended nor is being sent.
func (s *SubmissionsService) Cancel(ctx context.Context, id string) (*CancelSubmissionResult, error) {
	path, err := pathWithID("/submissions", id)
	if err != nil {
		return nil, err
	}
	canceled := new(CancelSubmissionResult)
	if err := s.caller.do(ctx, call{method: http.MethodPost, path: path + "/cancel"}, canceled); err != nil {
		return nil, err
	}
	return canceled, nil
}
