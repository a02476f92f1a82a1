package postrider

import (
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

const (
	defaultMaxRetries = 3
	defaultTimeout    = 30 * time.Second
)

// Option changes how New sets a client up.
type Option func(*settings)

type settings struct {
	apiKey     string
	baseURL    string
	maxRetries int
	timeout    time.Duration
	transport  http.RoundTripper
}

// WithAPIKey gives the API key; without it, POSTRIDER_API_KEY is used.
func WithAPIKey(key string) Option {
	return func(s *settings) { s.apiKey = key }
}

// WithBaseURL gives the address of the service, for example
// "https://api.example.com"; without it, POSTRIDER_BASE_URL is used.
func WithBaseURL(address string) Option {
	return func(s *settings) { s.baseURL = address }
}

// WithMaxRetries says how often a call is repeated after its first attempt
// (3 by default); 0 switches repeating off.
func WithMaxRetries(count int) Option {
	return func(s *settings) { s.maxRetries = count }
}

// WithTimeout says how long one attempt may take, from connecting to the last
// byte of the answer (30 s by default). The context limits the whole call.
func WithTimeout(perAttempt time.Duration) Option {
	return func(s *settings) { s.timeout = perAttempt }
}

// WithTransport gives what requests go through, for a proxy, certificates or
// tracing of your own.
func WithTransport(transport http.RoundTripper) Option {
	return func(s *settings) { s.transport = transport }
}

func readSettings(options []Option) settings {
	s := settings{
		apiKey:     os.Getenv("POSTRIDER_API_KEY"),
		baseURL:    os.Getenv("POSTRIDER_BASE_URL"),
		maxRetries: defaultMaxRetries,
		timeout:    defaultTimeout,
	}
	for _, option := range options {
		option(&s)
	}
	s.apiKey = strings.TrimSpace(s.apiKey)
	s.baseURL = strings.TrimSpace(s.baseURL)
	return s
}

// problem is what is wrong with the settings, if anything. It never shows the key.
func (s *settings) problem() *Error {
	switch {
	case s.apiKey == "":
		return &Error{Code: "missing_api_key", Message: "There is no API key: pass WithAPIKey or set POSTRIDER_API_KEY."}
	case !isVisibleASCII(s.apiKey):
		return invalidOption("The API key has characters that no key has; check where it comes from.")
	case s.baseURL == "":
		return &Error{Code: "missing_base_url", Message: "There is no base URL: pass WithBaseURL or set POSTRIDER_BASE_URL."}
	case s.maxRetries < 0:
		return invalidOption("The number of retries is negative; 0 switches them off.")
	case s.timeout <= 0:
		return invalidOption("The timeout must be longer than 0.")
	}
	return baseURLProblem(s.baseURL)
}

func baseURLProblem(address string) *Error {
	parsed, err := url.Parse(address)
	switch {
	case err != nil || parsed.Hostname() == "" || (parsed.Scheme != "http" && parsed.Scheme != "https"):
		return invalidOption("The base URL must look like https://api.example.com.")
	case parsed.User != nil:
		return invalidOption("The base URL must not have a user name or password in it.")
	case strings.ContainsAny(address, "?#"):
		return invalidOption("The base URL must not have a query or fragment.")
	}
	return nil
}

func invalidOption(message string) *Error {
	return &Error{Code: "invalid_option", Message: message}
}

func invalidArgument(message string) *Error {
	return &Error{Code: "invalid_argument", Message: message}
}

func isVisibleASCII(text string) bool {
	for i := 0; i < len(text); i++ {
		if text[i] <= ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}
