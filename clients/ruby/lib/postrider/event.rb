# frozen_string_literal: true

module Postrider
  # The encryption of a delivery; policy is what the recipient's domain demands: none, testing or enforce.
  Tls = Answer.define(:version, :cipher, :verified, :policy)

  # With +email.delivered+ and +email.deferred+; next_attempt_at with the latter only.
  Delivery = Answer.define(:mx, :remote_ip, :smtp_code, :enhanced_code, :response, :attempt, :elapsed_ms,
                           :next_attempt_at, tls: Tls)

  # With +email.bounced+ and +email.failed+; type: hard, soft or block; source: smtp or dsn.
  Bounce = Answer.define(:type, :source, :smtp_code, :enhanced_code, :diagnostic, :mx, :reporting_mta, :attempt,
                         :suppressed)

  # With +email.canceled+; by: sender or operator.
  Cancellation = Answer.define(:by, :reason)

  # With +test+, which only +webhooks.test+ and the portal send.
  WebhookTest = Answer.define(:message)

  # With +email.complained+.
  Complaint = Answer.define(:feedback_type, :source, :user_agent, :arrival_date, :reported_domain, :suppressed)

  # With +email.opened+; machine: a program, not a person, fetched the pixel.
  Open = Answer.define(:first, :ip, :user_agent, :machine, :machine_reason)

  # With +email.clicked+.
  Click = Answer.define(:url, :link_index, :first, :ip, :user_agent, :machine)

  # What an event is about; of the last seven parts the one is set that the event's type has. tags and metadata are
  # hashes with the caller's names, as strings; nil where the call gave none. header_message_id is the Message-ID of a
  # mail that was handed in by SMTP; nil for all others.
  EventData = Answer.define(:message_id, :submission_id, :from, :to, :subject, :domain, :header_message_id, :tags,
                            :metadata, delivery: Delivery, bounce: Bounce, complaint: Complaint, open: Open,
                            click: Click, cancellation: Cancellation, test: WebhookTest)

  # One recipient's one fact, as +events.list+, +emails.get+ and the webhooks tell it.
  # +raw+ is the parsed JSON with everything in it, what this version does not know included.
  Event = Answer.define(:id, :type, :family, :timestamp, :raw, data: EventData) do
    def self.from(fields)
      return nil unless fields.is_a?(Hash)

      new(id: fields['id'], type: fields['type'], family: fields['family'], timestamp: fields['timestamp'],
          data: EventData.from(fields['data']), raw: fields).freeze
    end

    def to_h
      raw.transform_keys(&:to_sym)
    end
  end

  # A part of the list of events; when has_more is true, ask again after the id of the last one.
  EventPage = Answer.define(:has_more, events: [Event])

  # One message to one recipient; state: scheduled, queued, sending, deferred, delivered, bounced, failed or canceled.
  # source is smtp; nil where it was handed in by HTTP.
  Email = Answer.define(:id, :submission_id, :state, :from, :to, :subject, :created_at, :source, :header_message_id,
                        :tags, :metadata, events: [Event])

  # A message in a list; +emails.get+ answers its events.
  ListedEmail = Answer.define(:id, :submission_id, :state, :from, :to, :subject, :created_at, :header_message_id,
                              :tags, :metadata)

  # When has_more is true, ask again with +next+ as +after+. A search looks at a bounded number of messages: a page
  # whose complete is false can be short or empty although more follow.
  EmailPage = Answer.define(:has_more, :complete, :next, emails: [ListedEmail])
end
