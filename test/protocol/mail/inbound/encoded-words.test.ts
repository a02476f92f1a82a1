// Header texts with encoded words, as libraries write them, rightly or not.
import t from 'tap';
import { decodeTransfer, decodeWords } from '../../../../src/protocol/mail/inbound/encoded-words.ts';
import { ProcessorTime } from '../../../support/patience.ts';

t.test('encoded words', async (t) => {
  const cases: [written: string, read: string][] = [
    ['plain = text ?=', 'plain = text ?='],
    ['=?utf-8?Q?Gr=C3=B6=C3=9Fe?= 10', 'Größe 10'],
    ['a =?utf-8?B?w7Y=?= =?UTF-8?q?_b?= c', 'a ö b c'],
    ['=?utf-8?Q?a?==?utf-8?Q?b?=', 'ab'],
    ['=?utf-8?Q?a?= =?iso-8859-1?Q?=F6?=\t=?utf-8*de?Q?b?=', 'aöb'],
    ['=?utf-8?Q?=C3?= =?utf-8?Q?=B6?=', 'ö'],
    ['=?utf-8?B?8J+Y?= =?utf-8?B?gg==?=', '😂'],
    ['=?utf-8?B?8J+Y?=  =?UTF-8?Q?=82?=!', '😂!'],
    ['=?iso-2022-jp?B?GyRCJCIbKEI=?= =?iso-2022-jp?B?GyRCJCQbKEI=?=', 'あい'],
    ['=?utf-8?Q?=C3=B6?= =?utf-8?Q?=FF?= =?utf-8?Q?=C3=B6?=', 'öÿö'],
    ['=?nonsense?Q?=C3=B6?= =?nonsense?Q?=C3=B6?=', 'öö'],
    ['=?utf-8?Q?a?= b =?utf-8?Q?c?=', 'a b c'],
    ['=?utf-8?X?a?=', '=?utf-8?X?a?='],
    ['=?utf-8?Q?a b?=', '=?utf-8?Q?a b?='],
  ];
  for (const [written, read] of cases) t.equal(decodeWords(written), read, written);
  t.equal(decodeWords(Buffer.from('Größe =?utf-8?Q?=C3=B6?=').toString('latin1')), 'Größe ö', 'beside UTF-8');
});

t.test('quoted-printable, rightly written or not', async (t) => {
  const cases: [written: string, read: string][] = [
    ['a=3Db=3dc', 'a=b=c'],
    ['=C3=A9', '\xc3\xa9'],
    ['one =\r\ntwo=\nthree= \t\r\nfour', 'one twothreefour'],
    ['=4=\r\n1', 'A'],
    ['= =4 =G1 =\r=', '= =4 =G1 =\r='],
    [`a=${' '.repeat(80)}\nb=${' '.repeat(81)}\nc`, `ab=${' '.repeat(81)}\nc`],
    ['\xe9', '\xe9'],
    ['', ''],
  ];
  for (const [written, read] of cases) {
    t.equal(decodeTransfer(written, 'Quoted-Printable').toString('latin1'), read, JSON.stringify(written));
  }
});

t.test('a megabyte of escapes is decoded byte by byte', async (t) => {
  const escapes = '=41'.repeat(700_000);
  const costOf = (work: () => void) => {
    const time = new ProcessorTime();
    work();
    return time.usedMs;
  };
  const decode = () => costOf(() => decodeTransfer(escapes, 'quoted-printable'));
  const callForEach = () =>
    costOf(() =>
      escapes.replace(/=([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    );
  const [quick, slow] = [decode, callForEach].map((cost) => Math.min(cost(), cost(), cost())) as [number, number];
  t.ok(quick < slow / 3, `${quick} ms of processor time, where a function for each takes ${slow} ms`);
});
