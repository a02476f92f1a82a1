<?php

declare(strict_types=1);

namespace Postrider\Exception;

/**
 * 5xx, and the retries are used up.
 */
class ServerError extends PostriderException
{
}
