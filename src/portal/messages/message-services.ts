// What the pages of messages work with.
import type { MessageExplanation } from '../../delivery/actions/explain.ts';
import type { SourceContent } from '../../store/message-view.ts';
import type { MessageDetail } from '../../store/queue.ts';
import type { PortalReads } from '../../store/reads.ts';
import type { StoreVerbs } from '../../store/store.ts';
import type { Tenant } from '../../store/tenants.ts';
import type { Scheduling } from '../../submission/schedule.ts';
import type { Submission } from '../../submission/submit.ts';

export interface MessageServices {
  store: StoreVerbs<{
    domains: 'listDomains';
    keys: 'listApiKeys';
    suppressions: 'getSuppression' | 'listPlatformSuppressions';
    queue: 'findMessage';
    templates: 'listTemplateNames';
  }>;
  submission: Pick<Submission, 'submit'>;
  /** Counts a message that a person sends; null: go on, else the seconds to wait. */
  waitSecs(tenant: Tenant): Promise<number | null>;
  scheduling: Scheduling;
  reads: Pick<PortalReads, 'searchMessages' | 'messageView' | 'messageHtml' | 'messageContent' | 'messageAttachment'>;
  /** In the sandbox: the mail itself has been captured, and can be looked at. */
  sandbox: boolean;
  /** Why it waits, as `queue show` says it. */
  explain(message: MessageDetail): Promise<MessageExplanation>;
  /** As it was or would be sent, without signatures and valid tokens. */
  sourceOf(content: SourceContent): Promise<Buffer>;
}
