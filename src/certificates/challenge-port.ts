// The plain HTTP port, usually 80: answers the challenges of a directory, and redirects browsers to https, to one of our
// own names (RFC 9110 section 15.4.9). Calls that carry a secret or a body are refused instead: a redirect
// would hide from their author that the secret has crossed the network in clear text.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { SECOND_MS } from '../base/clock.ts';
import { listenFault } from '../base/text/system-words.ts';
import type { ChallengeAnswers } from './challenge-answers.ts';

export interface ChallengePortOptions {
  host: string;
  port: number;
  answers: ChallengeAnswers;
  /** The https origin of each of our host names. */
  origins: ReadonlyMap<string, string>;
  /** Where browsers go that came by another name, or by the address; null: nowhere. */
  home: string | null;
}

const CHALLENGES = '/.well-known/acme-challenge/';
const LIMITS = {
  maxHeaderSize: 8 * 1024,
  headersTimeout: 5 * SECOND_MS,
  requestTimeout: 5 * SECOND_MS,
  connectionsCheckingInterval: SECOND_MS,
};
/** Each is answered at once and closed. Directories check from some five places. */
const MAX_CONNECTIONS = 256;
const MAX_PATH_CHARACTERS = 2048;

/** Throws a Fault that says why the port can't be opened. */
export async function openChallengePort(options: ChallengePortOptions): Promise<{ close(): Promise<void> }> {
  const { host, port } = options;
  const server = createServer(LIMITS, (request, response) => answer(options, request, response));
  server.maxConnections = MAX_CONNECTIONS;
  server.setTimeout(LIMITS.requestTimeout, (socket) => socket.destroy());
  try {
    server.listen(port, host);
    await once(server, 'listening');
  } catch (cause) {
    throw listenFault('tls', { host, port, hostKey: 'acme_host', key: 'acme_http_port' }, cause);
  }
  // For example EMFILE while accepting: the server goes on.
  server.on('error', () => {});
  return { close: () => close(server) };
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

function answer(
  { answers, origins, home }: ChallengePortOptions,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const { url = '', headers } = request;
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  const reply = (status: number, text: string) => {
    const length = Buffer.byteLength(text);
    // A client that sends more is not listened to.
    response
      .writeHead(status, { 'Content-Type': 'text/plain', 'Content-Length': length, Connection: 'close' })
      .end(text);
  };
  const origin = origins.get(hostOf(headers.host)) ?? home;
  if (isRead && url.startsWith(CHALLENGES)) {
    answers.find(url.slice(CHALLENGES.length)).then(
      (text) => reply(text === null ? 404 : 200, text ?? 'No such challenge.\n'),
      () => reply(503, 'The challenge could not be looked up.\n'),
    );
  } else if (origin === null || !url.startsWith('/')) {
    reply(404, 'Not found.\n');
  } else if (!isRead || headers.authorization !== undefined) {
    reply(403, `Use ${origin}. What was sent has crossed the network in clear text: replace the key.\n`);
  } else if (url.length > MAX_PATH_CHARACTERS) {
    reply(414, 'The address is too long.\n');
  } else {
    response.setHeader('Location', `${origin}${url}`);
    reply(308, `Use ${origin}.\n`);
  }
}

/** Without the port. */
function hostOf(header = ''): string {
  return header.replace(/:\d+$/, '').replace(/\.$/, '').toLowerCase();
}
