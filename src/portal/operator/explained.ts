// Why something waits, and what a receiver said, as the operator's pages show it.
import type { LastReply } from '../../delivery/actions/explain.ts';
import type { ShapingReason } from '../../delivery/shaping/shaping.ts';
import { type Html, html } from '../../http/html.ts';
import { replyLine } from '../../protocol/smtp/reply.ts';
import type { ReadOutcome } from '../../store/reads.ts';
import { time } from '../elements.ts';

/** Every one of them, with its end where one is known. */
export function reasonList(reasons: readonly ShapingReason[]): Html {
  return html`<ul class="reasons">${reasons.map(({ reason, until }) => html`<li>${reason}${until !== null && html` <span class="quiet">until ${time(until)}</span>`}</li>`)}</ul>`;
}

export function lastReplyText({ smtpCode, enhancedCode, response, rule, label, meaning }: LastReply): Html {
  return html`<code>${replyLine(smtpCode, enhancedCode, response)}</code>${rule !== null && html`<br><span class="quiet">Meaning: ${meaning} (${label}, rule ${rule})</span>`}`;
}

export function ageText(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return '< 1 minute';
  if (minutes < 120) return `${minutes} minute${minutes === 1 ? '' : 's'}`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} hours` : `${Math.floor(hours / 24)} days`;
}

/** What was found, or a box that says why nobody has looked. */
export function orRefusal<T>(outcome: ReadOutcome<T>, show: (value: T) => Html): Html {
  return outcome.kind === 'found' ? show(outcome.value) : html`<p class="notice warn">${outcome.reason}</p>`;
}

export function shareText(part: number, whole: number): string {
  return whole === 0 ? 'no mail yet' : `${((part / whole) * 100).toFixed(2)} %`;
}
