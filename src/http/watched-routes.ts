// Tells an observer of every answer, with the route's pattern instead of the path.
import type { HttpReply, HttpRequest } from './http.ts';
import type { Route, RouterOptions } from './router.ts';

export interface AnsweredCall {
  method: string;
  route: string;
  status: number;
  elapsedMs: number;
}

/** What was thrown is answered with a 500 above. */
const THROWN_STATUS = 500;
const NO_ROUTE = 'other';

export type CallObserver = (call: AnsweredCall) => void;

export function watchedRoutes(routes: readonly Route[], told: CallObserver): Route[] {
  return routes.map((route) => ({
    ...route,
    handler: (request, params) => watch(request, { route: route.pattern, told }, () => route.handler(request, params)),
  }));
}

/** With the answers to what there is not. */
export function watchedRouter(
  { routes, notFound, methodNotAllowed }: RouterOptions,
  told: CallObserver,
): RouterOptions {
  const other = { route: NO_ROUTE, told };
  return {
    routes: watchedRoutes(routes, told),
    notFound: (request) => watch(request, other, () => notFound(request)),
    methodNotAllowed: (request, allow) => watch(request, other, () => methodNotAllowed(request, allow)),
  };
}

async function watch(
  { method }: HttpRequest,
  { route, told }: { route: string; told: CallObserver },
  answer: () => HttpReply | Promise<HttpReply>,
): Promise<HttpReply> {
  const startedAt = performance.now();
  const tell = (status: number) => told({ method, route, status, elapsedMs: performance.now() - startedAt });
  try {
    const reply = await answer();
    tell(reply.status);
    return reply;
  } catch (error) {
    tell(THROWN_STATUS);
    throw error;
  }
}
