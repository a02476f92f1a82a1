package postrider

import (
	"context"
	"net/http"
	"time"
)

// SubmissionsService shows, moves and cancels calls of Emails.Send with all their
// messages; see Client.
type SubmissionsService struct{ caller *caller }

// Submission is one call of Emails.Send, and what became of its messages.
type Submission struct {
	ID        string    `json:"id"`
	CreatedAt time.Time `json:"created_at"`
	// SendAt is nil when it was sent at once.
	SendAt  *time.Time `json:"send_at"`
	From    string     `json:"from"`
	Subject string     `json:"subject"`
	// Source is "smtp", or empty for mail that was handed in by HTTP.
	Source string `json:"source,omitempty"`
	// HeaderMessageID is the Message-ID of a mail that was handed in by SMTP;
	// empty for all others.
	HeaderMessageID string `json:"header_message_id,omitempty"`
	// Tags and Metadata are nil where the call gave none.
	Tags     map[string]string `json:"tags"`
	Metadata map[string]string `json:"metadata"`
	// Messages has one per recipient, in the order of To, CC and BCC.
	Messages []SubmissionMessage `json:"messages"`
	// Rejected has the recipients that got nothing.
	Rejected []Rejection `json:"rejected"`
}

// SubmissionMessage is one message of a submission.
type SubmissionMessage struct {
	ID    string        `json:"id"`
	To    string        `json:"to"`
	Kind  RecipientKind `json:"kind"`
	State MessageState  `json:"state"`
}

// RecipientKind says in which list a recipient was.
type RecipientKind string

// What a RecipientKind can be.
const (
	RecipientTo  RecipientKind = "to"
	RecipientCC  RecipientKind = "cc"
	RecipientBCC RecipientKind = "bcc"
)

// Get shows the submission with the ID of a SendResult.
func (s *SubmissionsService) Get(ctx context.Context, id string) (*Submission, error) {
	path, err := pathWithID("/submissions", id)
	if err != nil {
		return nil, err
	}
	submission := new(Submission)
	if err := s.caller.do(ctx, call{method: http.MethodGet, path: path}, submission); err != nil {
		return nil, err
	}
	return submission, nil
}
