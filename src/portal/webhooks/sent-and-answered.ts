// A request to an endpoint and its answer, as they went over the wire: both may hold anything.
import { type Html, html } from '../../http/html.ts';
import type { SentRequest } from '../../webhooks/sent-request.ts';
import { copyableBlock } from '../elements.ts';

export interface Answered {
  /** Null without an answer. */
  answer: string | null;
}

export function sentAndAnswered(request: SentRequest, { answer }: Answered): Html {
  const headers = Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`);
  return html`<h2>Request</h2>
<h3>Headers</h3><pre class="wrap" tabindex="0"><code>${headers.join('\n')}</code></pre>
<h3>Body</h3>${copyableBlock(readable(request.body), 'the body')}
<h2>Response</h2>
${answerOf(answer)}`;
}

function answerOf(answer: string | null): Html {
  if (answer === null) return html`<p class="quiet">No response.</p>`;
  if (answer === '') return html`<p class="quiet">The response had no body.</p>`;
  return html`<p class="hint">The first 4 KiB of its body are kept.</p><pre class="wrap answer" tabindex="0"><code>${answer}</code></pre>`;
}

/** With line ends that are not in what was sent. */
function readable(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
