# frozen_string_literal: true

require 'net/http'
require 'uri'

require_relative 'json'
require_relative 'version'
require_relative 'retry_policy'
require_relative 'connections'
require_relative 'answer_reader'

module Postrider
  # Makes one call of the API, retries included.
  class Transport
    METHODS = { get: Net::HTTP::Get, post: Net::HTTP::Post, put: Net::HTTP::Put, patch: Net::HTTP::Patch,
                delete: Net::HTTP::Delete }.freeze

    # A POST without a body; to any other, Net::HTTP would add the content type of a form.
    class EmptyPost < Net::HTTPRequest
      METHOD = 'POST'
      REQUEST_HAS_BODY = false
      RESPONSE_HAS_BODY = true
    end

    def initialize(settings)
      @settings = settings
      @connections = Connections.new(settings.base_url, timeout: settings.timeout)
      @retries = RetryPolicy.new(max_retries: settings.max_retries)
    end

    # Answers the JSON object in the body, nil with +answered+ false. +path+ has a placeholder for each of +ids+
    # (+/domains/%s+); a nil in +body+ or +query+ counts as not given. A call that is not +repeatable+ is retried after
    # a 429 only: that one has done nothing.
    def call(method, path, *ids, body: nil, query: nil, headers: {}, answered: true, repeatable: true)
      target = target(path, ids, query)
      # Encoded once: what is retried is the same, byte for byte.
      payload = body && encode(body.compact)
      headers = headers.merge('Authorization' => "Bearer #{@settings.api_key}")
      retrying(repeatable) { AnswerReader.read(exchange(method, target, payload, headers), answered: answered) }
    end

    # The health check: it needs no key, and a server that misses its database is an answer.
    def health
      retrying(true) do
        response = exchange(:get, target('/healthz', [], nil), nil, {})
        AnswerReader.read(response)
      rescue ServerError
        raise unless unreachable?(response)

        { 'status' => 'db_unreachable' }
      end
    end

    def inspect
      "#<#{self.class.name} #{@settings.base_url}>"
    end
    alias to_s inspect

    private

    def retrying(repeatable)
      attempts_made = 0
      begin
        attempts_made += 1
        yield
      rescue Error => e
        pause = @retries.pause_after(e, attempts_made)
        raise if pause.nil? || !(repeatable || e.is_a?(RateLimitError))

        sleep(pause)
        retry
      end
    end

    # A request object is good for one attempt only.
    def exchange(method, target, payload, headers)
      kind = payload.nil? && method == :post ? EmptyPost : METHODS.fetch(method)
      request = kind.new(target, own_headers.merge(headers))
      if payload
        request['Content-Type'] = 'application/json'
        request.body = payload
      elsif method == :post
        request['Content-Length'] = '0'
      end
      @connections.exchange(request)
    end

    def own_headers
      {
        'Accept' => 'application/json',
        # The length of a compressed body could not be checked against Content-Length.
        'Accept-Encoding' => 'identity',
        'User-Agent' => "postrider-ruby/#{VERSION}",
      }
    end

    def target(path, ids, query)
      filled = ids.empty? ? path : format(path, *ids.map { |id| segment(id) })
      given = (query || {}).compact
      "#{@settings.base_url.path}#{filled}#{"?#{URI.encode_www_form(given)}" unless given.empty?}"
    end

    # One segment of a path: what an id holds must not lead to another endpoint.
    def segment(id)
      text = id.to_s
      if ['', '.', '..'].include?(text)
        raise Error.new('id: must be the id of something (or an address), not empty.', code: 'invalid_argument')
      end

      URI.encode_www_form_component(text).gsub('+', '%20')
    end

    def encode(fields)
      JSON.generate(fields)
    rescue JSON::GeneratorError, JSON::NestingError, EncodingError
      # The reason that the library gives would repeat the content.
      raise Error.new('the request cannot be written as JSON: its strings must be valid UTF-8, its numbers finite.',
                      code: 'invalid_argument')
    end

    def unreachable?(response)
      response.code == '503' && Json.object(response.body)&.fetch('status', nil) == 'db_unreachable'
    end
  end
end
