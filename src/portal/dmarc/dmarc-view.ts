// What receivers report about a domain's mail (DMARC), as pages show it: sums, days, and sources with what
// they mean. Names of receivers and all figures come from the reports, which anybody can send.
import { type Html, type HtmlPart, html } from '../../http/html.ts';
import {
  type DmarcDomainReport,
  type DmarcDomainSums,
  type DmarcPeriod,
  type DmarcReporterSum,
  type DmarcSourceSums,
  type DmarcSums,
  OTHER_SOURCES,
} from '../../store/dmarc.ts';
import { badge, emptyState, select, type Tone, table } from '../elements.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const SPANS_DAYS = [7, 30, 90] as const;
export const MOST_SOURCES = 100;

export interface ChosenPeriod extends DmarcPeriod {
  days: number;
}

/** The days before today, and today. */
export function chosenPeriod(query: URLSearchParams, now: number): ChosenPeriod {
  const wished = Number(query.get('days'));
  const days = SPANS_DAYS.find((span) => span === wished) ?? 30;
  return { days, firstDay: dayOf(now - (days - 1) * DAY_MS), lastDay: dayOf(now) };
}

function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

export function periodForm(action: string, { days }: ChosenPeriod): Html {
  const choices = SPANS_DAYS.map((span) => ({ value: String(span), label: `${span} days` }));
  return html`<form class="filters" method="get" action="${action}" data-submit-on-change>${select({ name: 'days', label: 'Last' }, choices, String(days))}<button>Show</button></form>`;
}

export interface Judgement {
  word: string;
  tone: Tone;
  meaning: string;
}

/** What the sums of one source say, and what to do about it. */
function judgeSource(sums: DmarcSums): Judgement {
  const { messages, passed, dkimPassed, spfPassed } = sums;
  if (passed === messages) {
    if (dkimPassed === messages) return { word: 'passes', tone: 'good', meaning: 'Signed with the domain’s key.' };
    return {
      word: 'passes',
      tone: 'good',
      meaning: 'Passes by its return path (SPF) only, so forwarded mail would fail. Sign it with DKIM as well.',
    };
  }
  if (passed === 0) {
    return {
      word: 'fails',
      tone: 'bad',
      meaning:
        'Neither the signature (DKIM) nor the return path (SPF) is the domain’s: the sender is forged, or it is one of your services that isn’t set up yet.',
    };
  }
  const forwarded = dkimPassed > spfPassed;
  return {
    word: 'mixed',
    tone: 'warn',
    meaning: forwarded
      ? 'Most likely a forwarder or a mailing list: it changes some of the mail in transit, which breaks the signature.'
      : 'Some of the mail isn’t signed with the domain’s key: look for a second program that sends from this address.',
  };
}

function percent(part: number, whole: number): string {
  if (whole === 0) return '–';
  const share = (part / whole) * 100;
  // Not 100 % while anything is missing, not 0 % while anything is there.
  if (share > 99.9 && part < whole) return '>\u00a099.9\u00a0%';
  if (share < 0.1 && part > 0) return '<\u00a00.1\u00a0%';
  return `${share.toFixed(share === 100 || share === 0 ? 0 : 1)}\u00a0%`;
}

export function domainsTable(domains: readonly DmarcDomainSums[], pathOf: (domain: string) => string): Html {
  const rows = domains.map((sums) => [
    html`<a href="${pathOf(sums.domain)}">${sums.domain}</a>`,
    count(sums.messages),
    html`${percent(sums.passed, sums.messages)} ${sums.passed < sums.messages && html`<span class="quiet">(${count(sums.messages - sums.passed)} failed)</span>`}`,
    count(sums.quarantined + sums.rejected),
    count(sums.unprovenMessages),
    sums.lastDay,
  ]);
  return table(
    {
      caption: 'Domains',
      heads: ['Domain', 'Messages', 'Passed', 'Quarantined or rejected', 'Unverified reports', 'Last report'],
    },
    rows,
  );
}

export function domainReport(report: DmarcDomainReport, period: ChosenPeriod): Html {
  const { total, unproven } = report;
  if (total.messages === 0 && unproven.total.messages === 0) {
    return emptyState(
      `No reports for the last ${period.days} days`,
      'Receivers send them once a day to the address in the DMARC record. The domain page shows whether the record is there.',
    );
  }
  return html`${total.messages > 0 && provenReport(report, period)}${unproven.total.messages > 0 && unprovenReport(report)}`;
}

function provenReport({ total, sources, sourceCount, days, reporters }: DmarcDomainReport, period: ChosenPeriod): Html {
  const more =
    sourceCount > sources.length &&
    html`<p class="quiet">Showing the first ${sources.length} of ${sourceCount} sources, those with the most failures on top.</p>`;
  return html`<div class="cards">
${card('Messages reported', count(total.messages), `${period.firstDay} to ${period.lastDay}`)}
${card('Passed DMARC', percent(total.passed, total.messages), `${count(total.messages - total.passed)} failed`)}
${card('Signed (DKIM)', percent(total.dkimPassed, total.messages), `with the domain’s key; ${percent(total.spfPassed, total.messages)} by SPF`)}
${card('Quarantined or rejected', count(total.quarantined + total.rejected), `${count(total.quarantined)} quarantined, ${count(total.rejected)} rejected`)}
</div>
<h2>Sources</h2>
${table({ caption: 'Sources', heads: ['Address', 'Messages', 'Result', 'DKIM', 'SPF', 'What it means'] }, sources.map(sourceRow))}${more}
<h2>Days</h2>
${table({ caption: 'Days', heads: ['Day', 'Messages', 'Passed', 'Failed', 'Quarantined', 'Rejected'] }, [...days].reverse().map(dayRow))}
<h2>Reporters</h2>
${table({ caption: 'Reporters', heads: ['Receiver', 'Sent by', 'Messages'] }, reporters.map(reporterRow))}`;
}

/** Apart from everything else: somebody may want us to believe in failures, or in passes, that never were. */
function unprovenReport({ unproven: { total, reporters } }: DmarcDomainReport): Html {
  return html`<h2>Unverified reports</h2>
<p>Neither DKIM nor SPF proves who sent these reports, so anyone could have written them. They are not included in the
figures above: ${count(total.messages)} messages reported, ${count(total.messages - total.passed)} of them failed.</p>
${table({ caption: 'Unverified reports', heads: ['Name in the report', 'Sent by', 'Messages'] }, reporters.map(reporterRow))}`;
}

function reporterRow({ orgName, sender, messages }: DmarcReporterSum): HtmlPart[] {
  return [orgName, sender ?? 'unverified', count(messages)];
}

function card(name: string, figure: string, note: string): Html {
  return html`<div class="card"><p class="quiet">${name}</p><p class="big">${figure}</p><p class="hint">${note}</p></div>`;
}

function sourceRow(source: DmarcSourceSums): HtmlPart[] {
  const { word, tone, meaning } = judgeSource(source);
  const { sourceIp, messages, dkimPassed, spfPassed, firstDay, lastDay } = source;
  const seen = firstDay === lastDay ? lastDay : `${firstDay} to ${lastDay}`;
  return [
    html`<code class="whole">${sourceIp === OTHER_SOURCES ? 'other addresses' : sourceIp}</code><br><span class="quiet whole">${seen}</span>`,
    count(messages),
    badge(word, tone),
    percent(dkimPassed, messages),
    percent(spfPassed, messages),
    meaning,
  ];
}

function dayRow(day: DmarcDomainReport['days'][number]): HtmlPart[] {
  const { messages, passed, quarantined, rejected } = day;
  return [
    day.day,
    count(messages),
    percent(passed, messages),
    count(messages - passed),
    count(quarantined),
    count(rejected),
  ];
}

function count(number: number): string {
  return number.toLocaleString('en');
}
