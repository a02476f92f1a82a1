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
    end
  end
end
