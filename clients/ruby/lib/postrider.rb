# frozen_string_literal: true

require_relative 'postrider/version'
require_relative 'postrider/errors'
require_relative 'postrider/answers'
require_relative 'postrider/event'
require_relative 'postrider/managed'
require_relative 'postrider/attachment'
require_relative 'postrider/webhook_verifier'
require_relative 'postrider/client'

# Client for Postrider, the HTTP service for transactional e-mail.
#
#   client = Postrider::Client.new(api_key: 'pr_…', base_url: 'https://mail.example.com')
#   client.emails.send(from: 'shop@acme.example', to: 'jo@example.org', subject: 'Hello', text: 'Hi Jo')
module Postrider
  # Checks that a webhook was signed by the holder of +secret+, and answers its event.
  #
  # +payload+ is the body exactly as it arrived, never parsed JSON; +headers+ is any collection of
  # name and value (a Hash, a Rack environment, Rails' +request.headers+), names in any case;
  # +tolerance+ is how many seconds the timestamp may be away from +now+, in both directions.
  #
  # Raises WebhookVerificationError when anything about it is not right.
  def self.verify_webhook(payload, headers, secret, tolerance: WebhookVerifier::TOLERANCE_SECONDS, now: Time.now)
    WebhookVerifier.new(secret, tolerance: tolerance).verify(payload, headers, now: now)
  end
end
