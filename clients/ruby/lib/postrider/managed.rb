# frozen_string_literal: true

# What the service answers about webhooks, suppressions and figures.
module Postrider
  # An endpoint for events; +events+ are types and families, nil for every event. Only +create+ and +rotate+ answer the
  # secret: store it, it is never shown again. previous_until comes with +rotate+: until then the old secret signs, too.
  Webhook = Answer.define(:id, :url, :description, :created_at, :secret, :events, :previous_until) do
    def inspect
      shown = to_h.merge(secret: secret && '[hidden]')
      "#<struct Postrider::Webhook #{shown.map { |name, value| "#{name}=#{value.inspect}" }.join(', ')}>"
    end
    alias_method :to_s, :inspect

    # pp has a way of its own for structs, which would show the secret.
    def pretty_print(printer)
      printer.text(inspect)
    end
  end

  # What an endpoint answered to a test event. status is nil without a response, answer is the first 4 KiB of its body.
  WebhookTestResult = Answer.define(:accepted, :status, :reason, :answer, :elapsed_ms)

  # One attempt to send an event to a webhook.
  WebhookAttempt = Answer.define(:number, :started_at, :elapsed_ms, :status, :reason, :answer)

  # One event for one webhook; state: due, delivered or failed. last_attempt is the last one that has ended.
  WebhookDelivery = Answer.define(:event_id, :type, :state, :attempts, :next_attempt_at, :finished_at,
                                  last_attempt: WebhookAttempt)

  # When has_more is true, ask again with +next+ as +after+.
  WebhookDeliveryPage = Answer.define(:has_more, :next, deliveries: [WebhookDelivery])

  # An event that will be sent again; its state is due.
  WebhookReplay = Answer.define(:webhook_id, :event_id, :state)

  # An address that gets no mail; reason: hard_bounce, complaint, unsubscribe or manual. message_id is that of the
  # message that led to it, or nil.
  Suppression = Answer.define(:address, :reason, :message_id, :created_at)

  # When has_more is true, ask again with +next+ as +after+.
  SuppressionPage = Answer.define(:has_more, :next, suppressions: [Suppression])

  # An entry of an import that can't be used: by its index in +addresses+, or by its line of the CSV, from 1.
  ImportRefusal = Answer.define(:index, :line, :message)

  # What came of an import; refusals has the first 100 of those that were refused, ignored_columns the names of columns
  # of the CSV that are not understood, and were not imported.
  ImportResult = Answer.define(:added, :known, :refused, :ignored_columns, refusals: [ImportRefusal])

  FIGURES = %i[accepted delivered deferred bounced_hard bounced_soft bounced_block bounced_later failed canceled
               complained opened opened_by_machine clicked].freeze
  private_constant :FIGURES

  # What was counted. deferred counts events; bounced_later is included in the three above it.
  Figures = Answer.define(*FIGURES)

  # The figures of one hour or day, which begins at +start+.
  FiguresStep = Answer.define(:start, *FIGURES)

  # Figures over a span, and for each of its steps, oldest first. tag and complete are nil unless a tag was asked for;
  # complete is false if the tag is not counted on a day that had too many.
  Stats = Answer.define(:from, :to, :by, :tag, :complete, total: Figures, steps: [FiguresStep])
end
