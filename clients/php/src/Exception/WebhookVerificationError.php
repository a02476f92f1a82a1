<?php

declare(strict_types=1);

namespace Postrider\Exception;

/**
 * The webhook is not one to be trusted, or cannot be checked; errorCode says why.
 */
class WebhookVerificationError extends PostriderException
{
}
