# frozen_string_literal: true

module Postrider
  module Resources
    # Calls of +emails.send+, with all their messages.
    class Submissions
      def initialize(transport)
        @transport = transport
      end

      # One call, by the +id+ of its SendResult; answers a Submission.
      def get(id)
        Submission.from(@transport.call(:get, '/submissions/%s', id))
      end

      # Moves the messages that are still scheduled to another time, a Time or a string; answers a MoveResult.
      def move(id, send_at:)
        body = { send_at: Timestamp.of('send_at', send_at) }
        MoveResult.from(@transport.call(:patch, '/submissions/%s', id, body: body))
      end

      # Cancels the messages that are neither finished nor being sent; answers a CancelResult.
      def cancel(id)
        CancelResult.from(@transport.call(:post, '/submissions/%s/cancel', id))
      end
    end
  end
end
