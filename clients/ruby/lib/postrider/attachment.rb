# frozen_string_literal: true

module Postrider
  # A file to send along.
  #
  #   Postrider::Attachment.new(filename: 'invoice.pdf', content: File.binread('invoice.pdf'))
  class Attachment
    attr_reader :filename, :content_base64, :content_type, :content_id

    # One whose content is base64 already; it is sent as it is.
    def self.base64(filename:, content:, content_type: nil, content_id: nil)
      allocate.tap do |attachment|
        attachment.__send__(:set, filename: filename, content_base64: content, content_type: content_type,
                                  content_id: content_id)
      end
    end

    # +content+ are the bytes, whatever encoding the string is marked with. +filename+ has no path. The +content_type+
    # is derived from the name unless given; a +content_id+ is for an image in the HTML (+<img src="cid:…">+).
    def initialize(filename:, content:, content_type: nil, content_id: nil)
      set(filename: filename, content_base64: [content].pack('m0'), content_type: content_type, content_id: content_id)
    end

    # The fields as the service names them.
    def to_h
      { filename: filename, content: content_base64, content_type: content_type, content_id: content_id }.compact
    end

    # The content is long, and may be secret.
    def inspect
      "#<#{self.class.name} #{filename.inspect}>"
    end
    alias to_s inspect

    private

    def set(filename:, content_base64:, content_type:, content_id:)
      @filename = filename
      @content_base64 = content_base64
      @content_type = content_type
      @content_id = content_id
      freeze
    end
  end
end
