# frozen_string_literal: true

module Postrider
  module Resources
    # Stored templates in Liquid.
    class Templates
      def initialize(transport)
        @transport = transport
      end

      # Stores a template of +html+, +text+ or both; answers a Template.
      def create(name:, html: nil, text: nil)
        Template.from(@transport.call(:post, '/templates', body: { name: name, html: html, text: text }))
      end

      # Replaces name, html and text: a part that is not given is gone afterwards.
      def update(id, name:, html: nil, text: nil)
        Template.from(@transport.call(:put, '/templates/%s', id, body: { name: name, html: html, text: text }))
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
