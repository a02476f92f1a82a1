package postrider

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// EmailsService sends messages and shows what became of them; see Client.
type EmailsService struct{ caller *caller }

// SendRequest is what to send to whom. What is empty is not sent along.
type SendRequest struct {
	// From is "addr@domain" or "Name <addr@domain>"; the domain is a verified one
	// of yours.
	From string `json:"from"`
	// To has up to 50 such addresses. Each recipient gets a message of their own
	// that shows nobody else.
	To []string `json:"to"`
	// Subject is sent as it is, with templates, too. It may be empty when the
	// template has a subject.
	Subject string `json:"subject,omitempty"`
	// HTML and Text: at least one, unless there is a template.
	HTML string `json:"html,omitempty"`
	Text string `json:"text,omitempty"`
	// TemplateID names a stored template in place of HTML and Text.
	TemplateID string `json:"template_id,omitempty"`
	// Data fills the template in; whatever encoding/json makes an object of.
	Data any `json:"data,omitempty"`
	// Headers are extra header fields.
	Headers map[string]string `json:"-"`
	// CC is as To; the limit of 50 counts To, CC and BCC together. With CC or BCC
	// all recipients get a copy of one letter, which shows To and CC.
	CC []string `json:"cc,omitempty"`
	// BCC is as CC, and shown to nobody.
	BCC []string `json:"bcc,omitempty"`
	// ReplyTo says where answers go: up to 10 addresses.
	ReplyTo []string `json:"reply_to,omitempty"`
	// Attachments are up to 50; the whole call has at most 5 MiB.
	Attachments []Attachment `json:"attachments,omitempty"`
	// Tags are up to 10, of ASCII letters, digits, "_" and "-".
	Tags map[string]string `json:"tags,omitempty"`
	// Metadata has up to 20 names with any text. It and Tags are in every event of
	// the messages.
	Metadata map[string]string `json:"metadata,omitempty"`
	// Tracking overrides the account's settings.
	Tracking *Tracking `json:"tracking,omitempty"`
	// SendAt is when to send it, at most 30 days ahead; at once when it is zero. See
	// Submissions.Move and Cancel.
	SendAt time.Time `json:"-"`
	// SendAtText is the same as RFC 3339 with an offset, for programs that have it
	// as text; it is sent as it is. Give one of the two.
	SendAtText string `json:"-"`
}

// MarshalJSON writes what the API takes. A map that is empty but not nil stays
// an empty object, and no recipients are an empty list, which the service then
// complains about in its own words.
func (r SendRequest) MarshalJSON() ([]byte, error) {
	type plain SendRequest
	at, err := writtenTime(r.SendAt, r.SendAtText)
	if err != nil {
		return nil, err
	}
	written := struct {
		plain
		Headers *map[string]string `json:"headers,omitempty"`
		SendAt  string             `json:"send_at,omitempty"`
	}{plain: plain(r), SendAt: at}
	if r.To == nil {
		written.To = []string{}
	}
	if r.Headers != nil {
		written.Headers = &r.Headers
	}
	return encodeBody(written)
}

// SendOption changes how one message or batch is sent.
type SendOption func(*sendSettings)

type sendSettings struct{ idempotencyKey string }

// WithIdempotencyKey gives a key of your own, of up to 200 printable ASCII
// characters: what was accepted once with a key is not sent again, by whichever
// process. Without it, each call of Send or SendBatch has a random one.
func WithIdempotencyKey(key string) SendOption {
	return func(s *sendSettings) { s.idempotencyKey = key }
}

// SendResult says what was taken.
type SendResult struct {
	// ID of the submission, this one call.
	ID string `json:"id"`
	// MessageIDs has one id per queued message, in the order of To, CC and BCC.
	MessageIDs []string `json:"message_ids"`
	// Rejected has the recipients that get nothing.
	Rejected []Rejection `json:"rejected"`
	// Replayed says that this repeats the answer to an earlier call with the same
	// Idempotency-Key, and that nothing was sent again.
	Replayed bool `json:"replayed"`
}

// Rejection is a recipient on a suppression list.
type Rejection struct {
	To     string          `json:"to"`
	Reason RejectionReason `json:"reason"`
}

// RejectionReason says why an address is on a suppression list.
type RejectionReason string

// What a RejectionReason can be.
const (
	RejectedHardBounce  RejectionReason = "hard_bounce"
	RejectedComplaint   RejectionReason = "complaint"
	RejectedUnsubscribe RejectionReason = "unsubscribe"
	RejectedManual      RejectionReason = "manual"
)

// MessageState says how far a message has come.
type MessageState string

// What a MessageState can be. Delivered, bounced, failed and canceled are the
// end, except that a report may turn delivered into bounced.
const (
	MessageScheduled MessageState = "scheduled"
	MessageQueued    MessageState = "queued"
	MessageSending   MessageState = "sending"
	MessageDeferred  MessageState = "deferred"
	MessageDelivered MessageState = "delivered"
	MessageBounced   MessageState = "bounced"
	MessageFailed    MessageState = "failed"
	MessageCanceled  MessageState = "canceled"
)

// Email is one message and what happened to it.
type Email struct {
	ID           string       `json:"id"`
	SubmissionID string       `json:"submission_id"`
	State        MessageState `json:"state"`
	From         string       `json:"from"`
	To           string       `json:"to"`
	Subject      string       `json:"subject"`
	// Source is "smtp", or empty for mail that was handed in by HTTP.
	Source string `json:"source,omitempty"`
	// HeaderMessageID is the Message-ID of a mail that was handed in by SMTP;
	// empty for all others.
	HeaderMessageID string `json:"header_message_id,omitempty"`
	// Tags and Metadata are nil where the call gave none.
	Tags      map[string]string `json:"tags,omitempty"`
	Metadata  map[string]string `json:"metadata,omitempty"`
	CreatedAt time.Time         `json:"created_at"`
	// Events are in the order in which they happened.
	Events []Event `json:"events"`
}

// Send hands a message over. When it returns without an error, the message is
// stored safely by the service. It may be repeated at will: see
// WithIdempotencyKey.
func (s *EmailsService) Send(ctx context.Context, message SendRequest, options ...SendOption) (*SendResult, error) {
	result := new(SendResult)
	what := call{method: http.MethodPost, path: "/emails", body: message}
	if err := s.send(ctx, what, options, result); err != nil {
		return nil, err
	}
	return result, nil
}

// send makes a call with an idempotency key, the caller's or a random one.
func (s *EmailsService) send(ctx context.Context, what call, options []SendOption, result any) error {
	settings := sendSettings{idempotencyKey: newUUID()}
	for _, option := range options {
		option(&settings)
	}
	if !isPrintableASCII(settings.idempotencyKey) {
		return invalidArgument("The idempotency key is blank or has characters other than printable ASCII.")
	}
	what.idempotencyKey = settings.idempotencyKey
	return s.caller.do(ctx, what, result)
}

// Get shows the message with an id out of SendResult.MessageIDs.
func (s *EmailsService) Get(ctx context.Context, id string) (*Email, error) {
	path, err := pathWithID("/emails", id)
	if err != nil {
		return nil, err
	}
	email := new(Email)
	if err := s.caller.do(ctx, call{method: http.MethodGet, path: path}, email); err != nil {
		return nil, err
	}
	return email, nil
}

// newUUID is a random one (RFC 9562 section 5.4), or "" when the system has no
// randomness, which Send then refuses to work with.
func newUUID() string {
	var b [16]byte
	if _, err := rand.Read(b[:]); err != nil {
		return ""
	}
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func isPrintableASCII(text string) bool {
	for i := 0; i < len(text); i++ {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return strings.TrimLeft(text, " ") != ""
}
