# frozen_string_literal: true

require 'securerandom'

module Postrider
  module Resources
    # Sending, and what became of it.
    class Emails
      def initialize(transport)
        @transport = transport
      end

      # Sends one message to each recipient in +to+ (a string or an array of at most 50) and answers a SendResult.
      # Give +html+, +text+ or both, or +template_id+ with +data+.
      #
      # Without an +idempotency_key+ one is made for this call, so that its retries cannot send twice. Give your
      # own to be safe over a crash of your program as well.
      def send(from:, to:, subject:, html: nil, text: nil, template_id: nil, data: nil, headers: nil,
               idempotency_key: nil)
        body = { from: from, to: to, subject: subject, html: html, text: text, template_id: template_id, data: data,
                 headers: headers }
        SendResult.from(@transport.call(:post, '/emails', body: body, headers: idempotency(idempotency_key)))
      end

      # One message, by an id out of +message_ids+, with its events; answers an Email.
      def get(id)
        Email.from(@transport.call(:get, '/emails/%s', id))
      end

      private

      def idempotency(key)
        key = SecureRandom.uuid if key.nil?
        # Anything else could not travel in a header.
        unless key.is_a?(String) && key.match?(/\A[\x20-\x7e]+\z/) && !key.strip.empty?
          raise Error.new('idempotency_key: must be printable ASCII, not blank.', code: 'invalid_argument')
        end

        { 'Idempotency-Key' => key }
      end
    end
  end
end
