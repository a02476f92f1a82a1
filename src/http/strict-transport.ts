// Strict-Transport-Security (RFC 6797): a browser that has reached us over TLS uses only TLS from then on, so that an
// attacker on the path cannot downgrade it to plain HTTP. Without includeSubDomains: subdomains of ours may belong to
// others.
import type { HttpReply, HttpRequest } from './http.ts';
import type { RouterOptions } from './router.ts';

const ONE_YEAR = 'max-age=31536000';
/** Browsers apply the policy to every port: it would break a developer's other services there without TLS. */
const LOCALHOST = /^(?:[^:]*\.)?localhost\.?(?::\d+)?$/i;

/** Adds the header to every response of these routes, and to those for unknown paths. */
export function strictTransport({ routes, notFound, methodNotAllowed }: RouterOptions): RouterOptions {
  return {
    routes: routes.map((route) => ({
      ...route,
      handler: (request, params) => strict(request, route.handler(request, params)),
    })),
    notFound: (request) => strict(request, notFound(request)),
    methodNotAllowed: (request, allow) => strict(request, methodNotAllowed(request, allow)),
  };
}

type Answer = HttpReply | Promise<HttpReply>;

/** RFC 6797 section 7.2: never over plain HTTP, where an attacker could have set it. */
function strict(request: HttpRequest, answer: Answer): Answer {
  if (!request.secure || LOCALHOST.test(request.header('host') ?? '')) return answer;
  return answer instanceof Promise ? answer.then(withPolicy) : withPolicy(answer);
}

function withPolicy(reply: HttpReply): HttpReply {
  return { ...reply, headers: { ...reply.headers, 'Strict-Transport-Security': ONE_YEAR } };
}
