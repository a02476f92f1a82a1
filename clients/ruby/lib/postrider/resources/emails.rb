# frozen_string_literal: true

require 'securerandom'

require_relative '../message'

module Postrider
  module Resources
    # Sending, and what became of it.
    class Emails
      def initialize(transport)
        @transport = transport
      end

      # Sends one message to each recipient in +to+ (a string or an array of at most 50) and answers a SendResult.
      # Give +html+, +text+ or both, or +template_id+ with +data+; the +subject+ can be left out if the template has
      # one.
      #
      # With +cc+ or +bcc+ all recipients get a copy of one letter, which shows +to+ and +cc+; the limit of 50 counts
      # all three. +attachments+ are Attachment objects. +tags+ and +metadata+ are hashes of strings, which every event
      # quotes. +tracking+ (+{ opens: false }+, +{ clicks: true }+) overrides the account's settings. The messages wait
      # for the time +send_at+, at most 30 days ahead: a Time, or a string like +2026-12-24T18:00:00+01:00+.
      #
      # Without an +idempotency_key+ one is made for this call, so that its retries cannot send twice. Give your
      # own to be safe over a crash of your program as well.
      def send(from:, to:, subject: nil, html: nil, text: nil, template_id: nil, data: nil, headers: nil,
               idempotency_key: nil, cc: nil, bcc: nil, reply_to: nil, attachments: nil, tags: nil, metadata: nil,
               tracking: nil, send_at: nil)
        body = Message.body(from: from, to: to, subject: subject, html: html, text: text, template_id: template_id,
                            data: data, headers: headers, cc: cc, bcc: bcc, reply_to: reply_to,
                            attachments: attachments, tags: tags, metadata: metadata, tracking: tracking,
                            send_at: send_at)
        SendResult.from(@transport.call(:post, '/emails', body: body, headers: idempotency(idempotency_key)))
      end

      # Sends up to 100 emails with one call; answers a BatchResult. Each of +emails+ is a hash with the arguments of
      # +send+ but +idempotency_key+; the one given here is for the whole batch.
      #
      # The first fault refuses all, and its error has the +index+ of the email; with +on_error: 'skip'+ what is good is
      # accepted, and the results say what was not.
      def send_batch(emails:, on_error: nil, idempotency_key: nil)
        body = { emails: Message.bodies(emails), on_error: on_error }
        BatchResult.from(@transport.call(:post, '/emails/batch', body: body, headers: idempotency(idempotency_key)))
      end

      # One message, by an id out of +message_ids+, with its events; answers an Email.
      def get(id)
        Email.from(@transport.call(:get, '/emails/%s', id))
      end

      # Messages for which all of this is true, newest first; answers an EmailPage. +to+ and +from+ are addresses or
      # domains, +tag+ is +name:value+, the times are Times or strings, +after+ is +next+ of the page before, and
      # +limit+ is 1 to 100 (25 when not given).
      def list(state: nil, to: nil, from: nil, tag: nil, created_after: nil, created_before: nil, after: nil,
               limit: nil)
        query = { state: state, to: to, from: from, tag: tag,
                  created_after: Timestamp.of('created_after', created_after),
                  created_before: Timestamp.of('created_before', created_before), after: after, limit: limit }
        EmailPage.from(@transport.call(:get, '/emails', query: query))
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
