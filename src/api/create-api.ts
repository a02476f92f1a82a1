// The HTTP API as routes for the kernel: which endpoints there are, and the answers to paths
// and methods that there are not. Translation only; what is decided is decided by the services.
import { isRefusal, type Refusal, refuse } from '../base/refusals.ts';
import type { Domains } from '../domains/domains.ts';
import type { HttpHandler, HttpReply, HttpRequest } from '../http/http.ts';
import type { Route } from '../http/router.ts';
import type { Store, StoreVerbs } from '../store/store.ts';
import type { Scheduling } from '../submission/schedule.ts';
import type { Submission } from '../submission/submit.ts';
import type { Templates } from '../templates/templates.ts';
import type { OwnerNotices } from '../tenants/owner-notices.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';
import { type ReplyHeaders, refusalReply, toReply } from './answer.ts';
import type { BodyBudget } from './body/body-budget.ts';
import type { Endpoint } from './endpoint.ts';
import { domainEndpoints } from './endpoints/domain-endpoints.ts';
import { emailEndpoints } from './endpoints/email-endpoints.ts';
import { emailListEndpoints } from './endpoints/email-list-endpoints.ts';
import { eventEndpoints } from './endpoints/event-endpoints.ts';
import { scheduleEndpoints } from './endpoints/schedule-endpoints.ts';
import { sentMailEndpoints } from './endpoints/sent-mail-endpoints.ts';
import { type StatsParts, statsEndpoints } from './endpoints/stats-endpoints.ts';
import { type SuppressionParts, suppressionEndpoints } from './endpoints/suppression-endpoints.ts';
import { templateEndpoints } from './endpoints/template-endpoints.ts';
import { type WebhookDeliveryParts, webhookDeliveryEndpoints } from './endpoints/webhook-delivery-endpoints.ts';
import { webhookEndpoints } from './endpoints/webhook-endpoints.ts';
import { readBytes } from './json-body.ts';
import { Pipeline, type PipelineOptions } from './pipeline.ts';
import { isAtResendDoor, type ResendParts, resendDoor } from './resend/door.ts';

export interface ApiServices extends PipelineOptions {
  reads: StatsParts['reads'] & Parameters<typeof emailListEndpoints>[0] & ResendParts['reads'];
  store: Pick<Store, 'ping'> &
    StoreVerbs<{
      keys: 'findApiKeyBySecret';
      audit: 'recordAudit';
      queue: 'findMessage' | 'findSubmission';
      events: 'eventsOfMessage' | 'listEvents';
    }> &
    SuppressionParts['store'] &
    ResendParts['store'] &
    WebhookDeliveryParts['store'];
  submission: Submission;
  scheduling: Scheduling;
  domains: Domains;
  templates: Templates;
  webhooks: Webhooks;
  webhookTests: WebhookDeliveryParts['webhookTests'];
  /** How long records and events are kept. */
  recordsDays: number;
  /** Told of new webhooks. */
  notifyOwners?: OwnerNotices;
}

/** Fits the router's options. */
export interface Api {
  routes: Route[];
  notFound: HttpHandler;
  methodNotAllowed(request: HttpRequest, allow: string): Promise<HttpReply>;
}

export function createApi(services: ApiServices): Api {
  const pipeline = new Pipeline(services);
  const endpoints: Endpoint[] = [
    ...emailEndpoints(services.submission),
    ...emailListEndpoints(services.reads),
    ...sentMailEndpoints(services),
    ...scheduleEndpoints(services.scheduling),
    ...domainEndpoints(services.domains),
    ...templateEndpoints(services.templates),
    ...webhookEndpoints(services.webhooks, services.notifyOwners),
    ...webhookDeliveryEndpoints(services),
    ...eventEndpoints(services.store),
    ...suppressionEndpoints(services),
    ...statsEndpoints(services),
  ];
  const health: Route = {
    method: 'GET',
    pattern: '/healthz',
    handler: (request) =>
      pipeline.answered(request, (headers) =>
        healthReply(request, { headers, store: services.store, budget: pipeline.bodyBudget }),
      ),
  };
  const refuseAll = (request: HttpRequest, refusal: Refusal) =>
    pipeline.answered(request, (headers) => refusalReply(refusal, headers));
  const door = resendDoor(services, pipeline);
  return {
    routes: [...endpoints.map((endpoint) => pipeline.route(endpoint)), ...door.routes, health],
    notFound: (request) =>
      isAtResendDoor(request.path)
        ? door.notFound(request)
        : refuseAll(request, refuse('not_found', 'No such endpoint. See /docs.')),
    methodNotAllowed(request, allow) {
      if (isAtResendDoor(request.path)) return door.notFound(request);
      const methods = allow.split(', ').join(' or ');
      return refuseAll(request, refuse('method_not_allowed', `Method not allowed; use ${methods}.`));
    },
  };
}

interface HealthParts {
  headers: ReplyHeaders;
  store: Pick<Store, 'ping'>;
  budget: BodyBudget;
}

/** Without a key: it is for whoever watches the process. All who bring a body share what one tenant has. */
async function healthReply(request: HttpRequest, { headers, store, budget }: HealthParts): Promise<HttpReply> {
  const share = budget.share('');
  const body = await readBytes(request, share).finally(() => share.giveBack());
  if (isRefusal(body)) return refusalReply(body, headers);
  return (await store.ping())
    ? toReply({ status: 200, body: { status: 'ok' } }, headers)
    : toReply({ status: 503, body: { status: 'db_unreachable' } }, headers);
}
