<?php

declare(strict_types=1);

namespace Postrider;

use Postrider\Exception\PostriderException;
use Postrider\Internal\Settings;
use Postrider\Internal\Transport;
use Postrider\Model\Event;
use Postrider\Model\Health;
use Postrider\Model\Stats;
use Postrider\Resource\Domains;
use Postrider\Resource\Emails;
use Postrider\Resource\Events;
use Postrider\Resource\Submissions;
use Postrider\Resource\Suppressions;
use Postrider\Resource\Templates;
use Postrider\Resource\Webhooks;

/**
 * The API of one Postrider server.
 */
final class Client
{
    public const VERSION = '0.1.0';

    public readonly Emails $emails;
    public readonly Submissions $submissions;
    public readonly Domains $domains;
    public readonly Webhooks $webhooks;
    public readonly Templates $templates;
    public readonly Suppressions $suppressions;
    public readonly Events $events;

    private readonly Transport $transport;

    /**
     * @param string|null $apiKey else POSTRIDER_API_KEY of the environment
     * @param string|null $baseUrl else POSTRIDER_BASE_URL of the environment
     * @param int $maxRetries how often a call is tried again; 0 switches retries off
     * @param float $timeout the limit of one attempt, in seconds
     *
     * @throws PostriderException when key or address is missing or cannot be used
     */
    public function __construct(
        #[\SensitiveParameter]
        ?string $apiKey = null,
        #[\SensitiveParameter]
        ?string $baseUrl = null,
        int $maxRetries = 3,
        float $timeout = 30.0,
    ) {
        $this->transport = new Transport(Settings::from($apiKey, $baseUrl, $maxRetries, $timeout));
        $this->emails = new Emails($this->transport);
        $this->submissions = new Submissions($this->transport);
        $this->domains = new Domains($this->transport);
        $this->webhooks = new Webhooks($this->transport);
        $this->templates = new Templates($this->transport);
        $this->suppressions = new Suppressions($this->transport);
        $this->events = new Events($this->transport);
    }

    /**
     * What happened, counted by day or hour.
     *
     * @param string|null $from a time with its offset or a date
     * @param string|null $to the moment after the last; now when not given
     * @param 'hour'|'day'|null $by `day` when not given
     * @param string|null $tag `name:value`: only messages with this tag
     *
     * @throws PostriderException
     */
    public function stats(
        ?string $from = null,
        ?string $to = null,
        ?string $by = null,
        ?string $tag = null,
    ): Stats {
        $query = ['from' => $from, 'to' => $to, 'by' => $by, 'tag' => $tag];

        return Stats::fromArray($this->transport->get('/stats', $query));
    }

    /**
     * Whether the server can work. A server without its database is an answer, not an exception.
     *
     * @throws PostriderException
     */
    public function health(): Health
    {
        return Health::fromArray($this->transport->health());
    }

    /**
     * Checks that a webhook was signed by the holder of the secret, and answers its event. Makes no call, and needs
     * no client: `Client::verifyWebhook(…)`.
     *
     * @param mixed $payload the body exactly as it arrived, as a string; anything else is refused with a reason
     * @param iterable<array-key, mixed> $headers getallheaders(), $_SERVER, PSR-7's getHeaders(): names in any case
     * @param int $tolerance how many seconds the timestamp may be away from now, in both directions
     *
     * @throws Exception\WebhookVerificationError
     */
    public static function verifyWebhook(
        mixed $payload,
        iterable $headers,
        #[\SensitiveParameter]
        string $secret,
        int $tolerance = WebhookVerifier::TOLERANCE_SECONDS,
    ): Event {
        return (new WebhookVerifier($secret, $tolerance))->verify($payload, $headers);
    }

    /**
     * @return array<string, mixed>
     */
    public function __debugInfo(): array
    {
        return $this->transport->__debugInfo();
    }
}
