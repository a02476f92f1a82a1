// The end of the operator's overview: certificates, and how the daemon's own periodic work goes.
import { SECOND_MS } from '../../base/clock.ts';
import type { TimerStatus } from '../../base/timers.ts';
import { type Html, html } from '../../http/html.ts';
import type { HeldCertificate } from '../../operator/held-certificates.ts';
import { badge, table, time } from '../elements.ts';

export function certificatesTable(certificates: readonly HeldCertificate[], now: number): Html | null {
  if (certificates.length === 0) return null;
  const rows = certificates.map((certificate) => {
    const { names, issued, renewsAt, failure } = certificate;
    return [
      html`<span class="roomy">${names}</span>`,
      issuedBy(certificate),
      issued ? html`${issued.until <= now && badge('expired', 'bad')} ${time(issued.until)}` : '–',
      issued ? time(issued.from) : '–',
      renewsAt === null ? 'when its file changes' : time(renewsAt),
      failure === null
        ? 'none'
        : html`${badge('failed', 'bad')} ${failure.reason}${failure.at !== null && html` <span class="quiet">${time(failure.at)}</span>`}`,
    ];
  });
  const heads = ['Names', 'Issued by', 'Expires', 'Issued', 'Next renewal', 'Last failure'];
  return html`<h3>Certificates</h3>${table({ caption: 'Certificates', heads }, rows)}`;
}

/** Without one from a directory the listener has one that it signed itself; without its file it does not start. */
function issuedBy({ issued, failure }: HeldCertificate): Html {
  if (issued) return html`<span class="roomy">${issued.by}</span>`;
  return failure?.at === null ? html`–` : html`${badge('self-signed', 'bad')} none issued yet`;
}

export function timersTable(timers: readonly TimerStatus[]): Html {
  const rows = timers.map(({ name, periodMs, lastRunAt, nextRunAt, lastResult, isRunning }) => [
    name,
    lastRunAt === null ? 'not yet' : time(lastRunAt),
    html`${isRunning && html`${badge('running')} ${lastResult !== null && 'before: '}`}${timerResult(lastResult)}`,
    time(nextRunAt),
    periodText(periodMs),
  ]);
  return html`<h3>Periodic tasks</h3>${table({ caption: 'Periodic tasks', heads: ['Task', 'Last run', 'Result', 'Next run', 'Every'] }, rows)}`;
}

function timerResult(result: string | null): Html | string {
  if (!result?.startsWith('failed')) return result ?? '';
  return html`${badge('failed', 'bad')} ${result.slice('failed: '.length)}`;
}

function periodText(ms: number): string {
  if (ms < 120 * SECOND_MS) return `${ms / SECOND_MS} s`;
  const minutes = ms / (60 * SECOND_MS);
  return minutes % 60 === 0 ? `${minutes / 60} h` : `${minutes} min`;
}
