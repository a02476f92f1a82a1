# frozen_string_literal: true

module Postrider
  # Times as the service takes them.
  module Timestamp
    # A string is sent as it was given, a Time in UTC with milliseconds. +name+ is the argument's.
    def self.of(name, value)
      return value if value.nil? || value.is_a?(String)

      # A DateTime has an offset, too; a Date has none, and its to_time would take that of this machine.
      value = value.to_time if defined?(::DateTime) && value.is_a?(::DateTime)
      return value.getutc.strftime('%Y-%m-%dT%H:%M:%S.%LZ') if value.is_a?(Time)

      raise Error.new("#{name}: must be a Time, or a string like 2026-12-24T18:00:00+01:00.", code: 'invalid_argument')
    end
  end
end
