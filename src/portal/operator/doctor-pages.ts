// The doctor: looks at everything that has to be right outside of the program. It takes a while, so the page
// starts it, and shows it when it is over.
import { SECOND_MS } from '../../base/clock.ts';
import { type Finding, type Remedy, worstOf } from '../../doctor/finding.ts';
import { type Html, html } from '../../http/html.ts';
import { badge, copyable, emptyState, heading, type Tone, table, time } from '../elements.ts';
import { action, type PageResult, type PortalRoute, page, redirect, type VisitOf, view } from '../page.ts';
import type { DoctorState } from './doctor-runs.ts';
import type { OperatorServices } from './operator-services.ts';

type Services = Pick<OperatorServices, 'doctor' | 'sandbox'>;

const PATH = '/portal/operator/doctor';
const POLL_MS = 1500;

export function doctorPages(services: Services): PortalRoute[] {
  return [
    page({ path: PATH, access: 'operator', show: (visit) => show(services, visit) }),
    action({
      path: PATH,
      access: 'operator',
      async run(visit) {
        const started = services.doctor.start();
        if (started) await visit.audit('doctor.run');
        return redirect(PATH);
      },
    }),
  ];
}

function show({ doctor, sandbox }: Services, visit: VisitOf<'operator'>): PageResult {
  const { state } = doctor;
  const button = html`<form method="post" action="${PATH}">${visit.formField}<button class="primary">Run now</button></form>`;
  // All of it is looked for again: the button comes back when the examination is over.
  const body = html`<div id="doctor"${state.kind === 'running' && html` data-poll="${PATH}" data-poll-ms="${POLL_MS}"`}>
${heading('Doctor', state.kind === 'running' ? null : button)}
<p>Checks what mail delivery needs: port 25, names, DNS records, certificates, blocklists, disk, clock, signing, database and the daemon itself.</p>
${sandbox && html`<p class="notice info">This is a sandbox: it needs nothing of the outside. What is said of names, addresses and ports here, a server would have to mend.</p>`}
${resultOf(state)}</div>`;
  return view({ title: 'Doctor', body });
}

function resultOf(state: DoctorState): Html {
  switch (state.kind) {
    case 'never':
      return emptyState(
        'The checks haven’t run since the daemon started',
        'Run them now. They take up to a minute and change nothing.',
      );
    case 'running':
      return html`<p class="notice info" role="status">The checks have been running since ${time(state.since)}. They take up to a minute; <a href="${PATH}">refresh</a>.</p>`;
    case 'failed':
      return html`<p class="notice bad">The checks couldn’t run: ${state.reason}</p>`;
    case 'done':
      return findingsOf(state);
  }
}

const TONES: Readonly<Record<Finding['health'], Tone>> = { ok: 'good', warn: 'warn', fail: 'bad' };
const SUMMARIES = {
  ok: 'All checks passed.',
  warn: 'No check failed, but there are warnings.',
  fail: 'Some checks failed.',
} as const;
const ORDER: readonly Finding['health'][] = ['fail', 'warn', 'ok'];

function findingsOf({ findings, since, until }: Extract<DoctorState, { kind: 'done' }>): Html {
  const health = worstOf(findings);
  const count = (of: Finding['health']) => findings.filter((finding) => finding.health === of).length;
  const ordered = [...findings].sort((a, b) => ORDER.indexOf(a.health) - ORDER.indexOf(b.health));
  const tone = { ok: '', warn: ' warn', fail: ' bad' }[health];
  const rows = ordered
    .filter((finding) => finding.health === 'ok')
    .map(({ check, subject, message }) => [check, subject, message]);
  return html`<p class="notice${tone}" role="status"><strong>${SUMMARIES[health]}</strong> ${count('fail')} failed, ${count('warn')} with warnings, ${count('ok')} OK; checked ${time(until)} in ${Math.max(1, Math.round((until - since) / SECOND_MS))} s.</p>
${ordered.filter((finding) => finding.health !== 'ok').map(findingCard)}
${rows.length > 0 && html`<h2>Passed</h2>${table({ caption: 'Passed', heads: ['Check', 'Subject', 'Result'] }, rows)}`}`;
}

function findingCard({ health, check, subject, message, remedy }: Finding): Html {
  return html`<div class="card"><h2>${badge(health, TONES[health])} ${check}</h2><p>${subject} ${message}</p>${remedy && html`<p>${remedyOf(remedy)}</p>`}</div>`;
}

function remedyOf(remedy: Remedy): Html {
  if ('record' in remedy) {
    const { name, type, value } = remedy.record;
    return html`${remedy.beside ? 'Add' : 'Publish'}: ${copyable(name, 'the name')} ${type} ${copyable(value, 'the value')}`;
  }
  if ('command' in remedy) return html`Run: ${copyable(remedy.command, 'the command')}`;
  if ('setting' in remedy) return html`Set: ${copyable(remedy.setting, 'the setting')}`;
  return html`${remedy.advice}`;
}
