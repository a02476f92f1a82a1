// What strangers wrote in a report and becomes part of an event: on one line, whole characters, and times that an event can
// express.
import t from 'tap';
import { processMail } from '../../src/inbound/process-mail.ts';
import { readReportedDate } from '../../src/protocol/mail/inbound/reported-date.ts';
import { processKit, waitingMail } from './process-kit.ts';

const CONTROLS = '\0\x07\x1b[31m\x7f';

async function outcomeOf(type: string, fields: string) {
  const mail = `From: MAILER-DAEMON@mx.test\nSubject: Returned\nContent-Type: multipart/report; boundary=b\n\n--b\n\nText.\n--b\nContent-Type: message/${type}; charset=utf-8\n\n${fields}\n--b\nContent-Type: message/rfc822\n\nFrom: a@b.test\nSubject: x\n\nHello\n--b--\n`;
  const outcome = await processMail(waitingMail(mail), processKit({}), true);
  if (outcome.kind !== 'done' || !outcome.update.action || !('event' in outcome.update.action)) throw new Error(type);
  return { data: outcome.update.action.event.data as Record<string, unknown>, verdict: outcome.update.verdict };
}

const dsn = (of: { diagnostic?: string; mta?: string; remote?: string; final?: string; action?: string }) =>
  outcomeOf(
    'global-delivery-status',
    `Reporting-MTA: dns; ${of.mta ?? 'mx.test'}\n\nFinal-Recipient: ${of.final ?? 'rfc822; ann@rcpt.test'}\nAction: ${of.action ?? 'failed'}\nStatus: 5.1.1\nRemote-MTA: dns; ${of.remote ?? 'mx.test'}\nDiagnostic-Code: smtp; 550 5.1.1 ${of.diagnostic ?? 'User unknown'}\n`,
  );
const arf = (fields: string) => outcomeOf('feedback-report', `${fields}\nVersion: 1\n`);

/** All texts in it. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return value === null || typeof value !== 'object' ? [] : Object.values(value).flatMap(textsOf);
}

t.test('no control characters and no half characters', async (t) => {
  for (const [name, { data, verdict }] of Object.entries({
    controls: await dsn({ diagnostic: `a${CONTROLS}b`, mta: `m${CONTROLS}x.test`, remote: `r${CONTROLS}x.test` }),
    'half a pair': await dsn({ diagnostic: `${'x'.repeat(989)}😀😀` }),
    'half a pair that was written': await dsn({ final: 'utf-8; x\\x{D800}y@z.test' }),
    'another address': await dsn({ final: `rfc822; x${CONTROLS}y@z.test` }),
    'a delay': await dsn({ action: 'delayed', diagnostic: `a${CONTROLS}b` }),
    complaint: await arf(
      `Feedback-Type: abuse\nUser-Agent: u${CONTROLS}${'x'.repeat(489)}😀😀\nReported-Domain: d${CONTROLS}.test`,
    ),
  })) {
    for (const text of textsOf([data, verdict])) {
      t.notMatch(text, /\p{Cc}/u, `${name}: ${JSON.stringify(text)}`);
      t.ok(text.isWellFormed(), `${name}: ${JSON.stringify(text)}`);
    }
  }
  t.match((await dsn({ diagnostic: `a${CONTROLS}b` })).data, { bounce: { diagnostic: '550 5.1.1 a [31m b' } });
  t.match((await arf(`Feedback-Type: abuse\nUser-Agent: a\tb`)).data, { complaint: { user_agent: 'a b' } });
});

t.test('the date of a complaint is one that an event can express, or none', async (t) => {
  for (const [date, expected] of [
    ['Fri, 20 Nov 2026 10:00:00 +0100', '2026-11-20T09:00:00.000Z'],
    ['Thu, 1 Jan 20260 00:00:00 GMT', null],
    ['-000001-01-01T00:00:00Z', null],
    ['Wed, 31 Dec 1969 23:59:59 GMT', null],
    ['yesterday', null],
  ] as const) {
    const { data } = await arf(`Feedback-Type: abuse\nArrival-Date: ${date}`);
    t.match(data, { complaint: { arrival_date: expected } }, date);
  }
});

t.test('a date without a zone is in UTC, wherever the machine is', async (t) => {
  const zone = process.env.TZ;
  t.teardown(() => {
    if (zone === undefined) delete process.env.TZ;
    else process.env.TZ = zone;
  });
  process.env.TZ = 'America/New_York';
  t.equal(new Date(2026, 10, 20, 10).toISOString(), '2026-11-20T15:00:00.000Z', 'the zone is in use');
  const TEN = '2026-11-20T10:00:00.000Z';
  for (const [date, expected] of [
    ['Fri, 20 Nov 2026 10:00:00', TEN],
    ['2026-11-20 10:00:00', TEN],
    ['2026-11-20T10:00:00', TEN],
    ['Fri Nov 20 10:00:00 2026', TEN],
    ['20 Nov 2026 10:00', TEN],
    ['2026-11-20', '2026-11-20T00:00:00.000Z'],
    ['11/20/2026 10:00:00 AM', TEN],
    ['Fri, 20 Nov 2026 05:00:00 AM -0500', TEN],
    ['2026-11-20T10:00:00Z', TEN],
    ['2026-11-20T11:00:00+01:00', TEN],
    ['Fri, 20 Nov 2026 11:00:00 +0100 (CET)', TEN],
    ['Fri, 20 Nov 2026 05:00:00 EST', TEN],
    ['Fri, 20 Nov 2026 10:00:00 GMT', TEN],
    ['Fri, 20 Nov 2026 10:00:00 +0000 GMT', TEN],
  ] as const) {
    t.equal(new Date(readReportedDate(date)!).toISOString(), expected, date);
  }
});
