<?php

declare(strict_types=1);

/*
 * The runner of the conformance suite (clients/conformance/README.md): one call per line of standard input, one
 * outcome per line of standard output. It translates, and decides nothing. The argument is Composer's autoloader.
 */

use Postrider\Attachment;
use Postrider\Client;
use Postrider\Exception\NetworkError;
use Postrider\Exception\PostriderException;
use Postrider\Exception\RateLimitError;
use Postrider\Exception\ValidationError;

require $argv[1];

/** `template_id` is the argument `templateId`. */
function camelCase(#[SensitiveParameter] array $args): array
{
    $named = [];
    foreach ($args as $name => $value) {
        $named[lcfirst(str_replace('_', '', ucwords($name, '_')))] = $value;
    }

    return $named;
}

function client(#[SensitiveParameter] array $options): Client
{
    $named = camelCase($options);
    if (isset($named['timeoutMs'])) {
        $named['timeout'] = $named['timeoutMs'] / 1000;
        unset($named['timeoutMs']);
    }

    return new Client(...$named);
}

function verifyWebhook(#[SensitiveParameter] array $args): array
{
    $payload = array_key_exists('payload_parsed', $args)
        ? $args['payload_parsed']
        : $args['payload'] ?? base64_decode($args['payload_base64'], true);
    $tolerance = isset($args['tolerance_seconds']) ? ['tolerance' => $args['tolerance_seconds']] : [];

    $headers = (array) $args['headers'];

    return Client::verifyWebhook($payload, $headers, $args['secret'], ...$tolerance)->toArray();
}

function attachment(stdClass $given): Attachment
{
    $named = camelCase((array) $given);
    if (isset($named['content'])) {
        return Attachment::fromBase64(...$named);
    }
    $named['content'] = base64_decode($named['contentBytes'], true);
    unset($named['contentBytes']);

    return Attachment::fromBytes(...$named);
}

function timeOf(stdClass $given): DateTimeImmutable
{
    $minutes = $given->offset_minutes;
    $zone = sprintf('%s%02d:%02d', $minutes < 0 ? '-' : '+', intdiv(abs($minutes), 60), abs($minutes) % 60);
    $seconds = sprintf('%d.%03d', intdiv($given->unix_ms, 1000), $given->unix_ms % 1000);

    return DateTimeImmutable::createFromFormat('U.v', $seconds)->setTimezone(new DateTimeZone($zone));
}

/** The arguments of a method, and those of the messages in them. */
function arguments(#[SensitiveParameter] array $args): array
{
    foreach (array_intersect(['headers', 'tags', 'metadata', 'tracking'], array_keys($args)) as $name) {
        $args[$name] = (array) $args[$name];
    }
    if (isset($args['attachments'])) {
        $args['attachments'] = array_map(attachment(...), $args['attachments']);
    }
    if (isset($args['send_at_time'])) {
        $args['send_at'] = timeOf($args['send_at_time']);
        unset($args['send_at_time']);
    }
    if (isset($args['emails'])) {
        $args['emails'] = array_map(static fn (stdClass $email): array => arguments((array) $email), $args['emails']);
    }

    return camelCase($args);
}

/** All that PHP has to look into a value. */
function shown(mixed $value): string
{
    ob_start();
    var_dump($value);

    return ob_get_clean() . print_r($value, true) . var_export($value, true) . json_encode($value);
}

function perform(#[SensitiveParameter] stdClass $order): mixed
{
    $method = $order->call->method;
    $args = (array) $order->call->args;
    if ($method === 'verify_webhook') {
        return verifyWebhook($args);
    }
    $client = client((array) $order->options);
    if ($method === 'inspect') {
        return shown($client);
    }
    if ($method === 'health') {
        return $client->health()->toArray();
    }
    if ($method === 'stats') {
        return $client->stats(...$args)->toArray();
    }
    [$group, $verb] = explode('.', $method);
    $named = $verb === 'send_batch' ? 'sendBatch' : $verb;
    $answer = $client->{$group}->{$named}(...arguments($args));

    return is_array($answer)
        ? array_map(static fn (object $model): array => $model->toArray(), $answer)
        : $answer?->toArray();
}

function describe(Throwable $error): array
{
    $class = (new ReflectionClass($error))->getShortName();
    $isOurs = $error instanceof PostriderException;

    return [
        'class' => $class === 'PostriderException' ? 'PostriderError' : $class,
        'base' => $isOurs,
        'status' => $isOurs ? $error->status : null,
        'code' => $isOurs ? $error->errorCode : null,
        'message' => $error->getMessage(),
        'request_id' => $isOurs ? $error->requestId : null,
        'timeout' => $error instanceof NetworkError ? $error->timeout : null,
        'retry_after' => $error instanceof RateLimitError ? $error->retryAfter : null,
        'domain' => $error instanceof ValidationError ? $error->domain : null,
        'check' => $error instanceof ValidationError ? $error->check?->toArray() : null,
        'index' => $isOurs ? $error->index : null,
        'text' => $error . print_r($error, true),
    ];
}

while (($line = fgets(STDIN)) !== false) {
    // With objects as objects: an empty one in a template's data must not become a list.
    $order = json_decode($line, flags: JSON_THROW_ON_ERROR);
    try {
        $outcome = ['result' => perform($order)];
    } catch (Throwable $error) {
        $outcome = ['error' => describe($error)];
    }
    $flags = JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES | JSON_INVALID_UTF8_SUBSTITUTE;
    echo json_encode(['name' => $order->name] + $outcome, $flags), "\n";
}
