# frozen_string_literal: true

require_relative 'json'

module Postrider
  # Turns an HTTP answer into parsed JSON, or into the error that its status stands for.
  class AnswerReader
    ERRORS_OF_403 = { 'scope_required' => ScopeError, 'tenant_not_active' => TenantNotActiveError }.freeze

    # Answers the JSON object in the body, nil when the call has none (+answered+ false); raises an Error.
    def self.read(response, answered: true)
      reader = new(response)
      reader.success? ? reader.result(answered) : raise(reader.error)
    end

    def initialize(response)
      @response = response
      @status = response.code.to_i
      @body = Json.object(response.body)
    end

    def success?
      @status.between?(200, 299)
    end

    def result(answered)
      return nil unless answered

      @body || raise(Error.new("the server answered #{@status}, but not in JSON#{kind_of_content}: check base_url.",
                               **facts))
    end

    # A proxy's page has neither code nor message: then both are made from the status.
    def error
      kind = error_class
      kind.new(text('message') || explanation, **facts, **extras(kind))
    end

    private

    def facts
      { status: @status, code: text('error') || "http_#{@status}", request_id: @response['x-request-id'],
        index: integer('index') }
    end

    def error_class
      case @status
      when 401 then AuthError
      when 403 then ERRORS_OF_403.fetch(text('error'), ValidationError)
      when 429 then RateLimitError
      when 400..499 then ValidationError
      when 500..599 then ServerError
      else Error
      end
    end

    def extras(kind)
      if kind == RateLimitError
        { retry_after: retry_after }
      elsif text('error') == 'verification_failed'
        { domain: text('domain'), check: DomainCheck.from(@body['check']) }
      else
        {}
      end
    end

    def retry_after
      header = @response['retry-after'].to_s.strip
      return header.to_i if header.match?(/\A[0-9]{1,9}\z/)

      seconds = integer('retry_after_secs')
      seconds if seconds&.between?(0, 999_999_999)
    end

    def explanation
      return "the server answered #{@status}, a redirect; none is followed: check base_url." if redirect?

      "the server answered #{@status} without saying why#{kind_of_content}."
    end

    def redirect?
      @status.between?(300, 399)
    end

    def kind_of_content
      type = @response['content-type'].to_s[%r{\A[\w.+-]+/[\w.+-]+}]
      type && " (#{type})"
    end

    def integer(name)
      value = @body && @body[name]
      value if value.is_a?(Integer)
    end

    def text(name)
      value = @body && @body[name]
      value if value.is_a?(String) && !value.empty?
    end
  end
end
