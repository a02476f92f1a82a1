<?php

declare(strict_types=1);

namespace Postrider\Exception;

/**
 * 403 `tenant_not_active`: the account is suspended, in review or not yet confirmed.
 */
class TenantNotActiveError extends PostriderException
{
}
