# frozen_string_literal: true

module Postrider
  module Resources
    # Endpoints that events are sent to.
    class Webhooks
      def initialize(transport)
        @transport = transport
      end

      # Registers an endpoint for +events+, types and families (every event when not given); answers a Webhook with its
      # secret, which is never shown again.
      def create(url:, description: nil, events: nil)
        body = { url: url, description: description, events: events }
        Webhook.from(@transport.call(:post, '/webhooks', body: body))
      end

      # All webhooks, oldest first.
      def list
        Webhook.from_list(@transport.call(:get, '/webhooks')['webhooks'])
      end

      def get(id)
        Webhook.from(@transport.call(:get, '/webhooks/%s', id))
      end

      # Changes what is given; an empty array of +events+ is every event. Answers the Webhook.
      def update(id, url: nil, description: nil, events: nil)
        body = { url: url, description: description, events: events }
        Webhook.from(@transport.call(:patch, '/webhooks/%s', id, body: body))
      end

      # Makes a new secret; answers the Webhook with it. For 24 hours the old one signs, too.
      #
      # Only retried after a 429. After another error the secret may be a new one, which nobody knows: rotate it again.
      def rotate(id)
        Webhook.from(@transport.call(:post, '/webhooks/%s/rotate', id, repeatable: false))
      end

      # Sends a test event and waits up to 15 seconds for its answer, a WebhookTestResult.
      def test(id)
        WebhookTestResult.from(@transport.call(:post, '/webhooks/%s/test', id))
      end

      # What an endpoint was sent or will be, an entry for each event; answers a WebhookDeliveryPage. +state+ is due,
      # delivered or failed, +after+ is +next+ of the page before, +limit+ is 1 to 100 (25 when not given).
      def deliveries(id, state: nil, after: nil, limit: nil)
        query = { state: state, after: after, limit: limit }
        WebhookDeliveryPage.from(@transport.call(:get, '/webhooks/%s/deliveries', id, query: query))
      end

      # Sends an event again, with the same id; answers a WebhookReplay.
      def replay(id, event_id:)
        WebhookReplay.from(@transport.call(:post, '/webhooks/%s/deliveries/%s/replay', id, event_id))
      end

      # Removes an endpoint; what is still due for it is dropped.
      def delete(id)
        @transport.call(:delete, '/webhooks/%s', id, answered: false)
        nil
      end
    end
  end
end
