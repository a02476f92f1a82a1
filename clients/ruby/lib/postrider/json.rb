# frozen_string_literal: true

require 'json'

module Postrider
  # JSON as it comes from outside.
  module Json
    # The object that the bytes hold; nil when they hold anything else. Ruby's parser alone would take bytes that
    # are not UTF-8, and hand out strings that break later.
    def self.object(bytes)
      text = bytes.to_s.dup.force_encoding(Encoding::UTF_8)
      value = JSON.parse(text) if text.valid_encoding?
      value if value.is_a?(Hash)
    rescue JSON::ParserError, EncodingError
      nil
    end
  end
end
