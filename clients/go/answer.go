package postrider

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// answer is what came back from one attempt.
type answer struct {
	status    int
	header    http.Header
	requestID string
	body      []byte
}

// errorBody is what the service says when it refuses a call.
type errorBody struct {
	Error          string          `json:"error"`
	Message        string          `json:"message"`
	Index          json.RawMessage `json:"index"`
	RetryAfterSecs json.Number     `json:"retry_after_secs"`
	Domain         string          `json:"domain"`
	Check          *DomainCheck    `json:"check"`
}

// errorBody reads what there is; what comes from a proxy may be no JSON at all,
// or JSON of another kind, and is then as good as empty.
func (a *answer) errorBody() errorBody {
	var full errorBody
	if json.Unmarshal(a.body, &full) == nil {
		return full
	}
	var plain struct {
		Error   string          `json:"error"`
		Message string          `json:"message"`
		Index   json.RawMessage `json:"index"`
	}
	if json.Unmarshal(a.body, &plain) != nil {
		return errorBody{}
	}
	return errorBody{Error: plain.Error, Message: plain.Message, Index: plain.Index}
}

// index is nil when there is none, or it is not an index.
func (b errorBody) index() *int {
	index, err := strconv.Atoi(string(b.Index))
	if err != nil || index < 0 {
		return nil
	}
	return &index
}

// plainMessage stands in where the answer has no message of the service.
func (a *answer) plainMessage() string {
	name := strings.TrimSpace(strconv.Itoa(a.status) + " " + http.StatusText(a.status))
	if a.status >= 300 && a.status < 400 {
		return fmt.Sprintf("The answer is a redirect (%s), which is not followed; check the base URL.", name)
	}
	return fmt.Sprintf("The answer is a %s without a message of the service; a proxy may have sent it.", name)
}

func (a *answer) isSuccess() bool { return a.status >= 200 && a.status < 300 }

// decode reads the answer to a call that succeeded.
func (a *answer) decode(into any) error {
	err := errors.New("not a JSON object")
	if isObject(a.body) {
		err = json.Unmarshal(a.body, into)
	}
	if err == nil {
		return nil
	}
	return &Error{
		Status:    a.status,
		Code:      "http_" + strconv.Itoa(a.status),
		RequestID: a.requestID,
		Message:   "The answer is not the JSON that was expected; check the base URL.",
		cause:     err,
	}
}

// retryAfter is the pause that the service asks for in the header or else in the
// body, and whether it does. A date, which RFC 9110 allows too, the service never
// gives.
func (a *answer) retryAfter() (time.Duration, bool) {
	if wait, ok := wholeSeconds(strings.TrimSpace(a.header.Get("Retry-After"))); ok {
		return wait, true
	}
	return wholeSeconds(a.errorBody().RetryAfterSecs.String())
}

// isObject tells whether a text may be a JSON object. encoding/json would replace
// what is not UTF-8, and read null into anything.
func isObject(text []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("{")) && utf8.Valid(text)
}

func wholeSeconds(text string) (time.Duration, bool) {
	// 32 bits are 136 years, and cannot overflow a Duration.
	seconds, err := strconv.ParseUint(text, 10, 32)
	return time.Duration(seconds) * time.Second, err == nil
}
