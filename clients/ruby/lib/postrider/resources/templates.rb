# frozen_string_literal: true

module Postrider
  module Resources
    # Stored templates in Liquid.
    class Templates
      def initialize(transport)
        @transport = transport
      end

      # Stores a template of +html+, +text+ or both; answers a Template. Its +subject+ is for calls that have none.
      def create(name:, html: nil, text: nil, subject: nil)
        body = { name: name, html: html, text: text, subject: subject }
        Template.from(@transport.call(:post, '/templates', body: body))
      end

      # Replaces name, html, text and subject: a part that is not given is gone afterwards.
      def update(id, name:, html: nil, text: nil, subject: nil)
        body = { name: name, html: html, text: text, subject: subject }
        Template.from(@transport.call(:put, '/templates/%s', id, body: body))
      end

      # All templates, oldest first.
      def list
        Template.from_list(@transport.call(:get, '/templates')['templates'])
      end

      def get(id)
        Template.from(@transport.call(:get, '/templates/%s', id))
      end

      def delete(id)
        @transport.call(:delete, '/templates/%s', id, answered: false)
        nil
      end
    end
  end
end
