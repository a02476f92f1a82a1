package postrider

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// What no answer of a server can show is tested here; the rest is in the
// conformance suite that all client libraries share.

func newTestClient(t *testing.T, handler http.HandlerFunc, options ...Option) *Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	client, err := New(append([]Option{WithAPIKey("pr_test"), WithBaseURL(server.URL)}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func TestCancelledContextEndsTheCall(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	client := newTestClient(t, func(w http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	_, err := client.Domains.List(ctx)
	var network *NetworkError
	if !errors.As(err, &network) || network.Timeout || network.Code != "network_error" {
		t.Errorf("is %#v", err)
	}
	if !errors.Is(err, context.Canceled) {
		t.Error("the context's error is not behind it")
	}
}

func TestCancelledContextEndsAPause(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	client := newTestClient(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusTooManyRequests)
		time.AfterFunc(time.Millisecond, cancel)
	})
	_, err := client.Domains.List(ctx)
	// On a busy machine the cancellation can come before the pause: then the answer is the result.
	var limited *RateLimitError
	if !errors.Is(err, context.Canceled) && !errors.As(err, &limited) {
		t.Errorf("is %v", err)
	}
}

func TestDeadlineOfTheContextIsATimeout(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	client := newTestClient(t, func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	_, err := client.Domains.List(ctx)
	var network *NetworkError
	if !errors.As(err, &network) || !network.Timeout || network.Code != "timeout" {
		t.Errorf("is %#v", err)
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error("the context's error is not behind it")
	}
}

func TestPauseThatWouldOutlastTheDeadlineIsNotBegun(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	client := newTestClient(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	_, err := client.Domains.List(ctx)
	var limited *RateLimitError
	if !errors.As(err, &limited) || limited.RetryAfter != time.Hour {
		t.Errorf("is %#v", err)
	}
}

func TestEveryErrorHasTheBase(t *testing.T) {
	base := common{Status: 418, Code: "teapot", Message: "I am one.", RequestID: "req_1"}
	all := []error{
		&base,
		&AuthError{base},
		&ScopeError{base},
		&TenantNotActiveError{base},
		&ValidationError{common: base},
		&RateLimitError{common: base},
		&ServerError{base},
		&NetworkError{common: base},
		&WebhookVerificationError{base},
	}
	for _, err := range all {
		var found *Error
		if !errors.As(fmt.Errorf("wrapped: %w", err), &found) || found.Status != 418 {
			t.Errorf("%T has no *Error behind it", err)
		}
		if err.Error() != "postrider: 418 teapot: I am one. (request req_1)" {
			t.Errorf("%T says %q", err, err)
		}
	}
}

func TestDataThatIsNoJSON(t *testing.T) {
	client := newTestClient(t, func(w http.ResponseWriter, r *http.Request) { t.Error("was called") })
	_, err := client.Emails.Send(context.Background(), SendRequest{Data: map[string]any{"f": func() {}}})
	var base *Error
	if !errors.As(err, &base) || base.Code != "invalid_argument" {
		t.Errorf("is %v", err)
	}
}

func TestMessageWithoutNewFieldsIsTheSameAsBefore(t *testing.T) {
	message := SendRequest{
		From: "a", To: []string{"b"}, Subject: "S", HTML: "<p>", TemplateID: "1",
		Data: map[string]int{"cc": 1}, Headers: map[string]string{},
	}
	text, err := encodeBody(message)
	want := `{"from":"a","to":["b"],"subject":"S","html":"<p>","template_id":"1","data":{"cc":1},"headers":{}}`
	if err != nil || string(text) != want {
		t.Errorf("%s, %v", text, err)
	}
}

func TestAttachmentsAsBytesAndAsBase64(t *testing.T) {
	for want, given := range map[string]Attachment{
		`{"filename":"<a>&b","content":"AP/+"}`: {Filename: "<a>&b", Content: []byte{0, 255, 254}},
		`{"filename":"a","content":""}`:         {Filename: "a"},
		`{"filename":"a","content":"AP/+\n","content_type":"text/csv","content_id":"b"}`: {
			Filename: "a", ContentBase64: "AP/+\n", ContentType: "text/csv", ContentID: "b",
		},
	} {
		text, err := encodeBody([]Attachment{given})
		if err != nil || string(text) != "["+want+"]" {
			t.Errorf("%s, %v", text, err)
		}
	}
}

func TestAttachmentWithTwoContentsIsRefused(t *testing.T) {
	client := newTestClient(t, func(w http.ResponseWriter, r *http.Request) { t.Error("was called") })
	both := Attachment{Filename: "a", Content: []byte{1}, ContentBase64: "AQ=="}
	_, err := client.Emails.Send(context.Background(), SendRequest{Attachments: []Attachment{both}})
	var base *Error
	if !errors.As(err, &base) || base.Code != "invalid_argument" || !strings.Contains(base.Message, "ContentBase64") {
		t.Errorf("is %v", err)
	}
}

func TestEmptyIdempotencyKeyIsRefused(t *testing.T) {
	client := newTestClient(t, func(w http.ResponseWriter, r *http.Request) { t.Error("was called") })
	_, err := client.Emails.Send(context.Background(), SendRequest{}, WithIdempotencyKey(""))
	var base *Error
	if !errors.As(err, &base) || base.Code != "invalid_argument" {
		t.Errorf("is %v", err)
	}
}

func TestAnAttemptMayTake30Seconds(t *testing.T) {
	var left time.Duration
	transport := roundTrip(func(r *http.Request) (*http.Response, error) {
		deadline, _ := r.Context().Deadline()
		left = time.Until(deadline)
		return nil, io.EOF
	})
	client := newTestClient(t, nil, WithTransport(transport), WithMaxRetries(0))
	if _, err := client.Domains.List(context.Background()); err == nil || left <= 29*time.Second || left > 30*time.Second {
		t.Errorf("%v were left, and the error is %v", left, err)
	}
}

func TestTransportOfTheCaller(t *testing.T) {
	var seen *http.Request
	transport := roundTrip(func(r *http.Request) (*http.Response, error) {
		seen = r
		body := io.NopCloser(strings.NewReader(`{"status":"ok"}`))
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: body}, nil
	})
	client := newTestClient(t, func(http.ResponseWriter, *http.Request) { t.Error("was called") }, WithTransport(transport))
	health, err := client.Health(context.Background())
	if err != nil || health.Status != HealthOK || seen.URL.Path != "/healthz" {
		t.Errorf("%v, %v", health, err)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestNothingThatIsPrintedShowsASecret(t *testing.T) {
	client, err := New(WithAPIKey("pr_topsecret"), WithBaseURL("http://127.0.0.1:1"))
	if err != nil {
		t.Fatal(err)
	}
	webhook := &Webhook{ID: "1", Secret: "topsecret"}
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		for _, value := range []any{client, *client, client.Emails, *client.Emails, client.caller, *client.caller, webhook, *webhook, []Webhook{*webhook}} {
			if text := fmt.Sprintf(format, value); strings.Contains(text, "topsecret") {
				t.Errorf("%s of a %T shows %s", format, value, text)
			}
		}
	}
}
