# frozen_string_literal: true

module Postrider
  module Resources
    # What happened to the messages, in the order in which it was stored.
    class Events
      def initialize(transport)
        @transport = transport
      end

      # The events after the one with the id +after+, at most +limit+ (1 to 1,000; 100 when not given);
      # answers an EventPage.
      def list(after: nil, limit: nil)
        EventPage.from(@transport.call(:get, '/events', query: { after: after, limit: limit }))
      end
    end
  end
end
