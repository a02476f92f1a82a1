# frozen_string_literal: true

# The runner of the conformance suite (clients/conformance/README.md): one call per line of standard input, each
# in a thread of its own, one outcome per line of standard output. It translates, and decides nothing.

require 'json'
require 'postrider'

# Names in JSON to those of the library.
module Translation
  CLASSES = { 'Error' => 'PostriderError' }.freeze
  NO_ERROR_FIELDS = { domain: nil, check: nil, retry_after: nil, timeout: nil }.freeze

  def self.options(given)
    options = given.transform_keys(&:to_sym)
    limit_ms = options.delete(:timeout_ms)
    limit_ms ? options.merge(timeout: limit_ms / 1000.0) : options
  end

  def self.result(value)
    case value
    when Array then value.map { |each| result(each) }
    when Postrider::Answer then value.to_h
    else value
    end
  end

  def self.error(error)
    short = error.class.name.split('::').last
    {
      class: CLASSES.fetch(short, short), base: error.is_a?(Postrider::Error), message: error.message,
      text: text(error), **NO_ERROR_FIELDS, **fields(error)
    }
  end

  # Ruby marks a full message as binary.
  def self.text(error)
    [error.inspect, error.full_message(highlight: false)].map { |shown| shown.dup.force_encoding('UTF-8') }.join("\n")
  end

  def self.fields(error)
    return { status: nil, code: nil, request_id: nil, index: nil } unless error.is_a?(Postrider::Error)

    fields = { status: error.status, code: error.code, request_id: error.request_id, index: error.index }
    case error
    when Postrider::ValidationError then fields.merge(domain: error.domain, check: error.check&.to_h)
    when Postrider::RateLimitError then fields.merge(retry_after: error.retry_after)
    when Postrider::NetworkError then fields.merge(timeout: error.timeout?)
    else fields
    end
  end
end

def verify_webhook(args)
  payload = args.fetch('payload_parsed') do
    args['payload'] || args.fetch('payload_base64').unpack1('m')
  end
  tolerance = args['tolerance_seconds']
  Postrider.verify_webhook(payload, args.fetch('headers'), args.fetch('secret'),
                           **(tolerance ? { tolerance: tolerance } : {}))
end

def attachment(content: nil, content_bytes: nil, **more)
  return Postrider::Attachment.base64(content: content, **more) if content

  Postrider::Attachment.new(content: content_bytes.unpack1('m'), **more)
end

def time(unix_ms:, offset_minutes:)
  Time.at(unix_ms / 1000, unix_ms % 1000, :millisecond).localtime(offset_minutes * 60)
end

# The arguments of a call, or of one email of a batch.
def arguments_of(args)
  named = args.transform_keys(&:to_sym)
  named[:attachments] &&= named[:attachments].map { |given| attachment(**given.transform_keys(&:to_sym)) }
  named[:emails] &&= named[:emails].map { |email| arguments_of(email) }
  send_at = named.delete(:send_at_time)
  send_at ? named.merge(send_at: time(**send_at.transform_keys(&:to_sym))) : named
end

# The calls of which only one thing can be meant have it as their first argument, without a name.
def first(method)
  method == 'suppressions.remove' ? :address : :id
end

def perform(order)
  method = order.dig('call', 'method')
  args = order.dig('call', 'args')
  return verify_webhook(args) if method == 'verify_webhook'

  client = Postrider::Client.new(**Translation.options(order['options']))
  return client.inspect if method == 'inspect'

  *group, verb = method.split('.')
  named = arguments_of(args)
  unnamed = named.key?(first(method)) ? [named.delete(first(method))] : []
  group.reduce(client) { |target, name| target.public_send(name) }.public_send(verb, *unnamed, **named)
end

def outcome(order)
  { name: order['name'], result: Translation.result(perform(order)) }
rescue StandardError => e
  { name: order['name'], error: Translation.error(e) }
end

Thread.abort_on_exception = true
$stdout.sync = true
output = Mutex.new

running = $stdin.each_line.map do |line|
  Thread.new(JSON.parse(line)) do |order|
    printed = JSON.generate(outcome(order))
    output.synchronize { puts printed }
  end
end
running.each(&:join)
