package postrider

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// maxAnswerBytes bounds what one answer may take in memory; the largest that the
// service gives (a page of 1,000 events, all templates) stay well below.
const maxAnswerBytes = 64 << 20

// caller makes calls: it writes requests, repeats them, and reads answers.
type caller struct {
	baseURL    string
	maxRetries int
	timeout    time.Duration
	transport  http.RoundTripper
	// authorize puts the key into a request. A function, because whatever prints
	// this struct would print a string.
	authorize func(*http.Request)
}

// call is one call of the API.
type call struct {
	method string
	path   string
	// body is written as JSON; nil for none.
	body           any
	idempotencyKey string
	// isHealth marks the call that needs no key and whose 503 is an answer.
	isHealth bool
	// onlyAfter429 marks a call that must not happen twice: it is repeated only
	// when the service says that it did nothing.
	onlyAfter429 bool
}

func newCaller(s settings) *caller {
	transport := s.transport
	if transport == nil {
		transport = newTransport()
	}
	apiKey := s.apiKey
	return &caller{
		baseURL:    strings.TrimRight(s.baseURL, "/"),
		maxRetries: s.maxRetries,
		timeout:    s.timeout,
		transport:  transport,
		authorize:  func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+apiKey) },
	}
}

// newTransport is much like Go's default one, but of this client alone, with more
// connections kept (all go to one host), and without HTTP/2, whose requests the
// transport repeats by itself.
func newTransport() http.RoundTripper {
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		MaxIdleConns:        32,
		MaxIdleConnsPerHost: 32,
		IdleConnTimeout:     90 * time.Second,
		TLSNextProto:        map[string]func(string, *tls.Conn) http.RoundTripper{},
	}
}

// do makes a call and reads its answer into result, if that is not nil.
func (c *caller) do(ctx context.Context, what call, result any) error {
	var body []byte
	if what.body != nil {
		var err error
		if body, err = encodeBody(what.body); err != nil {
			return err
		}
	}
	a, err := c.attempts(ctx, what, body)
	switch {
	case err != nil:
		return err
	case !a.isSuccess() && !what.isAnsweredBy(a):
		return refusal(a)
	case result == nil:
		return nil
	}
	return a.decode(result)
}

// attempts repeats a call until it has an answer that counts, or none is left.
func (c *caller) attempts(ctx context.Context, what call, body []byte) (*answer, error) {
	for retry := 0; ; retry++ {
		a, err := c.attempt(ctx, what, body)
		if retry == c.maxRetries || ctx.Err() != nil || (a != nil && what.isAnsweredBy(a)) {
			return a, err
		}
		pause, again := pauseBefore(retry, a, randomFraction())
		if !again || !what.mayBeRepeated(a) || endsBefore(ctx, pause) {
			return a, err
		}
		if stopped := sleep(ctx, pause); stopped != nil {
			return nil, c.networkError(ctx, stopped)
		}
	}
}

// isAnsweredBy tells whether an answer is what was asked for, although its status
// says otherwise: the service says by a 503 how it is.
func (what call) isAnsweredBy(a *answer) bool {
	var health Health
	return what.isHealth && a.status == http.StatusServiceUnavailable &&
		json.Unmarshal(a.body, &health) == nil && health.Status == HealthDBUnreachable
}

// mayBeRepeated tells whether a repetition does no harm; the answer is nil after
// a network failure.
func (what call) mayBeRepeated(a *answer) bool {
	return !what.onlyAfter429 || (a != nil && a.status == http.StatusTooManyRequests)
}

// attempt sends the request once and reads the whole answer.
func (c *caller) attempt(ctx context.Context, what call, body []byte) (*answer, error) {
	attemptCtx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	request, err := c.newRequest(attemptCtx, what, body)
	if err != nil {
		return nil, c.networkError(ctx, err)
	}
	// Not through an http.Client: that would follow redirects, and the key with them.
	response, err := c.transport.RoundTrip(request)
	if err != nil {
		return nil, c.networkError(ctx, err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(io.LimitReader(response.Body, maxAnswerBytes+1))
	if err != nil {
		return nil, c.networkError(ctx, err)
	}
	a := &answer{
		status:    response.StatusCode,
		header:    response.Header,
		requestID: response.Header.Get("X-Request-Id"),
		body:      content,
	}
	if len(content) > maxAnswerBytes {
		a.body = nil
	}
	return a, nil
}

func (c *caller) newRequest(ctx context.Context, what call, body []byte) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, what.method, c.baseURL+what.path, onceReadable(what.method, body))
	if err != nil {
		return nil, err
	}
	request.ContentLength = int64(len(body))
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "postrider-go/"+Version)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if what.idempotencyKey != "" {
		request.Header.Set("Idempotency-Key", what.idempotencyKey)
	}
	if !what.isHealth {
		c.authorize(request)
	}
	return request, nil
}

// onceReadable wraps a body so that net/http cannot read it anew: when a kept
// connection breaks, it would repeat a GET, or what has an Idempotency-Key, by
// itself and at once, beyond WithMaxRetries and without a pause. An empty body
// that is not nil does this for a GET and puts nothing on the wire.
func onceReadable(method string, body []byte) io.Reader {
	if body == nil && method == http.MethodPost {
		return nil
	}
	return struct{ io.Reader }{bytes.NewReader(body)}
}

// networkError says why there is no answer. The context is the caller's, which
// may have ended sooner than the timeout of the attempt.
func (c *caller) networkError(ctx context.Context, err error) error {
	failed := &NetworkError{common: common{Code: "network_error", cause: err}}
	var mayBeTimeout net.Error
	switch {
	case ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded):
		failed.Message = fmt.Sprintf("There was no answer within %v.", c.timeout)
		failed.Timeout = true
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		failed.Message = "There was no answer before the deadline of the context."
		failed.Timeout = true
	case ctx.Err() != nil:
		failed.Message = "The call was cancelled."
		failed.cause = ctx.Err()
	default:
		failed.Message = "There was no answer: " + err.Error()
		failed.Timeout = errors.As(err, &mayBeTimeout) && mayBeTimeout.Timeout()
	}
	if failed.Timeout {
		failed.Code = "timeout"
	}
	return failed
}

// encodeBody writes JSON without Go's escapes of <, > and &: these would make
// HTML up to six times as long, and a body has at most 5 MiB.
func encodeBody(value any) ([]byte, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, &Error{Code: "invalid_argument", Message: "The request cannot be written as JSON: " + err.Error(), cause: err}
	}
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n")), nil
}

// pathWithID appends an id to a path. An empty one would address the whole list,
// and dots would climb out of it.
func pathWithID(collection, id string) (string, error) {
	if isNoSegment(id) {
		return "", invalidArgument("The id is empty, or dots that climb; pass the one that the service gave.")
	}
	return collection + "/" + url.PathEscape(id), nil
}

// pathWithAddress appends an email address to a path, as one segment.
func pathWithAddress(collection, address string) (string, error) {
	if isNoSegment(address) {
		return "", invalidArgument("The address is empty or has dots only.")
	}
	return collection + "/" + percentEncode(address), nil
}

func isNoSegment(text string) bool { return text == "" || text == "." || text == ".." }
