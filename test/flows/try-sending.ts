// One POST /emails as a client sees it, whatever the answer is; it is held to the API description.
import type { Daemon } from '../support/daemon-process.ts';
import { checkAnswer } from '../support/openapi-check.ts';
import type { Sender } from '../support/world.ts';

export async function trySending(daemon: Daemon, sender: Sender, to: string) {
  const [method, path] = ['POST', '/emails'];
  const response = await fetch(`http://127.0.0.1:${daemon.httpPort}${path}`, {
    method,
    headers: { Authorization: `Bearer ${sender.key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ from: `app@${sender.domain}`, to, subject: 'Hello', text: 'Hello there.' }),
  });
  const { status, headers } = response;
  const body = (await response.json()) as Record<string, unknown>;
  checkAnswer({ method, path, status, headers, body });
  return { status, retryAfter: headers.get('retry-after'), body };
}
