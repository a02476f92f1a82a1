# frozen_string_literal: true

module Postrider
  module Resources
    # Addresses that get no mail from this account.
    class Suppressions
      def initialize(transport)
        @transport = transport
      end

      # The list in alphabetical order, or what is on it of one +address+ or +reason+ (hard_bounce, complaint,
      # unsubscribe or manual); answers a SuppressionPage. +after+ is +next+ of the page before, +limit+ is 1 to 1,000
      # (100 when not given).
      def list(address: nil, reason: nil, after: nil, limit: nil)
        query = { address: address, reason: reason, after: after, limit: limit }
        SuppressionPage.from(@transport.call(:get, '/suppressions', query: query))
      end

      # Puts an address on the list; answers its Suppression. One that is on it already keeps its reason.
      def add(address:, reason: nil)
        Suppression.from(@transport.call(:post, '/suppressions', body: { address: address, reason: reason }))
      end

      # Lets mail to an address through again.
      def remove(address)
        @transport.call(:delete, '/suppressions/%s', address, answered: false)
        nil
      end

      # Adds up to 10,000 +addresses+, or those of +csv+, a text whose first line names the columns: address, and
      # perhaps reason and created_at. +reason+ is for those whose reason the CSV does not say. Answers an ImportResult.
      def import(addresses: nil, csv: nil, reason: nil)
        body = { addresses: addresses, csv: csv, reason: reason }
        ImportResult.from(@transport.call(:post, '/suppressions/import', body: body))
      end
    end
  end
end
