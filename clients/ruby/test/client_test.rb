# frozen_string_literal: true

# What the conformance suite does not reach: connections over several calls, threads and processes, and what is shown.

require 'date'
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

  def test_events_know_the_message_id_of_a_mail_by_smtp
    written = Postrider::Event.from('data' => { 'header_message_id' => 'order-4711@app.example' })
    assert_equal 'order-4711@app.example', written.data.header_message_id
    assert_nil Postrider::Event.from('data' => {}).data.header_message_id
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
      assert_kind_of Postrider::Template, client.templates.create(name: 'T', text: 't', subject: 'S')
      assert_kind_of Postrider::Stats, client.stats(from: Time.at(0), to: '2026-11-20', by: 'day', tag: 'kind:x')
      %i[domains webhooks templates].each { |group| assert_equal [], client.public_send(group).list }
      assert_kind_of Postrider::Domain, client.domains.verify('1')
      assert_nil client.webhooks.delete('1')
      assert_nil client.templates.delete('1')
    end
  end

  def test_every_call_about_mail_for_later_and_batches_keeps_to_its_signature
    AnsweringServer.open do |server|
      client = client_of(server)
      assert_kind_of Postrider::SendResult, client.emails.send(**MAIL, send_at: Time.now)
      batch = client.emails.send_batch(emails: [MAIL, MORE.merge(MAIL)], on_error: 'skip', idempotency_key: 'k')
      assert_equal [], batch.results
      assert_kind_of Postrider::EmailPage, client.emails.list
      all = { state: 'queued', to: 'a', from: 'b', tag: 'c:d', created_after: Time.at(0), created_before: '', after: '' }
      assert_equal [], client.emails.list(**all, limit: 1).emails
      assert_kind_of Postrider::MoveResult, client.submissions.move('1', send_at: '2026-12-24')
      assert_kind_of Postrider::CancelResult, client.submissions.cancel('1')
    end
  end

  def test_every_call_that_manages_keeps_to_its_signature
    AnsweringServer.open do |server|
      webhooks = client_of(server).webhooks
      assert_nil webhooks.create(url: 'http://a', events: ['bounce']).secret
      assert_kind_of Postrider::Webhook, webhooks.update('1', url: 'http://b', description: '', events: [])
      assert_kind_of Postrider::Webhook, webhooks.rotate('1')
      assert_kind_of Postrider::WebhookTestResult, webhooks.test('1')
      assert_equal [], webhooks.deliveries('1', state: 'due', after: '2', limit: 3).deliveries
      assert_kind_of Postrider::WebhookReplay, webhooks.replay('1', event_id: '2')
      suppressions = client_of(server).suppressions
      assert_equal [], suppressions.list(address: 'a@b.c', reason: 'manual', after: 'a', limit: 1).suppressions
      assert_kind_of Postrider::Suppression, suppressions.add(address: 'a@b.c', reason: 'complaint')
      assert_nil suppressions.remove('a@b.c')
      assert_equal [], suppressions.import(addresses: ['a@b.c']).refusals
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

class BatchTest < Minitest::Test
  GOOD = { from: 'a@b.c', to: 'd@e.f', subject: 'S' }.freeze

  def test_an_email_of_a_batch_is_the_same_as_a_single_one
    AnsweringServer.open do |server|
      client = Postrider::Client.new(api_key: 'pr_id_secret', base_url: server.url)
      attachment = Postrider::Attachment.new(filename: 'a', content: 'text')
      email = { **GOOD, cc: 'g@h.i', attachments: [attachment], send_at: Time.at(0), data: { a: nil } }
      client.emails.send(**email)
      single = server.last_body
      client.emails.send_batch(emails: [email])
      assert_equal "{\"emails\":[#{single}]}", server.last_body
    end
  end

  def test_what_is_no_email_is_refused_with_its_place
    client = Postrider::Client.new(api_key: 'pr_id_secret', base_url: 'http://127.0.0.1:1', max_retries: 0)
    {
      { **GOOD, idempotency_key: 'k' } => 'only the batch has an idempotency_key.',
      { **GOOD, subjct: 'S' } => 'unknown keyword: :subjct.',
      { from: 'a@b.c' } => 'missing keyword: :to.',
    }.each do |bad, message|
      error = assert_raises(Postrider::Error) { client.emails.send_batch(emails: [GOOD, bad]) }
      assert_equal ['invalid_argument', "emails[1]: #{message}"], [error.code, error.message]
    end
  end

  def test_accepted_and_refused_emails_have_their_own_classes
    sent = { 'id' => '1', 'message_ids' => ['2'], 'rejected' => [], 'replayed' => false }
    results = Postrider::BatchResult.from('results' => [sent, { 'error' => 'no', 'message' => 'No.' }, 17]).results
    assert_equal [Postrider::SendResult, Postrider::BatchRefusal, NilClass], results.map(&:class)
    assert_predicate results, :frozen?
  end
end

class TimestampTest < Minitest::Test
  def test_times_are_sent_in_utc_with_milliseconds
    winter = '+01:00'
    {
      Time.new(2026, 12, 24, 18, 0, 0, winter) => '2026-12-24T17:00:00.000Z',
      Time.new(2026, 1, 1, 0, 30, 1.9999r, winter) => '2025-12-31T23:30:01.999Z',
      DateTime.new(2026, 12, 24, 18, 0, 0, winter) => '2026-12-24T17:00:00.000Z',
      'tomorrow' => 'tomorrow',
      nil => nil,
    }.each { |time, text| assert_equal [text], [Postrider::Timestamp.of('send_at', time)] }
  end

  def test_what_has_no_zone_is_refused
    [Date.new(2026, 12, 24), 1_800_000_000].each do |time|
      error = assert_raises(Postrider::Error) { Postrider::Timestamp.of('send_at', time) }
      assert_equal 'invalid_argument', error.code
      assert_includes error.message, 'send_at: must be a Time'
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
    groups = %i[emails submissions domains webhooks templates events suppressions]
    [client, *groups.map { |name| client.public_send(name) }].each do |object|
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
