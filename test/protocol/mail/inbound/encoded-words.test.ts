// Header texts with encoded words, as libraries write them, rightly or not.
import t from 'tap';
import { decodeWords } from '../../../../src/protocol/mail/inbound/encoded-words.ts';

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
