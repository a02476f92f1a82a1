# frozen_string_literal: true

module Postrider
  # What the service's answers are made of: frozen structs with the fields' own names.
  # A field that this version does not know is left out; one that the answer lacks is nil.
  module Answer
    # Makes a struct class whose members may themselves be answers.
    def self.define(*members, **nested, &block)
      Struct.new(*members, *nested.keys, keyword_init: true) do
        extend Building
        include Answer
        const_set(:NESTED, nested.freeze)
        class_eval(&block) if block
      end
    end

    # The way from parsed JSON to a struct.
    module Building
      def from(fields)
        return nil unless fields.is_a?(Hash)

        values = members.to_h { |name| [name, read(name, fields[name.to_s])] }
        new(**values).freeze
      end

      def from_list(list)
        list.is_a?(Array) ? list.map { |fields| from(fields) }.freeze : [].freeze
      end

      private

      def read(name, value)
        kind = self::NESTED[name]
        case kind
        when nil then value
        when Array then kind.first.from_list(value)
        else kind.from(value)
        end
      end
    end

    # The fields as the service names them, nested answers included; ready for JSON.
    def to_h
      super.transform_values { |value| Answer.plain(value) }
    end

    def self.plain(value)
      case value
      when Answer then value.to_h
      when Array then value.map { |entry| plain(entry) }
      else value
      end
    end
  end

  # A recipient that was dropped before queuing; reason: hard_bounce, complaint, unsubscribe or manual.
  RejectedRecipient = Answer.define(:to, :reason)

  # The answer to a send; message_ids follow the order of +to+, +cc+ and +bcc+, less what was rejected.
  SendResult = Answer.define(:id, :message_ids, :replayed, rejected: [RejectedRecipient])

  # An email of a batch that was not accepted.
  BatchRefusal = Answer.define(:error, :message)

  # The answer to a batch, in the order of its emails: a SendResult for each, or a BatchRefusal.
  BatchResult = Answer.define(:results) do
    def self.from(fields)
      return nil unless fields.is_a?(Hash)

      results = fields['results'].is_a?(Array) ? fields['results'] : []
      kind_of = ->(result) { result.is_a?(Hash) && result.key?('error') ? BatchRefusal : SendResult }
      new(results: results.map { |result| kind_of.call(result).from(result) }.freeze).freeze
    end
  end

  # When the messages of a submission will be sent.
  MoveResult = Answer.define(:id, :send_at)

  # The ids of the messages that are canceled, and of those that were finished or being sent.
  CancelResult = Answer.define(:canceled, :too_late)

  # One message of a submission; kind: to, cc or bcc.
  SubmissionMessage = Answer.define(:id, :to, :kind, :state)

  # One call of +emails.send+; its messages are in the order of +to+, +cc+ and +bcc+. A send_at of nil is at once;
  # source is smtp, and nil where it was handed in by HTTP.
  Submission = Answer.define(:id, :created_at, :send_at, :from, :subject, :source, :header_message_id, :tags, :metadata,
                             messages: [SubmissionMessage], rejected: [RejectedRecipient])

  # A DNS record to publish.
  DnsRecord = Answer.define(:name, :type, :value, :required, :purpose)

  # What the verification found for one record.
  DomainCheck = Answer.define(:record, :name, :type, :required, :ok, :expected, :found, :reason, :message)

  # A sending domain; state: pending, verified, failed or revoked. Only +verify+ answers checks.
  Domain = Answer.define(:id, :domain, :state, :dkim_selector, :dkim_public_key_b64, :created_at, :failure_reason,
                         :verified_at, :last_checked_at, records: [DnsRecord], checks: [DomainCheck])

  # A stored template; html, text and subject are Liquid.
  Template = Answer.define(:id, :name, :html, :text, :created_at, :updated_at, :subject)

  # +status+ is +ok+ or +db_unreachable+.
  Health = Answer.define(:status) do
    def ok?
      status == 'ok'
    end
  end
end
