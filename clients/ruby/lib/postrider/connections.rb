# frozen_string_literal: true

require 'net/http'
require 'openssl'
require 'timeout'
require 'zlib'

module Postrider
  # Connections to the one server, kept open between calls and never shared by two threads at once.
  class Connections
    # What can go wrong before there is a whole answer.
    FAILURES = [SystemCallError, SocketError, IOError, OpenSSL::SSL::SSLError, Timeout::Error, Zlib::Error,
                Net::ProtocolError, Net::HTTPBadResponse, Net::HTTPHeaderSyntaxError].freeze
    # More than this many idle ones are closed.
    MAX_IDLE = 8
    # Servers and proxies close idle connections themselves after 5 s or more: be quicker than they are.
    KEEP_ALIVE_SECONDS = 4

    def initialize(base_url, timeout:)
      @base_url = base_url
      @timeout = timeout
      @idle = []
      @lock = Mutex.new
      @owner_pid = Process.pid
    end

    # Sends the request and answers with the Net::HTTPResponse, its body read. One limit holds for all of
    # it, from connecting to the last byte; before Ruby 3.3 looking up the name can't be interrupted.
    # Raises NetworkError.
    def exchange(request)
      connection = take
      answer = Timeout.timeout(@timeout) { transmit(connection, request) }
      give_back(connection)
      answer
    rescue *FAILURES => e
      timeout = e.is_a?(Timeout::Error) || e.is_a?(Errno::ETIMEDOUT)
      raise NetworkError.new(describe(e), code: timeout ? 'timeout' : 'network_error', timeout: timeout)
    ensure
      # Whatever interrupted the exchange, a connection that was not given back is in an unknown state.
      close(connection) if connection && answer.nil?
    end

    def inspect
      "#<#{self.class.name} #{@base_url}>"
    end

    private

    def transmit(connection, request)
      connection.start unless connection.started?
      answer = connection.request(request)
      # Net::HTTP takes a body that breaks off for a whole one.
      expected = answer.content_length
      raise EOFError, 'the answer broke off' if expected && answer.body.to_s.bytesize < expected

      answer
    end

    def take
      @lock.synchronize do
        # A forked process must not talk over its parent's connections, nor close them politely.
        if @owner_pid != Process.pid
          @owner_pid = Process.pid
          @idle = []
        end
        @idle.pop
      end || open
    end

    def give_back(connection)
      kept = @lock.synchronize { @idle.size < MAX_IDLE && @owner_pid == Process.pid && @idle.push(connection) }
      close(connection) unless kept
    end

    def open
      connection = Net::HTTP.new(@base_url.hostname, @base_url.port)
      connection.use_ssl = @base_url.scheme == 'https'
      connection.open_timeout = connection.read_timeout = connection.write_timeout = @timeout
      connection.keep_alive_timeout = KEEP_ALIVE_SECONDS
      # Its own repetitions would be hidden from the policy.
      connection.max_retries = 0
      connection
    end

    def close(connection)
      connection.finish if connection.started?
    rescue IOError, SystemCallError, OpenSSL::SSL::SSLError
      nil
    end

    def describe(error)
      where = "#{@base_url.scheme}://#{@base_url.host}:#{@base_url.port}"
      return "no answer from #{where} within #{@timeout} s." if error.is_a?(Timeout::Error)

      "no answer from #{where}: #{error.message} (#{error.class})"
    end
  end
end
