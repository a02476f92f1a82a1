# frozen_string_literal: true

require 'openssl'

require_relative 'json'

module Postrider
  # Checks the signature of webhooks (Standard Webhooks 1.0). It can be kept and used by many threads.
  class WebhookVerifier
    TOLERANCE_SECONDS = 300
    SECRET_PREFIX = 'whsec_'
    VERSION_PREFIX = 'v1,'

    def initialize(secret, tolerance: TOLERANCE_SECONDS)
      @key = decode(secret)
      @tolerance = tolerance
    end

    # Answers the Event; raises WebhookVerificationError.
    def verify(payload, headers, now: Time.now)
      raw = raw_bytes(payload)
      found = signing_headers(headers)
      id, timestamp, signature = %w[webhook-id webhook-timestamp webhook-signature].map do |name|
        found[name] || fail_with('missing_header', "the header #{name} is missing.")
      end
      check_time(timestamp, now)
      check_signature("#{id}.#{timestamp}.".b + raw, signature)
      parse(raw)
    end

    # The key must not reach a log.
    def inspect
      "#<#{self.class.name} tolerance=#{@tolerance}>"
    end
    alias to_s inspect

    private

    def decode(secret)
      fail_with('invalid_secret', 'the secret must be a string.') unless secret.is_a?(String)
      text = secret.strip.delete_prefix(SECRET_PREFIX)
      # Base64's padding may be missing.
      key = text.sub(/=+\z/, '').then { |bare| (bare + ('=' * (-bare.length % 4))).unpack1('m0') }
      fail_with('invalid_secret', 'the secret is empty.') if key.empty?
      key
    rescue ArgumentError
      fail_with('invalid_secret', 'the secret is not base64: use it as webhooks.create answered it.')
    end

    def raw_bytes(payload)
      return payload.b if payload.is_a?(String)

      fail_with('payload_not_raw', 'the payload must be the raw body as a string, not what was parsed from it: ' \
                                   'another spelling of the same JSON has another signature.')
    end

    # The three headers, from a Hash of any spelling, from lists of values, or from a Rack environment.
    def signing_headers(headers)
      found = {}
      headers.each do |name, value|
        plain = name.to_s.downcase.tr('_', '-').delete_prefix('http-')
        text = value.is_a?(Array) ? value.first : value
        found[plain] = text.to_s if plain.start_with?('webhook-') && !text.to_s.empty?
      end
      found
    end

    def check_time(timestamp, now)
      unless timestamp.match?(/\A[0-9]+\z/)
        fail_with('invalid_timestamp', 'the header webhook-timestamp is not a number of seconds.')
      end

      age = now.to_i - timestamp.to_i
      fail_with('timestamp_too_new', 'the timestamp is in the future: compare the clocks.') if -age > @tolerance
      # Written so that a tolerance of NaN lets nothing pass.
      return if age <= @tolerance

      fail_with('timestamp_too_old', 'the timestamp is too old: it may be an earlier call again.')
    end

    # There may be several signatures, of which one has to fit: so that secrets can be changed.
    def check_signature(content, header)
      expected = [OpenSSL::HMAC.digest('SHA256', @key, content)].pack('m0')
      candidates = header.split.select { |entry| entry.start_with?(VERSION_PREFIX) }
      return if candidates.any? { |entry| OpenSSL.secure_compare(entry.delete_prefix(VERSION_PREFIX), expected) }

      fail_with('no_matching_signature',
                'no signature fits: the body was changed on its way, or the secret is that of another webhook.')
    end

    def parse(raw)
      Event.from(Json.object(raw)) || fail_with('invalid_payload', 'the body is signed, but is no JSON object.')
    end

    def fail_with(code, message)
      raise WebhookVerificationError.new(message, code: code)
    end
  end
end
