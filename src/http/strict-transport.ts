// Strict-Transport-Security (RFC 6797): a browser that has reached us over TLS comes back over TLS only, so that
// nobody between can take it to plain HTTP. Without includeSubDomains: hosts below ours may be somebody else's.
import type { HttpReply, HttpRequest } from './http.ts';
import type { RouterOptions } from './router.ts';

const ONE_YEAR = 'max-age=31536000';
/** For browsers the policy holds for every port: it would break what else a developer runs there without TLS. */
const LOCALHOST = /^(?:[^:]*\.)?localhost\.?(?::\d+)?$/i;

/** Every answer of these routes, and to what they do not know. */
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

/** RFC 6797 section 7.2: never over plain HTTP, where anybody could have written it. */
function strict(request: HttpRequest, answer: Answer): Answer {
  if (!request.secure || LOCALHOST.test(request.header('host') ?? '')) return answer;
  return answer instanceof Promise ? answer.then(withPolicy) : withPolicy(answer);
}

function withPolicy(reply: HttpReply): HttpReply {
  return { ...reply, headers: { ...reply.headers, 'Strict-Transport-Security': ONE_YEAR } };
}
