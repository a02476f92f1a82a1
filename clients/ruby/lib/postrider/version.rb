# frozen_string_literal: true

module Postrider
  VERSION = '0.1.0'
end
