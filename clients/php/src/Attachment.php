<?php

declare(strict_types=1);

namespace Postrider;

/**
 * A file to send along: `Attachment::fromBytes('invoice.pdf', file_get_contents('invoice.pdf'))`.
 */
final class Attachment implements \JsonSerializable
{
    private function __construct(
        public readonly string $filename,
        public readonly string $contentBase64,
        public readonly ?string $contentType,
        public readonly ?string $contentId,
    ) {
    }

    /**
     * @param string $filename without a path
     * @param string|null $contentType by the file name unless given
     * @param string|null $contentId for an image in the HTML: `<img src="cid:…">`
     */
    public static function fromBytes(
        string $filename,
        string $content,
        ?string $contentType = null,
        ?string $contentId = null,
    ): self {
        return new self($filename, \base64_encode($content), $contentType, $contentId);
    }

    /**
     * The same with a content that is base64 already; it is sent as it is.
     */
    public static function fromBase64(
        string $filename,
        string $content,
        ?string $contentType = null,
        ?string $contentId = null,
    ): self {
        return new self($filename, $content, $contentType, $contentId);
    }

    /**
     * The fields as the service names them.
     *
     * @return array<string, string>
     */
    public function toArray(): array
    {
        $fields = [
            'filename' => $this->filename,
            'content' => $this->contentBase64,
            'content_type' => $this->contentType,
            'content_id' => $this->contentId,
        ];

        return \array_filter($fields, static fn (?string $value): bool => $value !== null);
    }

    /**
     * @return array<string, string>
     */
    public function jsonSerialize(): array
    {
        return $this->toArray();
    }
}
