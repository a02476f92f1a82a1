# frozen_string_literal: true

require 'uri'

module Postrider
  # Where to call and how, checked once: from arguments, else from the environment.
  class Settings
    MAX_RETRIES = 3
    TIMEOUT_SECONDS = 30

    attr_reader :api_key, :base_url, :max_retries, :timeout

    def initialize(api_key: nil, base_url: nil, max_retries: MAX_RETRIES, timeout: TIMEOUT_SECONDS, env: ENV)
      @api_key = check_key(given(api_key.nil? ? env['POSTRIDER_API_KEY'] : api_key))
      @base_url = check_url(given(base_url.nil? ? env['POSTRIDER_BASE_URL'] : base_url))
      @max_retries = check_retries(max_retries)
      @timeout = check_timeout(timeout)
      freeze
    end

    # The key must not reach a log.
    def inspect
      "#<#{self.class.name} base_url=#{base_url.to_s.inspect} max_retries=#{max_retries} timeout=#{timeout}>"
    end
    alias to_s inspect

    private

    def given(value)
      text = value.to_s.strip
      text unless text.empty?
    end

    def check_key(key)
      refuse('there is no API key: pass api_key: or set POSTRIDER_API_KEY.', 'missing_api_key') if key.nil?
      # Anything else could not travel in a header; the message does not repeat it, it may be most of a key.
      refuse('api_key: holds characters that no API key has.') unless key.match?(/\A[\x21-\x7e]+\z/)
      key.dup.freeze
    end

    def check_url(url)
      refuse('there is no base URL: pass base_url: or set POSTRIDER_BASE_URL.', 'missing_base_url') if url.nil?
      uri = parse(url)
      refuse('base_url: must be an http or https URL, like https://mail.example.com.') unless web_address?(uri)
      refuse('base_url: must not hold a user or password.') if uri.userinfo
      refuse('base_url: must not hold a query or fragment.') if uri.query || uri.fragment
      uri.path = uri.path.sub(%r{/+\z}, '')
      uri.freeze
    end

    def parse(url)
      URI.parse(url)
    rescue URI::InvalidURIError
      nil
    end

    def web_address?(uri)
      uri.is_a?(URI::HTTP) && !uri.hostname.to_s.empty?
    end

    def check_retries(count)
      return count if count.is_a?(Integer) && !count.negative?

      refuse('max_retries: must be a whole number, 0 or more.')
    end

    def check_timeout(seconds)
      return seconds if seconds.is_a?(Numeric) && seconds.positive? && seconds.finite?

      refuse('timeout: must be a number of seconds above 0.')
    end

    def refuse(message, code = 'invalid_option')
      raise Error.new(message, code: code)
    end
  end
end
