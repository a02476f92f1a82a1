package postrider

import (
	"encoding/json"
	"time"
)

// EventType says what happened.
type EventType string

// What an EventType can be; more may come.
const (
	EmailDelivered  EventType = "email.delivered"
	EmailDeferred   EventType = "email.deferred"
	EmailBounced    EventType = "email.bounced"
	EmailFailed     EventType = "email.failed"
	EmailCanceled   EventType = "email.canceled"
	EmailComplained EventType = "email.complained"
	EmailOpened     EventType = "email.opened"
	EmailClicked    EventType = "email.clicked"
	// TestEvent is sent by Webhooks.Test and the portal; it is not in the feed.
	TestEvent EventType = "test"
)

// EventFamily groups the types.
type EventFamily string

// What an EventFamily can be.
const (
	FamilyDelivery  EventFamily = "delivery"
	FamilyBounce    EventFamily = "bounce"
	FamilyComplaint EventFamily = "complaint"
	FamilyOpen      EventFamily = "open"
	FamilyTest      EventFamily = "test"
)

// Event is one fact about one message.
type Event struct {
	// ID is the same however often the event is sent: know it by this.
	ID        string      `json:"id"`
	Type      EventType   `json:"type"`
	Family    EventFamily `json:"family"`
	Timestamp time.Time   `json:"timestamp"`
	Data      EventData   `json:"data"`
	// Raw is the JSON that the event was read from, with whatever this version of
	// the library does not know.
	Raw json.RawMessage `json:"-"`
}

// UnmarshalJSON reads an event and keeps its JSON in Raw.
func (e *Event) UnmarshalJSON(text []byte) error {
	type plain Event
	read := plain{}
	if err := json.Unmarshal(text, &read); err != nil {
		return err
	}
	*e = Event(read)
	e.Raw = append(json.RawMessage(nil), text...)
	return nil
}

// EventData says which message it was, and what happened: exactly one of
// Delivery, Bounce, Cancellation, Complaint, Open, Click and Test is there, by the
// event's type.
type EventData struct {
	MessageID    string `json:"message_id"`
	SubmissionID string `json:"submission_id"`
	From         string `json:"from"`
	To           string `json:"to"`
	Subject      string `json:"subject"`
	Domain       string `json:"domain"`
	// HeaderMessageID is the Message-ID of a mail that was handed in by SMTP;
	// empty for all others.
	HeaderMessageID string `json:"header_message_id,omitempty"`
	// Tags and Metadata are nil where the call gave none.
	Tags     map[string]string `json:"tags,omitempty"`
	Metadata map[string]string `json:"metadata,omitempty"`

	// Delivery comes with EmailDelivered and EmailDeferred.
	Delivery *Delivery `json:"delivery,omitempty"`
	// Bounce comes with EmailBounced and EmailFailed.
	Bounce       *Bounce       `json:"bounce,omitempty"`
	Cancellation *Cancellation `json:"cancellation,omitempty"`
	Complaint    *Complaint    `json:"complaint,omitempty"`
	Open         *Open         `json:"open,omitempty"`
	Click        *Click        `json:"click,omitempty"`
	Test         *Test         `json:"test,omitempty"`
}

// Delivery is an attempt to deliver a message.
type Delivery struct {
	MX           *string `json:"mx"`
	RemoteIP     *string `json:"remote_ip"`
	SMTPCode     *int    `json:"smtp_code"`
	EnhancedCode *string `json:"enhanced_code"`
	Response     string  `json:"response"`
	// TLS is nil when the connection was not encrypted.
	TLS       *TLS  `json:"tls"`
	Attempt   int   `json:"attempt"`
	ElapsedMS int64 `json:"elapsed_ms"`
	// NextAttemptAt comes with EmailDeferred; nil in a notice of delay.
	NextAttemptAt *time.Time `json:"next_attempt_at,omitempty"`
}

// TLS says how a connection was encrypted.
type TLS struct {
	Version  string `json:"version"`
	Cipher   string `json:"cipher"`
	Verified bool   `json:"verified"`
	// Policy of the recipient's domain: "none", "testing" or "enforce".
	Policy string `json:"policy"`
}

// BounceType says how final a bounce is for the address.
type BounceType string

// What a BounceType can be: the address does not exist; anything else, for
// example a mailbox that stayed full; message or sender was not wanted.
const (
	BounceHard  BounceType = "hard"
	BounceSoft  BounceType = "soft"
	BounceBlock BounceType = "block"
)

// Bounce is a refusal for good, or the reason for giving up.
type Bounce struct {
	Type BounceType `json:"type"`
	// Source is "smtp" or, for a report that came back, "dsn".
	Source       string  `json:"source"`
	SMTPCode     *int    `json:"smtp_code"`
	EnhancedCode *string `json:"enhanced_code"`
	Diagnostic   *string `json:"diagnostic"`
	MX           *string `json:"mx"`
	ReportingMTA *string `json:"reporting_mta"`
	Attempt      int     `json:"attempt"`
	// Suppressed says that the address is now on your suppression list.
	Suppressed bool `json:"suppressed"`
}

// Cancellation is the end of a message before it was sent.
type Cancellation struct {
	// By is "sender", which is you, or "operator", who runs the service.
	By     string `json:"by"`
	Reason string `json:"reason"`
}

// Complaint is a recipient's report that a message was not wanted.
type Complaint struct {
	FeedbackType   string     `json:"feedback_type"`
	Source         string     `json:"source"`
	UserAgent      *string    `json:"user_agent"`
	ArrivalDate    *time.Time `json:"arrival_date"`
	ReportedDomain *string    `json:"reported_domain"`
	// Suppressed says that the address is now on your suppression list.
	Suppressed bool `json:"suppressed"`
}

// Open is a fetch of the tracking pixel.
type Open struct {
	// First says that nobody, not even a machine, fetched it before.
	First     bool    `json:"first"`
	IP        *string `json:"ip"`
	UserAgent *string `json:"user_agent"`
	// Machine says that it was most likely no person.
	Machine       bool    `json:"machine"`
	MachineReason *string `json:"machine_reason"`
}

// Click is a visit to a tracked link.
type Click struct {
	URL string `json:"url"`
	// LinkIndex counts the tracked links of the HTML from 0.
	LinkIndex int     `json:"link_index"`
	First     bool    `json:"first"`
	IP        *string `json:"ip"`
	UserAgent *string `json:"user_agent"`
	Machine   bool    `json:"machine"`
}

// Test comes with TestEvent.
type Test struct {
	Message string `json:"message"`
}
