// Everything served over HTTP: the API, the public pages, the links in mails, the portal; and what only these need. A
// part of the wiring list in daemon.ts.
import { BodyPool } from '../api/body/body-pool.ts';
import { createApi } from '../api/create-api.ts';
import type { ClosingStack } from '../base/closing-stack.ts';
import { listenFault } from '../base/text/system-words.ts';
import type { Config } from '../config/keys.ts';
import { startHttp } from '../http/engines/start-http.ts';
import type { HttpHandler, HttpOptions, HttpServer } from '../http/http.ts';
import type { TlsSource } from '../http/tls-files.ts';
import { HitRecorder } from '../links/hit-recorder.ts';
import { linkPages } from '../links/pages/link-pages.ts';
import type { Logger } from '../observe/log.ts';
import { createMailReader } from '../portal/mails/mail-reader.ts';
import { createPublicPages } from '../public/create-public-pages.ts';
import { unknownPages } from '../public/unknown-pages.ts';
import type { Tier } from '../store/tenants.ts';
import type { SubmissionOptions } from '../submission/prepare-submission.ts';
import type { Scheduling } from '../submission/schedule.ts';
import { createSubmission, type Submission } from '../submission/submit.ts';
import { RenderPool } from '../templates/render-pool.ts';
import { createTemplates } from '../templates/templates.ts';
import type { Foundation } from './open-foundation.ts';
import { handlerOf } from './open-metrics.ts';
import { type PortalParts, portalRoutes } from './open-portal.ts';
import { acceptObserver } from './open-traces.ts';

export interface SiteParts {
  portal: Omit<PortalParts, 'templates' | 'reader' | 'submission' | 'scheduling'>;
  /** `staysUsable` only in the sandbox. */
  /** A certificate that is not in files. */
  tls: TlsSource | null;
  accepting: Pick<SubmissionOptions, 'onAccepted' | 'onScheduled' | 'passages' | 'staysUsable'> & {
    scheduling: Scheduling;
  };
}

interface Site {
  http: HttpServer;
  /** The SMTP door submits here, too: what the API has accepted with a key is not accepted again. */
  submission: Submission;
}

export async function openSite(
  config: Config,
  foundation: Foundation,
  { portal: parts, accepting, tls }: SiteParts,
  opened: ClosingStack,
): Promise<Site> {
  const { clock, ids, log, store, identity, intake, keyUses } = foundation;
  const { domains, hooks, notifyOwners } = parts;
  const reader = createMailReader({ log });
  opened.add(() => reader.close());
  const renderer = new RenderPool({ clock, log });
  opened.add(() => renderer.close());
  const bodies = new BodyPool({ log });
  opened.add(() => bodies.close());
  const templates = createTemplates({ store, renderer, clock, ids });
  const lifetimeMs = config.delivery.lifetime;
  const refuseNew = () => intake.refusal();
  const submission = createSubmission({
    store,
    templates,
    clock,
    ids,
    log,
    lifetimeMs,
    refuseNew,
    ...accepting,
    ...acceptObserver(foundation),
  });
  const api = createApi({
    store,
    domains,
    templates,
    webhooks: hooks.webhooks,
    webhookTests: hooks.tests,
    reads: foundation.reads,
    submission,
    scheduling: accepting.scheduling,
    bodies,
    notifyOwners,
    clock,
    ids,
    log,
    recordsDays: config.retention.records_days,
    keyUsed: keyUses.note,
    rates: foundation.rates,
    requestsPerMinute: (tier) => requestCap(config, tier),
  });
  const hits = new HitRecorder({ store, clock, ids, log, rules: foundation.machineRules });
  opened.add(() => hits.close());
  const links = linkPages({ store, clock, log, hits, keys: (keyId) => identity.linkKeys.get(keyId) });
  const portal = portalRoutes(config, foundation, {
    ...parts,
    templates,
    reader,
    submission,
    scheduling: accepting.scheduling,
  });
  const open = createPublicPages();
  const pages = {
    routes: [...api.routes, ...open.routes, ...portal.routes],
    ...unknownPages(api, portal, open.style),
  };
  const options = httpOptions(config, log, tls, handlerOf(config, foundation, links, pages));
  const http = await startHttp(options).catch((error: unknown) => {
    throw listenFault('http', config.http, error);
  });
  return { http, submission };
}

/** Calls per minute and key; null: no limit. */
export function requestCap(config: Config, tier: Tier): number | null {
  const [first, second] = config.limits.requests_per_minute;
  return { '1k': first ?? null, '10k': second ?? null, uncapped: null }[tier];
}

function httpOptions({ http }: Config, log: Logger, source: TlsSource | null, handler: HttpHandler): HttpOptions {
  const { engine, host, port, tls_cert, tls_key } = http;
  const tls = tls_cert && tls_key ? { certFile: tls_cert, keyFile: tls_key } : source;
  return {
    engine,
    host,
    port,
    handler,
    log,
    trustedProxies: http.trusted_proxies,
    ...(tls && { tls }),
    onError: (error) => log.error({ error }, 'HTTP handler failed'),
  };
}
