<?php

declare(strict_types=1);

namespace Postrider\Internal;

/**
 * Reads typed fields out of a parsed answer. Another type counts as missing and a missing field is empty: a mail that
 * was accepted must not become an exception because a later server words its answer in another way.
 *
 * @internal
 */
final class Fields
{
    /**
     * @param array<mixed> $fields
     */
    public function __construct(private readonly array $fields)
    {
    }

    public function string(string $name): string
    {
        return $this->stringOrNull($name) ?? '';
    }

    public function stringOrNull(string $name): ?string
    {
        $value = $this->fields[$name] ?? null;

        return \is_string($value) ? $value : null;
    }

    public function int(string $name): int
    {
        return $this->intOrNull($name) ?? 0;
    }

    public function intOrNull(string $name): ?int
    {
        $value = $this->fields[$name] ?? null;

        return \is_int($value) ? $value : null;
    }

    public function bool(string $name): bool
    {
        return ($this->fields[$name] ?? null) === true;
    }

    public function boolOrNull(string $name): ?bool
    {
        $value = $this->fields[$name] ?? null;

        return \is_bool($value) ? $value : null;
    }

    /**
     * @return list<string>
     */
    public function strings(string $name): array
    {
        return $this->stringsOrNull($name) ?? [];
    }

    /**
     * @return list<string>|null
     */
    public function stringsOrNull(string $name): ?array
    {
        $value = $this->fields[$name] ?? null;

        return \is_array($value) ? \array_values(\array_filter($value, \is_string(...))) : null;
    }

    /**
     * An object with names of the caller's. PHP makes integers of names that look like some.
     *
     * @return array<array-key, string>|null
     */
    public function map(string $name): ?array
    {
        $value = $this->fields[$name] ?? null;

        return \is_array($value) ? \array_filter($value, \is_string(...)) : null;
    }

    /**
     * @template T of object
     *
     * @param callable(array<mixed>): T $build
     *
     * @return T|null
     */
    public function object(string $name, callable $build): ?object
    {
        $value = $this->fields[$name] ?? null;

        return \is_array($value) ? $build($value) : null;
    }

    /**
     * @template T of object
     *
     * @param callable(array<mixed>): T $build
     *
     * @return list<T>
     */
    public function list(string $name, callable $build): array
    {
        $value = $this->fields[$name] ?? null;

        return \is_array($value) ? \array_map($build, \array_values(\array_filter($value, \is_array(...)))) : [];
    }

    /**
     * The way back, for a list of models.
     *
     * @param list<object> $models each with a method toArray()
     *
     * @return list<array<mixed>>
     */
    public static function plain(array $models): array
    {
        return \array_map(static fn (object $model): array => $model->toArray(), $models);
    }
}
