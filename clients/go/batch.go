package postrider

import (
	"context"
	"net/http"
)

// SendBatchRequest is what to send with one call.
type SendBatchRequest struct {
	// Emails are up to 100, with at most 1,000 recipients in all.
	Emails []SendRequest
	// OnError is OnErrorSkip or "": then the first fault refuses the whole batch,
	// and Index of the error says which email has it.
	OnError OnError
}

// OnError says what a fault in one email does to a batch.
type OnError string

// OnErrorSkip accepts what is good; the results say what was refused.
const OnErrorSkip OnError = "skip"

// MarshalJSON writes what the API takes. No emails are an empty list, which the
// service then complains about in its own words.
func (r SendBatchRequest) MarshalJSON() ([]byte, error) {
	emails := r.Emails
	if emails == nil {
		emails = []SendRequest{}
	}
	return encodeBody(struct {
		Emails  []SendRequest `json:"emails"`
		OnError OnError       `json:"on_error,omitempty"`
	}{emails, r.OnError})
}

// SendBatchResult says what was accepted.
type SendBatchResult struct {
	// Results has one per email, in the order of the request.
	Results []BatchResult `json:"results"`
}

// BatchResult says what became of one email of a batch.
type BatchResult struct {
	// SendResult is nil when the email was refused.
	*SendResult
	// Code and Message say why the email was refused, like those of an Error. Both
	// are empty when it was accepted.
	Code    string `json:"error,omitempty"`
	Message string `json:"message,omitempty"`
}

// SendBatch sends up to 100 emails with one call; they are accepted in one
// transaction. WithIdempotencyKey holds for the whole batch.
func (s *EmailsService) SendBatch(ctx context.Context, batch SendBatchRequest, options ...SendOption) (*SendBatchResult, error) {
	what := call{method: http.MethodPost, path: "/emails/batch", body: batch}
	result := new(SendBatchResult)
	if err := s.send(ctx, what, options, result); err != nil {
		return nil, err
	}
	return result, nil
}
