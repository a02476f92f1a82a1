package postrider

import (
	"encoding/base64"
	"errors"
)

// Attachment is a file to send along.
type Attachment struct {
	// Filename has no path.
	Filename string
	// Content is the file, byte for byte.
	Content []byte
	// ContentBase64 is what Content would be in base64, for those who have it so
	// already; it is sent as it is. Give one of the two.
	ContentBase64 string
	// ContentType is derived from the name when it is empty.
	ContentType string
	// ContentID is for an image in the HTML: <img src="cid:…">.
	ContentID string
}

// MarshalJSON writes what the API takes.
func (a Attachment) MarshalJSON() ([]byte, error) {
	content := a.ContentBase64
	if len(a.Content) > 0 {
		if content != "" {
			return nil, errors.New("an Attachment has both Content and ContentBase64")
		}
		content = base64.StdEncoding.EncodeToString(a.Content)
	}
	return encodeBody(struct {
		Filename    string `json:"filename"`
		Content     string `json:"content"`
		ContentType string `json:"content_type,omitempty"`
		ContentID   string `json:"content_id,omitempty"`
	}{a.Filename, content, a.ContentType, a.ContentID})
}

// Tracking says for one call what is tracked, in place of the account's
// settings. What is nil stays as the account has it; see Bool.
type Tracking struct {
	Opens  *bool `json:"opens,omitempty"`
	Clicks *bool `json:"clicks,omitempty"`
}

// Bool makes a pointer to a value, for Tracking.
func Bool(value bool) *bool { return &value }
