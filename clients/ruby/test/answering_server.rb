# frozen_string_literal: true

require 'json'
require 'socket'

# A server on loopback that answers every request with the same JSON, and tells which connection it came over:
# in an answer {"status": …} stands "connection 1, request 2".
class AnsweringServer
  attr_reader :last_body

  def self.open
    server = new
    yield server
  ensure
    server.close
  end

  def initialize
    @listener = TCPServer.new('127.0.0.1', 0)
    @connections = 0
    @accepting = Thread.new { accept }
    @accepting.report_on_exception = false
  end

  def url
    "http://127.0.0.1:#{@listener.addr[1]}"
  end

  def close
    @accepting.kill
    @listener.close
  end

  private

  def accept
    loop do
      socket = @listener.accept
      number = (@connections += 1)
      Thread.new { converse(socket, number) }
    end
  end

  def converse(socket, number)
    (1..).each do |count|
      length = 0
      while (line = socket.gets)&.match?(/\S/)
        length = line[/\d+/].to_i if line.start_with?('Content-Length')
      end
      break if line.nil?

      @last_body = socket.read(length)
      body = JSON.generate(answer("connection #{number}, request #{count}"))
      head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: #{body.bytesize}"
      socket.write("#{head}\r\n\r\n#{body}")
    end
  rescue IOError, SystemCallError
    nil
  ensure
    socket.close
  end

  def answer(place)
    { status: place, domains: [], webhooks: [], templates: [], events: [], has_more: false, emails: [], results: [],
      deliveries: [], suppressions: [], refusals: [] }
  end
end
