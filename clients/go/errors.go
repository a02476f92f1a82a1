package postrider

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// Error is what all errors of this package have in common: errors.As finds it
// in each of them. An error that is of no other type is one too, for example a
// missing API key or an answer that nobody can read.
type Error struct {
	// Status of the answer; 0 when there was none.
	Status int
	// Code that the service gave, for example "domain_not_verified"; decide by it.
	// Where the answer had none, it is "http_" and the status, and without an
	// answer one of this library: "network_error", "timeout", "missing_api_key",
	// "missing_base_url", "invalid_option", "invalid_argument".
	Code string
	// Message says what is wrong and what to do, for people.
	Message string
	// RequestID names the call in the log of the service.
	RequestID string
	// Index says which email of a batch the error is about, from 0; nil when the
	// answer had none.
	Index *int

	cause error
}

// common is embedded in place of Error, whose name would hide the method Error.
type common = Error

// Error says status, code, message and request id, as far as there are such.
func (e *Error) Error() string {
	text := "postrider: "
	if e.Status != 0 {
		text += fmt.Sprintf("%d ", e.Status)
	}
	if e.Code != "" {
		text += e.Code + ": "
	}
	text += e.Message
	if e.RequestID != "" {
		text += " (request " + e.RequestID + ")"
	}
	return text
}

// Unwrap gives the error behind this one, if any.
func (e *Error) Unwrap() error { return e.cause }

// AuthError is a 401: the API key is missing, unknown or revoked.
type AuthError struct{ common }

// ScopeError is a 403 "scope_required": the key lacks the scope that the
// message names.
type ScopeError struct{ common }

// TenantNotActiveError is a 403 "tenant_not_active": the account is suspended,
// in review or not yet confirmed.
type TenantNotActiveError struct{ common }

// ValidationError is any other 4xx: repeating the call unchanged does not help.
type ValidationError struct {
	common
	// Domain that could not be verified; only with the code "verification_failed".
	Domain string
	// Check that failed first; only with the code "verification_failed".
	Check *DomainCheck
}

// RateLimitError is a 429 after all retries.
type RateLimitError struct {
	common
	// RetryAfter is how long to wait until one call will be let through; 0 when
	// the answer did not say.
	RetryAfter time.Duration
}

// ServerError is a 5xx after all retries.
type ServerError struct{ common }

// NetworkError means that no answer came, after all retries: the name was not
// found, the connection failed or broke, or time ran out. The context's error,
// if that was the reason, is behind it (errors.Is).
type NetworkError struct {
	common
	// Timeout says that time ran out.
	Timeout bool
}

// WebhookVerificationError means that a request is not from the service, is too
// old, or cannot be checked. Answer it with a 400 and do not look at its body.
type WebhookVerificationError struct{ common }

// Unwrap gives the *Error in this error.
func (e *AuthError) Unwrap() error { return &e.common }

// Unwrap gives the *Error in this error.
func (e *ScopeError) Unwrap() error { return &e.common }

// Unwrap gives the *Error in this error.
func (e *TenantNotActiveError) Unwrap() error { return &e.common }

// Unwrap gives the *Error in this error.
func (e *ValidationError) Unwrap() error { return &e.common }

// Unwrap gives the *Error in this error.
func (e *RateLimitError) Unwrap() error { return &e.common }

// Unwrap gives the *Error in this error.
func (e *ServerError) Unwrap() error { return &e.common }

// Unwrap gives the *Error in this error.
func (e *NetworkError) Unwrap() error { return &e.common }

// Unwrap gives the *Error in this error.
func (e *WebhookVerificationError) Unwrap() error { return &e.common }

// refusal makes the error for an answer that is not a success.
func refusal(a *answer) error {
	body := a.errorBody()
	base := common{Status: a.status, RequestID: a.requestID, Code: body.Error, Message: body.Message, Index: body.index()}
	if base.Code == "" {
		base.Code = "http_" + strconv.Itoa(a.status)
	}
	if base.Message == "" {
		base.Message = a.plainMessage()
	}
	switch {
	case a.status == http.StatusUnauthorized:
		return &AuthError{base}
	case a.status == http.StatusForbidden && base.Code == "scope_required":
		return &ScopeError{base}
	case a.status == http.StatusForbidden && base.Code == "tenant_not_active":
		return &TenantNotActiveError{base}
	case a.status == http.StatusTooManyRequests:
		wait, _ := a.retryAfter()
		return &RateLimitError{base, wait}
	case a.status >= 400 && a.status < 500:
		return &ValidationError{base, body.Domain, body.Check}
	case a.status >= 500:
		return &ServerError{base}
	}
	return &base
}
