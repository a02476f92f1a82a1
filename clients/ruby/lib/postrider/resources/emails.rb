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
      # With +cc+ or +bcc+ all recipients get a copy of one letter, which shows +to+ and +cc+; the limit of 50 counts
      # all three. +attachments+ are Attachment objects. +tags+ and +metadata+ are hashes of strings, which every event
      # quotes. +tracking+ (+{ opens: false }+, +{ clicks: true }+) overrides the account's settings.
      #
      # Without an +idempotency_key+ one is made for this call, so that its retries cannot send twice. Give your
      # own to be safe over a crash of your program as well.
      def send(from:, to:, subject:, html: nil, text: nil, template_id: nil, data: nil, headers: nil,
               idempotency_key: nil, cc: nil, bcc: nil, reply_to: nil, attachments: nil, tags: nil, metadata: nil,
               tracking: nil)
        body = { from: from, to: to, subject: subject, html: html, text: text, template_id: template_id, data: data,
                 headers: headers, cc: cc, bcc: bcc, reply_to: reply_to,
                 attachments: attachments && fields_of(attachments), tags: tags, metadata: metadata,
                 tracking: tracking }
        SendResult.from(@transport.call(:post, '/emails', body: body, headers: idempotency(idempotency_key)))
      end

      # One message, by an id out of +message_ids+, with its events; answers an Email.
      def get(id)
        Email.from(@transport.call(:get, '/emails/%s', id))
      end

      private

      # A hash would not say whether its content is bytes or base64.
      def fields_of(attachments)
        unless attachments.all?(Attachment)
          raise Error.new('attachments: must be Postrider::Attachment objects.', code: 'invalid_argument')
        end

        attachments.map(&:to_h)
      end

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
