package postrider

import (
	"context"
	"net/http"
	"time"
)

// DomainsService manages the domains that you send from; see Client.
type DomainsService struct{ caller *caller }

// CreateDomainRequest names a domain to register.
type CreateDomainRequest struct {
	// Domain in lower case, without a trailing dot.
	Domain string `json:"domain"`
	// Selector of the DKIM key; the service chooses one when it is empty.
	Selector string `json:"selector,omitempty"`
}

// DomainState says whether a domain can be sent from.
type DomainState string

// What a DomainState can be; only from a verified domain can be sent.
const (
	DomainPending  DomainState = "pending"
	DomainVerified DomainState = "verified"
	DomainFailed   DomainState = "failed"
	DomainRevoked  DomainState = "revoked"
)

// CheckReason says what is wrong with a DNS record.
type CheckReason string

// What a CheckReason can be.
const (
	CheckNotFound        CheckReason = "not_found"
	CheckMismatch        CheckReason = "mismatch"
	CheckInvalidRecord   CheckReason = "invalid_record"
	CheckMultipleRecords CheckReason = "multiple_records"
	CheckDNSUnavailable  CheckReason = "dns_unavailable"
)

// Domain is a domain that you have registered.
type Domain struct {
	ID               string      `json:"id"`
	Domain           string      `json:"domain"`
	State            DomainState `json:"state"`
	DKIMSelector     string      `json:"dkim_selector"`
	DKIMPublicKeyB64 string      `json:"dkim_public_key_b64"`
	CreatedAt        time.Time   `json:"created_at"`
	// FailureReason says why the last check failed; nil when it did not.
	FailureReason *CheckReason `json:"failure_reason"`
	// VerifiedAt and LastCheckedAt are nil until that happens.
	VerifiedAt    *time.Time `json:"verified_at"`
	LastCheckedAt *time.Time `json:"last_checked_at"`
	// Records are what to publish in DNS.
	Records []DNSRecord `json:"records"`
	// Checks are what Verify found in DNS; no other answer has them.
	Checks []DomainCheck `json:"checks,omitempty"`
}

// DNSRecord is a record to publish.
type DNSRecord struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Value string `json:"value"`
	// Required is true for DKIM; the others are recommended.
	Required bool `json:"required"`
	// Purpose says what it is for, and what to mind.
	Purpose string `json:"purpose"`
}

// DomainCheck is what was found in DNS for one record.
type DomainCheck struct {
	// Record is "dkim", "spf" or "dmarc".
	Record   string   `json:"record"`
	Name     string   `json:"name"`
	Type     string   `json:"type"`
	Required bool     `json:"required"`
	OK       bool     `json:"ok"`
	Expected string   `json:"expected"`
	Found    []string `json:"found"`
	// Reason is nil when all is well.
	Reason *CheckReason `json:"reason"`
	// Message says in one sentence what is right, or what to change.
	Message string `json:"message"`
}

// Create registers a domain; its Records wait to be published then.
func (s *DomainsService) Create(ctx context.Context, request CreateDomainRequest) (*Domain, error) {
	domain := new(Domain)
	err := s.caller.do(ctx, call{method: http.MethodPost, path: "/domains", body: request}, domain)
	if err != nil {
		return nil, err
	}
	return domain, nil
}

// List shows all your domains, oldest first, revoked ones included.
func (s *DomainsService) List(ctx context.Context) ([]Domain, error) {
	var page struct {
		Domains []Domain `json:"domains"`
	}
	if err := s.caller.do(ctx, call{method: http.MethodGet, path: "/domains"}, &page); err != nil {
		return nil, err
	}
	return page.Domains, nil
}

// Get shows one domain.
func (s *DomainsService) Get(ctx context.Context, id string) (*Domain, error) {
	return s.one(ctx, http.MethodGet, id)
}

// Verify looks for the domain's records in DNS. When the DKIM record is not as
// expected, the error is a ValidationError with the code "verification_failed",
// whose Check says what was found.
func (s *DomainsService) Verify(ctx context.Context, id string) (*Domain, error) {
	path, err := pathWithID("/domains", id)
	if err != nil {
		return nil, err
	}
	verified := new(Domain)
	if err := s.caller.do(ctx, call{method: http.MethodPost, path: path + "/verify"}, verified); err != nil {
		return nil, err
	}
	return verified, nil
}

// Delete revokes a domain: nothing can be sent from it any more. What was
// accepted before is still delivered.
func (s *DomainsService) Delete(ctx context.Context, id string) (*Domain, error) {
	return s.one(ctx, http.MethodDelete, id)
}

func (s *DomainsService) one(ctx context.Context, method, id string) (*Domain, error) {
	path, err := pathWithID("/domains", id)
	if err != nil {
		return nil, err
	}
	domain := new(Domain)
	if err := s.caller.do(ctx, call{method: method, path: path}, domain); err != nil {
		return nil, err
	}
	return domain, nil
}
