// For `import`: the same classes as `require` gets, so that `instanceof` holds between the two.
import postrider from './index.js';

export const {
  Postrider,
  verifyWebhook,
  VERSION,
  PostriderError,
  AuthError,
  ScopeError,
  TenantNotActiveError,
  ValidationError,
  RateLimitError,
  ServerError,
  NetworkError,
  WebhookVerificationError,
} = postrider;
