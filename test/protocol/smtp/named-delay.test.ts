// Texts as servers really write them, with and without a delay.
import t from 'tap';
import { findNamedDelay } from '../../../src/protocol/smtp/named-delay.ts';
import { ProcessorTime } from '../../support/patience.ts';

const named: [text: string, seconds: number][] = [
  ['Greylisted, please try again in 5 minutes', 300],
  [
    '<user@example.org>: Recipient address rejected: Greylisted for 300 seconds (see http://example.org/greylist-4.html)',
    300,
  ],
  ['Greylisting in action, please come back in 00:04:32', 272],
  ['Greylisted for 10 minutes', 600],
  ['greylisted: wait 120 s', 120],
  ['Graylisted, retry after 300 seconds', 300],
  ['please wait 60s', 60],
  ['You must wait 299 more seconds before sending', 299],
  ['Try again in 1 hour', 3600],
  ['Please try again in an hour.', 3600],
  ['retry in 300 s', 300],
  ['Resources temporarily unavailable. Please try again later (in 15 min)', 900],
  ['Too many connections, 192.0.2.7 has 20 open; try again in about 2 minutes', 120],
  ['Rate limit exceeded: 100 messages in 60 minutes. Please retry in 5 minutes', 300],
  ['Policy: try again after 4 minutes and 30 seconds', 270],
  ['Retry after 1h30m', 5400],
  ['Please try again in 5-10 minutes', 600],
  ['Please try again in 5 to 10 minutes', 600],
  ['Your IP is temporarily blocked for 2 hours', 7200],
  ['Message deferred for 1.5 hours', 5400],
  ['Please resend your message after 30 minutes', 1800],
  ['Service busy, come back later: 90 secs', 90],
  ['After 15 minutes please retry', 900],
  ['Please allow at least 10 minutes before retrying', 600],
  ['Try again in 3 days', 86_400],
  ['TRY AGAIN IN 5 MINUTES', 300],
  ['Connection rate limited, wait time is 45 seconds', 45],
];

const unnamed = [
  '',
  'Try again later, closing connection.',
  'Please come back later',
  'Greylisted, see http://example.org/help/300s.html',
  'Too many messages: 300 messages in 60 minutes',
  'You have sent 300 messages in 1 hour, try again later',
  'Try again later. The limit is 50 messages per 10 minutes',
  'Try again, your limit is 20 connections in 60 seconds',
  'Message size 300 m exceeds limit 20 m',
  'Mailbox full: quota 300 MB, wait for the user to clean up',
  'wait 500 ms',
  'Retry after 300 messages',
  'try again in 0 seconds',
  'Unable to deliver in 840 minutes',
  'Timeout exceeded after 300 seconds',
  'We waited 300 seconds for your command',
  'Account unused for 30 days',
  'Try again in a few minutes',
  'deferred: see RFC 5321 4.5.4.1',
  'Temporary failure 4.3.2 5 minutes',
];

for (const [text, seconds] of named) t.equal(findNamedDelay(text), seconds * 1000, text);
for (const text of unnamed) t.equal(findNamedDelay(text), null, text || '(empty)');

t.test('hostile text costs no time', async (t) => {
  const nasty = [
    'try in '.repeat(20_000),
    `wait ${'1 h '.repeat(20_000)}`,
    `retry${' '.repeat(100_000)}5`,
    '9'.repeat(100_000),
  ];
  const time = new ProcessorTime();
  for (const text of nasty) findNamedDelay(text);
  t.ok(time.usedMs < 400, `four texts in ${time.usedMs} ms of processor time`);
});
