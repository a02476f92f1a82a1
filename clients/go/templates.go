package postrider

import (
	"context"
	"net/http"
	"time"
)

// TemplatesService manages stored contents; see Client.
type TemplatesService struct{ caller *caller }

// TemplateRequest is the whole of a template; what is empty, it does not have.
type TemplateRequest struct {
	// Name is for people.
	Name string `json:"name"`
	// HTML and Text are Liquid; at least one of them.
	HTML string `json:"html,omitempty"`
	Text string `json:"text,omitempty"`
	// Subject is Liquid, for emails that have no subject of their own.
	Subject string `json:"subject,omitempty"`
}

// Template is a stored content that Emails.Send fills in.
type Template struct {
	ID   string  `json:"id"`
	Name string  `json:"name"`
	HTML *string `json:"html"`
	Text *string `json:"text"`
	// Subject is nil when the template has none.
	Subject   *string   `json:"subject,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// Create stores a template.
func (s *TemplatesService) Create(ctx context.Context, request TemplateRequest) (*Template, error) {
	return s.one(ctx, call{method: http.MethodPost, path: "/templates", body: request})
}

// Update replaces all of a template; messages that were accepted do not change.
func (s *TemplatesService) Update(ctx context.Context, id string, request TemplateRequest) (*Template, error) {
	path, err := pathWithID("/templates", id)
	if err != nil {
		return nil, err
	}
	return s.one(ctx, call{method: http.MethodPut, path: path, body: request})
}

// List shows all your templates, oldest first.
func (s *TemplatesService) List(ctx context.Context) ([]Template, error) {
	var page struct {
		Templates []Template `json:"templates"`
	}
	if err := s.caller.do(ctx, call{method: http.MethodGet, path: "/templates"}, &page); err != nil {
		return nil, err
	}
	return page.Templates, nil
}

// Get shows one template.
func (s *TemplatesService) Get(ctx context.Context, id string) (*Template, error) {
	path, err := pathWithID("/templates", id)
	if err != nil {
		return nil, err
	}
	return s.one(ctx, call{method: http.MethodGet, path: path})
}

// Delete removes a template.
func (s *TemplatesService) Delete(ctx context.Context, id string) error {
	path, err := pathWithID("/templates", id)
	if err != nil {
		return err
	}
	return s.caller.do(ctx, call{method: http.MethodDelete, path: path}, nil)
}

func (s *TemplatesService) one(ctx context.Context, what call) (*Template, error) {
	template := new(Template)
	if err := s.caller.do(ctx, what, template); err != nil {
		return nil, err
	}
	return template, nil
}
