// Reports every response to an observer, with the route's pattern instead of the path.
import type { HttpReply, HttpRequest } from './http.ts';
import type { Route, RouterOptions } from './router.ts';

export interface AnsweredCall {
  method: string;
  route: string;
  status: number;
  elapsedMs: number;
}

/** Errors are answered with 500 above. */
const THROWN_STATUS = 500;
const NO_ROUTE = 'other';

export type CallObserver = (call: AnsweredCall) => void;

export function watchedRoutes(routes: readonly Route[], observer: CallObserver): Route[] {
  return routes.map((route) => ({
    ...route,
    handler: (request, params) =>
      watch(request, { route: route.pattern, observer }, () => route.handler(request, params)),
  }));
}

/** Includes responses for unknown paths and methods. */
export function watchedRouter(
  { routes, notFound, methodNotAllowed }: RouterOptions,
  observer: CallObserver,
): RouterOptions {
  const other = { route: NO_ROUTE, observer };
  return {
    routes: watchedRoutes(routes, observer),
    notFound: (request) => watch(request, other, () => notFound(request)),
    methodNotAllowed: (request, allow) => watch(request, other, () => methodNotAllowed(request, allow)),
  };
}

async function watch(
  { method }: HttpRequest,
  { route, observer }: { route: string; observer: CallObserver },
  answer: () => HttpReply | Promise<HttpReply>,
): Promise<HttpReply> {
  const startedAt = performance.now();
  const report = (status: number) => observer({ method, route, status, elapsedMs: performance.now() - startedAt });
  try {
    const reply = await answer();
    report(reply.status);
    return reply;
  } catch (error) {
    report(THROWN_STATUS);
    throw error;
  }
}
