// What the pages of webhooks work with.
import type { StoreVerbs } from '../../store/store.ts';
import type { OwnerNotices } from '../../tenants/owner-notices.ts';
import type { TestSender } from '../../webhooks/test-sender.ts';
import type { Webhooks } from '../../webhooks/webhooks.ts';

export interface WebhookServices {
  webhooks: Webhooks;
  tests: TestSender;
  notifyOwners?: OwnerNotices;
  store: StoreVerbs<{
    webhooks:
      | 'listWebhookHealth'
      | 'getWebhookHealth'
      | 'listWebhookSecrets'
      | 'listWebhookAttempts'
      | 'listWebhookDeliveries'
      | 'findWebhookAttempt'
      | 'replayDelivery'
      | 'replayFailed';
  }>;
}
