// The Resend door: what Resend's SDKs call, below /resend, with the same keys, limits and rates as our own API. It
// translates and owns nothing. docs/resend.md describes it; schema/openapi.yaml leaves it out, since its calls and answers
// are Resend's to describe.
import { refuse } from '../../base/refusals.ts';
import type { HttpReply, HttpRequest } from '../../http/http.ts';
import type { Route } from '../../http/router.ts';
import type { Pipeline } from '../pipeline.ts';
import { type AccountParts, accountEndpoints } from './account-endpoints.ts';
import { type ReadParts, readEndpoints } from './read-endpoints.ts';
import { resendRefusal } from './resend-errors.ts';
import { type ScheduleParts, scheduleEndpoints } from './schedule-endpoints.ts';
import { type SendParts, sendEndpoints } from './send-endpoints.ts';

export type ResendParts = SendParts &
  ScheduleParts &
  ReadParts &
  AccountParts & { store: ReadParts['store'] & AccountParts['store'] };

interface ResendDoor {
  routes: Route[];
  /** For every other path and method below /resend. */
  notFound(request: HttpRequest): Promise<HttpReply>;
}

export function resendDoor(parts: ResendParts, pipeline: Pipeline): ResendDoor {
  const endpoints = [
    ...sendEndpoints(parts),
    ...scheduleEndpoints(parts),
    ...readEndpoints(parts),
    ...accountEndpoints(parts),
  ];
  const notFound = refuse('not_found', 'No such endpoint here. /docs/resend lists what there is.');
  return {
    routes: endpoints.map((endpoint) => pipeline.route(endpoint, resendRefusal)),
    notFound: (request) => pipeline.answered(request, (headers) => resendRefusal(notFound, headers), resendRefusal),
  };
}

const ROOT = '/resend';

export function isAtResendDoor(path: string): boolean {
  return path === ROOT || path.startsWith(`${ROOT}/`);
}
