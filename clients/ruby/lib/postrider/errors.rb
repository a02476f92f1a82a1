# frozen_string_literal: true

module Postrider
  # What every error of this library is, so that one +rescue+ catches them all. Raised itself when something is
  # wrong before anything is sent (a missing key, an empty id) and for an answer that is not the service's.
  class Error < StandardError
    # The HTTP status; nil when there was no answer.
    attr_reader :status
    # Machine-readable: the service's own, for example +domain_not_verified+; +http_502+ when its answer has none;
    # +network_error+, +timeout+, +missing_api_key+, +invalid_argument+ and the like when it was not the service.
    attr_reader :code
    # The X-Request-Id of the answer: quote it when you ask for help.
    attr_reader :request_id
    # Which email of a batch is at fault, from 0; nil when it is not about one.
    attr_reader :index

    def initialize(message = nil, status: nil, code: nil, request_id: nil, index: nil)
      super(message)
      @status = status
      @code = code
      @request_id = request_id
      @index = index
    end
  end

  # 401: the key is missing, malformed, unknown or revoked.
  class AuthError < Error; end

  # 403 +scope_required+: the key lacks the scope that the call needs.
  class ScopeError < Error; end

  # 403 +tenant_not_active+: the account is suspended, in review or not yet confirmed.
  class TenantNotActiveError < Error; end

  # Every other 4xx: the request has to change before it can succeed.
  class ValidationError < Error
    # With +verification_failed+: the domain's name.
    attr_reader :domain
    # With +verification_failed+: the first check that failed, a DomainCheck.
    attr_reader :check

    def initialize(message = nil, domain: nil, check: nil, **rest)
      super(message, **rest)
      @domain = domain
      @check = check
    end
  end

  # 429, and the retries are used up.
  class RateLimitError < Error
    # Seconds after which a call will be let through; nil when the answer does not say.
    attr_reader :retry_after

    def initialize(message = nil, retry_after: nil, **rest)
      super(message, **rest)
      @retry_after = retry_after
    end
  end

  # 5xx, and the retries are used up.
  class ServerError < Error; end

  # No answer came: DNS, TCP, TLS, a broken connection or a timeout, and the retries are used up.
  class NetworkError < Error
    def initialize(message = nil, timeout: false, **rest)
      super(message, **rest)
      @timeout = timeout
    end

    # Whether it was the time limit that ended the attempt.
    def timeout?
      @timeout
    end
  end

  # The webhook is not one to be trusted, or cannot be checked.
  class WebhookVerificationError < Error; end
end
