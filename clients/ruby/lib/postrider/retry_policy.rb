# frozen_string_literal: true

module Postrider
  # Decides whether a failed attempt is followed by another, and after how many seconds.
  class RetryPolicy
    # The pauses before the first, second and third retry; the last one is used for all that follow.
    PAUSES_SECONDS = [0.25, 1.0, 4.0].freeze
    # Up to a fifth is added, so that clients that failed together do not come back together.
    JITTER = 0.2

    def initialize(max_retries:, random: Random)
      @max_retries = max_retries
      @random = random
    end

    # Seconds to wait before attempt number +attempts_made+ + 1; nil when there is none.
    def pause_after(error, attempts_made)
      return nil if attempts_made > @max_retries

      case error
      when RateLimitError then error.retry_after || backoff(attempts_made)
      when ServerError, NetworkError then backoff(attempts_made)
      end
    end

    private

    def backoff(attempts_made)
      pause = PAUSES_SECONDS[attempts_made - 1] || PAUSES_SECONDS.last
      pause * (1 + (@random.rand * JITTER))
    end
  end
end
