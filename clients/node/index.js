// The public names of the package; index.mjs has the same for `import`.
'use strict';

const { Postrider } = require('./lib/client.js');
const errors = require('./lib/errors.js');
const { VERSION } = require('./lib/version.js');
const { verifyWebhook } = require('./lib/webhook.js');

module.exports = {
  Postrider,
  verifyWebhook,
  VERSION,
  PostriderError: errors.PostriderError,
  AuthError: errors.AuthError,
  ScopeError: errors.ScopeError,
  TenantNotActiveError: errors.TenantNotActiveError,
  ValidationError: errors.ValidationError,
  RateLimitError: errors.RateLimitError,
  ServerError: errors.ServerError,
  NetworkError: errors.NetworkError,
  WebhookVerificationError: errors.WebhookVerificationError,
};
