// What the pages of webhooks work with.
import type { DeliveryStore, WebhookStore } from '../../store/webhooks.ts';
import type { OwnerNotices } from '../../tenants/owner-notices.ts';
import type { TestSender } from '../../webhooks/test-sender.ts';
import type { Webhooks } from '../../webhooks/webhooks.ts';

export interface WebhookServices {
  webhooks: Webhooks;
  tests: TestSender;
  tellOwners?: OwnerNotices;
  store: Pick<WebhookStore, 'listWebhookHealth' | 'getWebhookHealth' | 'listWebhookSecrets'> &
    Pick<DeliveryStore, 'listWebhookAttempts' | 'findWebhookAttempt' | 'replayDelivery' | 'replayFailed'>;
}
