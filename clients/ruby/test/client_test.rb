# frozen_string_literal: true

# What the conformance suite does not reach: connections over several calls, threads and processes, and what is shown.

require 'minitest/autorun'
require 'minitest/mock'
require 'postrider'
require 'pp'
require_relative 'answering_server'

class ClientTest < Minitest::Test
  def client_of(server)
    Postrider::Client.new(api_key: 'pr_id_secret', base_url: server.url, max_retries: 0, timeout: 20)
  end

  MAIL = { from: 'a@b.c', to: 'd@e.f', subject: 'S', text: 'T' }.freeze
  MORE = {
    cc: 'd@e.f', bcc: ['g@h.i'], reply_to: 'j@k.l', tags: { kind: 'x' }, metadata: { 'a b' => '1' },
    tracking: { opens: false },
    attachments: [Postrider::Attachment.new(filename: 'a.txt', content: 'secret', content_id: 'a')]
  }.freeze

  def test_calls_one_after_the_other_use_one_connection
    AnsweringServer.open do |server|
      client = client_of(server)
      assert_equal ['connection 1, request 1', 'connection 1, request 2'], [client.health.status, client.health.status]
    end
  end

  def test_threads_share_a_client_but_no_connection
    AnsweringServer.open do |server|
      client = client_of(server)
      answers = Array.new(20) { Thread.new { Array.new(10) { client.health.status } } }.flat_map(&:value)
      assert_equal 200, answers.uniq.size, 'two threads were on one connection'
    end
  end

  def test_a_forked_process_leaves_its_parents_connection_alone
    AnsweringServer.open do |server|
      client = client_of(server)
      client.health
      reader, writer = IO.pipe
      # exit! leaves out what a test framework does at the end of a process.
      child = fork { writer.write(client.health.status) && exit!(0) }
      Process.wait(child)
      writer.close
      assert_equal 'connection 2, request 1', reader.read
      assert_equal 'connection 1, request 2', client.health.status
    end
  end

  def test_a_timeout_of_the_caller_is_not_swallowed
    silent = TCPServer.new('127.0.0.1', 0)
    client = Postrider::Client.new(api_key: 'k', base_url: "http://127.0.0.1:#{silent.addr[1]}")
    error = assert_raises(Timeout::Error) { Timeout.timeout(0.2) { client.health } }
    refute_kind_of Postrider::Error, error
  ensure
    silent.close
  end

  def test_an_attempt_may_take_30_seconds
    client = Postrider::Client.new(api_key: 'k', base_url: 'http://127.0.0.1', max_retries: 0)
    limits = []
    expired = lambda do |seconds|
      limits << seconds
      raise Timeout::Error
    end
    error = Timeout.stub(:timeout, expired) { assert_raises(Postrider::NetworkError) { client.health } }
    assert_equal [30], limits
    assert_predicate error, :timeout?
  end

  def test_every_call_keeps_to_its_signature
    AnsweringServer.open do |server|
      client = client_of(server)
      assert_kind_of Postrider::SendResult, client.emails.send(from: 'a@b.c', to: ['d@e.f'], subject: 'S', text: 'T')
      assert_kind_of Postrider::SendResult, client.emails.send(**MAIL, **MORE)
      assert_kind_of Postrider::Email, client.emails.get('1')
      assert_kind_of Postrider::Submission, client.submissions.get('1')
      assert_kind_of Postrider::EventPage, client.events.list(after: '1', limit: 2)
      %i[domains webhooks templates].each { |group| assert_equal [], client.public_send(group).list }
      assert_kind_of Postrider::Domain, client.domains.verify('1')
      assert_nil client.webhooks.delete('1')
      assert_nil client.templates.delete('1')
    end
  end
end

class SendingTest < Minitest::Test
  BYTES = "\x00\xFF\xFE"

  def test_bytes_in_any_encoding
    [BYTES.b, BYTES.dup.force_encoding('UTF-8'), BYTES.dup.force_encoding('ISO-8859-1')].each do |content|
      attachment = Postrider::Attachment.new(filename: 'a.bin', content: content)
      assert_equal({ filename: 'a.bin', content: 'AP/+' }, attachment.to_h)
    end
  end

  def test_base64_stays_as_it_is
    fields = { filename: 'a', content: "AP/+\n", content_type: 'text/csv', content_id: 'b' }
    attachment = Postrider::Attachment.base64(**fields)
    assert_equal fields, attachment.to_h
    assert_predicate attachment, :frozen?
  end

  def test_the_content_is_not_shown
    attachment = Postrider::Attachment.new(filename: 'a.txt', content: 'secret')
    assert_equal '#<Postrider::Attachment "a.txt">', "#{attachment}"
    refute_includes PP.pp(attachment, +''), attachment.content_base64
  end

  def test_an_attachment_that_is_none_is_refused
    program = <<~'RUBY'
      begin
        client = Postrider::Client.new(api_key: 'pr_id_secret', base_url: 'http://127.0.0.1:1', max_retries: 0)
        client.emails.send(from: 'a', to: 'b', subject: 'S', attachments: [{ filename: 'a.txt', content: 'text' }])
      rescue Postrider::Error => e
        puts "#{e.code}: #{e.message}"
      end
    RUBY
    # In a process of its own: here the check of signatures would refuse it before the library does.
    printed = IO.popen([RbConfig.ruby, '-r', 'postrider', '-e', program], &:read)
    assert_equal "invalid_argument: attachments: must be Postrider::Attachment objects.\n", printed
  end

  def test_a_message_without_new_fields_is_sent_in_the_same_bytes_as_before
    AnsweringServer.open do |server|
      client = Postrider::Client.new(api_key: 'pr_id_secret', base_url: server.url)
      client.emails.send(from: 'a', to: 'b', subject: 'S', data: { cc: 1 }, headers: {})
      assert_equal '{"from":"a","to":"b","subject":"S","data":{"cc":1},"headers":{}}', server.last_body
    end
  end
end

class ShownTest < Minitest::Test
  def test_the_secret_of_a_webhook_is_only_shown_when_asked_for
    webhook = Postrider::Webhook.from('id' => '1', 'url' => 'https://example.com/', 'secret' => 'c2VjcmV0')
    shown = [webhook.inspect, webhook.to_s, PP.pp(webhook, +''), "#{webhook}", JSON.generate([webhook])]
    shown.each { |text| refute_includes text, 'c2VjcmV0' }
    assert_equal 'c2VjcmV0', webhook.secret
    assert_equal 'c2VjcmV0', webhook.to_h[:secret]
  end

  def test_nothing_of_a_client_shows_the_key
    client = Postrider::Client.new(api_key: 'pr_id_secret', base_url: 'https://example.com')
    [client, client.emails, client.domains, client.webhooks, client.templates, client.events].each do |object|
      [object.inspect, object.to_s, PP.pp(object, +'')].each { |text| refute_includes text, 'pr_id_secret' }
    end
  end

  def test_answers_cannot_be_changed
    domain = Postrider::Domain.from('id' => '1', 'records' => [{ 'name' => 'a' }], 'unknown' => 1)
    assert_raises(FrozenError) { domain.id = '2' }
    assert_raises(FrozenError) { domain.records << 1 }
    assert_equal 'a', domain.records.first.name
  end
end

class WebhookVerifierTest < Minitest::Test
  SECRET = 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  PAYLOAD = '{"id":"1","type":"email.opened","data":{"open":{"first":true}}}'

  def headers(id, timestamp, signature)
    digest = OpenSSL::HMAC.digest('SHA256', SECRET.unpack1('m'), "evt_1.1700000000.#{PAYLOAD}")
    { id => 'evt_1', timestamp => '1700000000', signature => "v1,#{[digest].pack('m0')}" }
  end

  def verify(headers, **more)
    Postrider.verify_webhook(PAYLOAD, headers, SECRET, now: Time.at(1_700_000_000), **more)
  end

  def test_a_rack_environment
    environment = headers('HTTP_WEBHOOK_ID', 'HTTP_WEBHOOK_TIMESTAMP', 'HTTP_WEBHOOK_SIGNATURE')
    assert verify(environment.merge('rack.input' => nil, 'REQUEST_METHOD' => 'POST')).data.open.first
  end

  def test_lists_of_values_and_symbols
    given = headers(:webhook_id, :webhook_timestamp, :webhook_signature).transform_values { |value| [value] }
    assert_equal 'email.opened', verify(given).type
  end

  def test_a_tolerance_that_is_no_number_lets_nothing_pass
    given = headers('webhook-id', 'webhook-timestamp', 'webhook-signature')
    error = assert_raises(Postrider::WebhookVerificationError) { verify(given, tolerance: Float::NAN) }
    assert_equal 'timestamp_too_old', error.code
  end
end
