# frozen_string_literal: true

require_relative 'settings'
require_relative 'transport'
require_relative 'resources/emails'
require_relative 'resources/submissions'
require_relative 'resources/domains'
require_relative 'resources/webhooks'
require_relative 'resources/templates'
require_relative 'resources/events'
require_relative 'resources/suppressions'

module Postrider
  # The API of one Postrider server. It can be shared by threads.
  #
  # The key and the address come from the arguments or from POSTRIDER_API_KEY and POSTRIDER_BASE_URL.
  # +timeout+ is the limit of one attempt in seconds; +max_retries+ 0 switches retries off.
  class Client
    attr_reader :emails, :submissions, :domains, :webhooks, :templates, :events, :suppressions

    def initialize(api_key: nil, base_url: nil, max_retries: Settings::MAX_RETRIES, timeout: Settings::TIMEOUT_SECONDS)
      @settings = Settings.new(api_key: api_key, base_url: base_url, max_retries: max_retries, timeout: timeout)
      @transport = Transport.new(@settings)
      @emails = Resources::Emails.new(@transport)
      @submissions = Resources::Submissions.new(@transport)
      @domains = Resources::Domains.new(@transport)
      @webhooks = Resources::Webhooks.new(@transport)
      @templates = Resources::Templates.new(@transport)
      @events = Resources::Events.new(@transport)
      @suppressions = Resources::Suppressions.new(@transport)
    end

    # Counts what happened from +from+ to before +to+ (Times or strings), by +hour+ or +day+ (UTC), of all messages or
    # those with the +tag+ +name:value+; answers Stats.
    def stats(from: nil, to: nil, by: nil, tag: nil)
      query = { from: Timestamp.of('from', from), to: Timestamp.of('to', to), by: by, tag: tag }
      Stats.from(@transport.call(:get, '/stats', query: query))
    end

    # Whether the server can work, as a Health. A server without its database is an answer, not an error.
    def health
      Health.from(@transport.health)
    end

    # The same as Postrider.verify_webhook; it makes no call.
    def verify_webhook(payload, headers, secret, tolerance: WebhookVerifier::TOLERANCE_SECONDS, now: Time.now)
      Postrider.verify_webhook(payload, headers, secret, tolerance: tolerance, now: now)
    end

    # The key must not reach a log.
    def inspect
      "#<#{self.class.name} base_url=#{@settings.base_url.to_s.inspect}>"
    end
    alias to_s inspect
  end
end
