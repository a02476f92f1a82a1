# frozen_string_literal: true

module Postrider
  module Resources
    # Endpoints that events are sent to.
    class Webhooks
      def initialize(transport)
        @transport = transport
      end

      # Registers an endpoint; answers a Webhook with its secret, which is never shown again.
      def create(url:, description: nil)
        Webhook.from(@transport.call(:post, '/webhooks', body: { url: url, description: description }))
      end

      # All webhooks, oldest first.
      def list
        Webhook.from_list(@transport.call(:get, '/webhooks')['webhooks'])
      end

      def get(id)
        Webhook.from(@transport.call(:get, '/webhooks/%s', id))
      end

      # Removes an endpoint; what is still due for it is dropped.
      def delete(id)
        @transport.call(:delete, '/webhooks/%s', id, answered: false)
        nil
      end
    end
  end
end
