<?php

declare(strict_types=1);

namespace Postrider\Exception;

/**
 * 401: the key is missing, malformed, unknown or revoked.
 */
class AuthError extends PostriderException
{
}
