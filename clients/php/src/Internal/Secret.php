<?php

declare(strict_types=1);

namespace Postrider\Internal;

/**
 * Keeps a key out of dumps, exports, stack traces and serialized objects: it lives in a closure.
 *
 * @internal
 */
final class Secret
{
    /** @var \Closure(): string */
    private readonly \Closure $reveal;

    public function __construct(#[\SensitiveParameter] string $value)
    {
        $this->reveal = static fn (): string => $value;
    }

    public function reveal(): string
    {
        return ($this->reveal)();
    }

    /**
     * @return array<string, string>
     */
    public function __debugInfo(): array
    {
        return ['value' => '[hidden]'];
    }
}
