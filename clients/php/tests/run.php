<?php

declare(strict_types=1);

/*
 * What the conformance suite does not reach: connections over several calls and processes, what is shown, and the
 * headers of different frameworks. The argument is Composer's autoloader; the exit code is 0 when all holds.
 */

use Postrider\Attachment;
use Postrider\Client;
use Postrider\Exception\PostriderException;
use Postrider\Model\Domain;
use Postrider\Model\EventData;
use Postrider\Model\Webhook;
use Postrider\WebhookVerifier;

require $argv[1];

function same(mixed $expected, mixed $given, string $what): void
{
    if ($expected !== $given) {
        fwrite(STDERR, "{$what}: " . var_export($given, true) . ' in place of ' . var_export($expected, true) . "\n");
        exit(1);
    }
}

/** All that PHP, and loggers, have to look into a value; a var_export() shows every public property. */
function shown(mixed $value): string
{
    ob_start();
    var_dump($value);

    return ob_get_clean() . print_r($value, true) . json_encode($value);
}

$server = proc_open([PHP_BINARY, __DIR__ . '/answering-server.php'], [['pipe', 'r'], ['pipe', 'w'], STDERR], $pipes);
$port = trim(fgets($pipes[1]));
$client = new Client(apiKey: 'pr_id_secret', baseUrl: "http://127.0.0.1:{$port}", maxRetries: 0);

same('connection 1, request 1', $client->health()->status, 'the first call');
same('connection 1, request 2', $client->health()->status, 'the second call uses its connection');

if (function_exists('pcntl_fork')) {
    $child = pcntl_fork();
    if ($child === 0) {
        exit($client->health()->status === 'connection 2, request 1' ? 0 : 1);
    }
    pcntl_waitpid($child, $status);
    same(0, pcntl_wexitstatus($status), 'a forked process leaves the connection of its parent alone');
    same('connection 1, request 3', $client->health()->status, 'and the parent goes on with it');
}

$connections = static function () use ($port): int {
    $another = new Client(apiKey: 'pr_id_secret', baseUrl: "http://127.0.0.1:{$port}", maxRetries: 0);

    return (int) substr($another->health()->status, strlen('connection '));
};
$before = $connections();
try {
    $client->webhooks->rotate('1');
} catch (PostriderException) {
    // What this server answers is no webhook.
}
same($before + 2, $connections(), 'a rotation has a connection of its own, on which curl never repeats it');
$before = $connections();
try {
    $client->webhooks->test('1');
} catch (PostriderException) {
    // Nor a result of a test.
}
same($before + 2, $connections(), 'so has every call that does more when it is made twice');
$client->health();
$before = $connections();
$client->health();
$client->emails->send('a@b.c', 'd@e.f', 'S', text: 'T');
same($before + 1, $connections(), 'one that can be repeated goes over the open connection');

$timeout = new ReflectionParameter([Client::class, '__construct'], 'timeout');
same(30.0, $timeout->getDefaultValue(), 'an attempt may take 30 s unless another time is given');

$sent = $client->emails->send('a@b.c', ['x' => 'd@e.f'], 'S', data: [], headers: [], templateId: '1')->id;
$body = '{"from":"a@b.c","to":["d@e.f"],"subject":"S","template_id":"1","data":{},"headers":{}}';
same($body, $sent, 'empty arrays are objects where the API wants objects, and lists are lists');

$sent = $client->emails->send('a', 'b', 'S', '<p>', 'T', '1', ['cc' => 1], ['X' => 'y'], 'key')->id;
$body = '{"from":"a","to":"b","subject":"S","html":"<p>","text":"T","template_id":"1","data":{"cc":1},'
    . '"headers":{"X":"y"}}';
same($body, $sent, 'a message without new fields is sent in the same bytes as before');

$more = [
    'cc' => ['x' => 'c'],
    'attachments' => [
        'x' => Attachment::fromBytes('a.bin', "\x00\xff\xfe"),
        'y' => Attachment::fromBase64('b', "AP/+\n", 'text/csv', 'b'),
    ],
    'tags' => ['0' => 'x'],
    'metadata' => [],
    'tracking' => ['opens' => false],
];
$body = '{"from":"a","to":"b","subject":"S","cc":["c"],"attachments":[{"filename":"a.bin","content":"AP/+"},'
    . '{"filename":"b","content":"AP/+\n","content_type":"text/csv","content_id":"b"}],"tags":{"0":"x"},'
    . '"metadata":{},"tracking":{"opens":false}}';
same($body, $client->emails->send('a', 'b', 'S', ...$more)->id, 'bytes are base64, and what has names is an object');

$berlin = new DateTimeZone('Europe/Berlin');
$time = new DateTime('2028-03-01 00:30:00.0069', $berlin);
$sent = $client->emails->send('a', 'b', sendAt: $time)->id;
same('{"from":"a","to":"b","send_at":"2028-02-29T23:30:00.006Z"}', $sent, 'a time is sent in UTC with milliseconds');
same('2028-03-01T00:30:00+01:00', $time->format('c'), 'and the object of the caller stays as it is');
same('{"send_at":"2028-03-01"}', $client->submissions->move('1', '2028-03-01')->id, 'a text is sent as it is');

$message = ['to' => ['y' => 'b'], 'from' => 'a', 'data' => [], 'idempotencyKey' => null];
$sent = $client->emails->sendBatch(['x' => $message]);
same('{"emails":[{"from":"a","to":["b"],"data":{}}]}', $sent->results[0]->id, 'a batch is a list of messages');
same('{}', $client->webhooks->update('1')->id, 'nothing to change is an object, too');
same('{"events":[]}', $client->webhooks->update('1', events: [])->id, 'no events are a list');

try {
    $client->emails->send('a@b.c', 'd@e.f', "\xff", text: 'T');
    same('an exception', 'none', 'no UTF-8');
} catch (PostriderException $error) {
    same('invalid_argument', $error->errorCode, 'no UTF-8');
}

try {
    $client->emails->send('a', 'b', 'S', attachments: [['filename' => 'a.txt', 'content' => 'text']]);
    same('an exception', 'none', 'an attachment that is none');
} catch (PostriderException $error) {
    same('invalid_argument', $error->errorCode, 'an attachment that is none');
}

foreach ([$client, $client->emails, $client->webhooks] as $object) {
    same(false, str_contains(shown($object) . var_export($object, true), 'pr_id_secret'), 'the key is not shown');
}
$webhook = Webhook::fromArray(['id' => '1', 'url' => 'https://a.b/', 'secret' => 'c2VjcmV0', 'events' => ['x']]);
same(false, str_contains(shown($webhook), 'c2VjcmV0'), 'the secret of a webhook is not shown');
same('c2VjcmV0', $webhook->toArray()['secret'], 'but there when it is asked for');

$odd = Domain::fromArray(['id' => 7, 'records' => 'none', 'checks' => [1, ['ok' => true]], 'new' => 1]);
same(['', [], true], [$odd->id, $odd->records, $odd->checks[0]->ok], 'an answer of other types is empty, not an error');

$fields = ['header_message_id' => 'order-4711@app.example'];
$data = [EventData::fromArray($fields), EventData::fromArray([])];
same('order-4711@app.example', $data[0]->headerMessageId, 'the Message-ID of a mail that was handed in by SMTP');
same(null, $data[1]->headerMessageId, 'is null where there is none');
same($fields, array_intersect_key($data[0]->toArray(), $fields), 'and has its name among the fields');

$secret = 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
$payload = '{"id":"1","type":"email.opened","data":{"open":{"first":true}}}';
$signature = 'v1,' . base64_encode(hash_hmac('sha256', "evt_1.1700000000.{$payload}", base64_decode($secret), true));
$verifier = new WebhookVerifier($secret);
$superglobal = ['REQUEST_METHOD' => 'POST', 'REQUEST_TIME' => 1, 'argv' => [], 'HTTP_WEBHOOK_ID' => 'evt_1',
    'HTTP_WEBHOOK_TIMESTAMP' => '1700000000', 'HTTP_WEBHOOK_SIGNATURE' => $signature];
$psr7 = ['Webhook-Id' => ['evt_1'], 'Webhook-Timestamp' => ['1700000000'], 'Webhook-Signature' => [$signature]];
$kinds = ['$_SERVER' => $superglobal, 'PSR-7' => $psr7, 'an iterator' => new ArrayIterator($psr7)];
foreach ($kinds as $name => $headers) {
    $event = $verifier->verify($payload, $headers, now: 1_700_000_000);
    same(['email.opened', true], [$event->type, $event->data->open?->first], "headers: {$name}");
}

fclose($pipes[0]);
same(0, proc_close($server), 'the server ends');
echo "ok\n";
