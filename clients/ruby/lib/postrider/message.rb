# frozen_string_literal: true

require_relative 'attachment'
require_relative 'timestamp'

module Postrider
  # The body of a message, from the arguments of +emails.send+.
  module Message
    def self.body(from:, to:, subject: nil, html: nil, text: nil, template_id: nil, data: nil, headers: nil, cc: nil,
                  bcc: nil, reply_to: nil, attachments: nil, tags: nil, metadata: nil, tracking: nil, send_at: nil)
      { from: from, to: to, subject: subject, html: html, text: text, template_id: template_id, data: data,
        headers: headers, cc: cc, bcc: bcc, reply_to: reply_to, attachments: attachments && fields_of(attachments),
        tags: tags, metadata: metadata, tracking: tracking, send_at: Timestamp.of('send_at', send_at) }.compact
    end

    # The bodies of a batch, each from a hash.
    def self.bodies(emails)
      emails.each_with_index.map do |email, index|
        raise invalid("emails[#{index}]: must be a hash.") unless email.is_a?(Hash)
        raise invalid("emails[#{index}]: only the batch has an idempotency_key.") if email.key?(:idempotency_key)

        begin
          body(**email)
        rescue ArgumentError => e
          raise invalid("emails[#{index}]: #{e.message}.")
        end
      end
    end

    # A hash would not say whether its content is bytes or base64.
    def self.fields_of(attachments)
      raise invalid('attachments: must be Postrider::Attachment objects.') unless attachments.all?(Attachment)

      attachments.map(&:to_h)
    end

    def self.invalid(message)
      Error.new(message, code: 'invalid_argument')
    end

    private_class_method :fields_of, :invalid
  end
end
