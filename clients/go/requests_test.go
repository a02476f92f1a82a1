package postrider

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestATimeInBothFormsIsRefused(t *testing.T) {
	client := newTestClient(t, func(w http.ResponseWriter, r *http.Request) { t.Error("was called") })
	ctx := context.Background()
	message := SendRequest{SendAt: time.Now(), SendAtText: "2026-12-24T18:00:00+01:00"}
	_, sent := client.Emails.Send(ctx, message)
	_, sentMany := client.Emails.SendBatch(ctx, SendBatchRequest{Emails: []SendRequest{{}, message}})
	_, moved := client.Submissions.Move(ctx, "1", MoveSubmissionRequest{message.SendAt, message.SendAtText})
	for _, err := range []error{sent, sentMany, moved} {
		var base *Error
		if !errors.As(err, &base) || base.Code != "invalid_argument" || !strings.Contains(base.Message, "SendAtText") {
			t.Errorf("is %v", err)
		}
	}
}

func TestAnEmptyListIsSentAndNilIsNot(t *testing.T) {
	none := []string{}
	for expected, request := range map[string]any{
		`{"url":"u"}`:                         CreateWebhookRequest{URL: "u"},
		`{"url":"u","events":[]}`:             CreateWebhookRequest{URL: "u", Events: none},
		`{}`:                                  UpdateWebhookRequest{},
		`{"events":[]}`:                       UpdateWebhookRequest{Events: none},
		`{"description":""}`:                  UpdateWebhookRequest{Description: String("")},
		`{"csv":"a@b.example"}`:               ImportSuppressionsRequest{CSV: "a@b.example"},
		`{"addresses":[]}`:                    ImportSuppressionsRequest{Addresses: none},
		`{"emails":[]}`:                       SendBatchRequest{},
		`{"send_at":""}`:                      MoveSubmissionRequest{},
		`{"from":"","to":["<&>"]}`:            SendRequest{To: []string{"<&>"}},
		`{"emails":[{"from":"<&>","to":[]}]}`: SendBatchRequest{Emails: []SendRequest{{From: "<&>"}}},
	} {
		written, err := encodeBody(request)
		if err != nil || string(written) != expected {
			t.Errorf("is %s in place of %s, %v", written, expected, err)
		}
	}
}
