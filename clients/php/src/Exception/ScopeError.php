<?php

declare(strict_types=1);

namespace Postrider\Exception;

/**
 * 403 `scope_required`: the key lacks the scope that the call needs.
 */
class ScopeError extends PostriderException
{
}
