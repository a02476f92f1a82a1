package postrider

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const defaultTolerance = 5 * time.Minute

// VerifyOption changes how VerifyWebhook judges.
type VerifyOption func(*verifySettings)

type verifySettings struct{ tolerance time.Duration }

// WithTolerance says how far the time of a request may be away from now, in both
// directions (5 minutes by default).
func WithTolerance(tolerance time.Duration) VerifyOption {
	return func(s *verifySettings) { s.tolerance = tolerance }
}

// VerifyWebhook checks by the secret of a webhook that a request comes from the
// service and is not an old copy (Standard Webhooks 1.0), and gives its event.
// The payload is the raw body, before anything has read and rewritten it;
// the names of the headers may be in any case. What does not pass is a
// *WebhookVerificationError, and nothing of it should be believed.
func VerifyWebhook[Payload ~[]byte | ~string](payload Payload, headers http.Header, secret string, options ...VerifyOption) (*Event, error) {
	settings := verifySettings{tolerance: defaultTolerance}
	for _, option := range options {
		option(&settings)
	}
	key, err := decodeSecret(secret)
	if err != nil {
		return nil, err
	}
	signed, err := readSignedHeaders(headers)
	if err != nil {
		return nil, err
	}
	if err := signed.checkAge(time.Now(), settings.tolerance); err != nil {
		return nil, err
	}
	body := []byte(payload)
	if !signed.isSignedWith(key, body) {
		return nil, unverified("no_matching_signature", "No signature fits the payload: the secret is another webhook's, or the payload is not the raw body.")
	}
	return readEvent(body)
}

type signedHeaders struct {
	id         string
	timestamp  string
	seconds    int64
	signatures string
}

func readSignedHeaders(headers http.Header) (signedHeaders, error) {
	var signed signedHeaders
	wanted := []struct {
		name string
		into *string
	}{
		{"webhook-id", &signed.id},
		{"webhook-timestamp", &signed.timestamp},
		{"webhook-signature", &signed.signatures},
	}
	for _, header := range wanted {
		*header.into = findHeader(headers, header.name)
		if *header.into == "" {
			return signed, unverified("missing_header", "The request has no header "+header.name+".")
		}
	}
	// 40 bits last for another 30,000 years; what is beyond comes back as their end.
	seconds, err := strconv.ParseUint(signed.timestamp, 10, 40)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return signed, unverified("invalid_timestamp", "The header webhook-timestamp is not a number of seconds.")
	}
	signed.seconds = int64(seconds)
	return signed, nil
}

// findHeader does not use Header.Get: who fills the map in themselves need not
// know Go's canonical form of names.
func findHeader(headers http.Header, name string) string {
	for given, values := range headers {
		if strings.EqualFold(given, name) && len(values) > 0 {
			return strings.Join(values, " ")
		}
	}
	return ""
}

func (s signedHeaders) isSignedWith(key, payload []byte) bool {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(s.id + "." + s.timestamp + "."))
	mac.Write(payload)
	expected := []byte("v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	// While a secret is being replaced there are several; one that fits is enough.
	for _, signature := range strings.Fields(s.signatures) {
		if hmac.Equal([]byte(signature), expected) {
			return true
		}
	}
	return false
}

func (s signedHeaders) checkAge(now time.Time, tolerance time.Duration) error {
	at := time.Unix(s.seconds, 0)
	switch {
	case now.Sub(at) > tolerance:
		return unverified("timestamp_too_old", "The request is too old; it may be a copy.")
	case at.Sub(now) > tolerance:
		return unverified("timestamp_too_new", "The request is from the future; check the clock of this machine.")
	}
	return nil
}

func decodeSecret(secret string) ([]byte, error) {
	text := strings.TrimRight(strings.TrimPrefix(strings.TrimSpace(secret), "whsec_"), "=")
	key, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil || len(key) == 0 {
		return nil, unverified("invalid_secret", "The secret is not the base64 text that the service gave when the webhook was created.")
	}
	return key, nil
}

func readEvent(payload []byte) (*Event, error) {
	event := new(Event)
	if !isObject(payload) || json.Unmarshal(payload, event) != nil {
		return nil, unverified("invalid_payload", "The payload is signed, but no event.")
	}
	return event, nil
}

func unverified(code, message string) error {
	return &WebhookVerificationError{common{Code: code, Message: message}}
}
