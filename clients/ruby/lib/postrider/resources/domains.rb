# frozen_string_literal: true

module Postrider
  module Resources
    # Sending domains.
    class Domains
      def initialize(transport)
        @transport = transport
      end

      # Registers a domain; answers a Domain with the DNS records to publish.
      def create(domain:, selector: nil)
        Domain.from(@transport.call(:post, '/domains', body: { domain: domain, selector: selector }))
      end

      # All domains, oldest first.
      def list
        Domain.from_list(@transport.call(:get, '/domains')['domains'])
      end

      def get(id)
        Domain.from(@transport.call(:get, '/domains/%s', id))
      end

      # Looks at the DNS records; answers the Domain with its checks. When a record is missing or wrong, raises
      # ValidationError with the code +verification_failed+, +domain+ and +check+.
      def verify(id)
        Domain.from(@transport.call(:post, '/domains/%s/verify', id))
      end

      # Revokes a domain: nothing can be sent from it any more. Answers it in its last state.
      def delete(id)
        Domain.from(@transport.call(:delete, '/domains/%s', id))
      end
    end
  end
end
