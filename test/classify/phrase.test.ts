// The language of phrases: what they find, what they do not, and which of them are refused.
import t from 'tap';
import { parsePhrase } from '../../src/classify/phrase.ts';
import { PhraseFinder } from '../../src/classify/phrase-finder.ts';
import { wordsOf } from '../../src/classify/words.ts';

function finds(phrase: string, text: string): boolean {
  const finder = new PhraseFinder();
  const number = finder.add(phrase);
  return finder.find(wordsOf(text)).includes(number);
}

const FOUND: [phrase: string, text: string][] = [
  ['user unknown', 'User unknown'],
  ['user unknown', '<user>: -- UNKNOWN'],
  ['block*', 'it is blocklisted'],
  ['the? user', 'user'],
  ['the? user', 'the user'],
  ['(no such|unknown) user', 'there is no such user'],
  ['(no such|unknown) user', 'unknown user'],
  ['(mailbox (is full|over quota)|quota)', 'this mailbox is full'],
  ['user .. found', 'user found'],
  ['user .. found', 'user one two three four five six found'],
  ['(big|small)? dog', 'dog'],
  ['нет такого', 'Нет такого пользователя'],
  ['does not exist', "user doesn't exist"],
  ['doesnt exist', 'user does not exist'],
  ['cannot be found', 'it can not be found'],
  ['recognised', 'not recognized'],
  ['用户 .. 不存在', '您的用户名不存在。'],
];

const NOT_FOUND: [phrase: string, text: string][] = [
  ['user unknown', 'superuser unknown'],
  ['user unknown', 'user unknowns'],
  ['user unknown', 'unknown user'],
  ['block*', 'unblocked'],
  ['用户不存在', '用户存在'],
  ['user .. found', 'user one two three four five six seven found'],
  ['(mailbox (is full|over quota)|quota)', 'mailbox full'],
];

t.test('what phrases find', async (t) => {
  for (const [phrase, text] of FOUND) t.equal(finds(phrase, text), true, `${phrase} in ${text}`);
  for (const [phrase, text] of NOT_FOUND) t.equal(finds(phrase, text), false, `${phrase} in ${text}`);
});

t.test('phrases that cannot be meant are refused', async (t) => {
  const wrong: [phrase: string, says: RegExp][] = [
    ['', /empty/],
    ['.. user', /begins or ends with/],
    ['user ..', /begins or ends with/],
    ['(user|)', /empty/],
    ['(user', /not closed/],
    ['user)', /outside of brackets/],
    ['user | account', /outside of brackets/],
    ['User', /"User" is no word/],
    ["doesn't", /is no word/],
    ['a.c', /is no word/],
    ['the?', /no word that must be there/],
    ['sp*', /no word that must be there/],
    ['a .. b .. c .. d .. e', /over 3 times/],
  ];
  for (const [phrase, says] of wrong) t.throws(() => parsePhrase(phrase), { message: says }, phrase);
});

t.test('the same phrase has one number', async (t) => {
  const finder = new PhraseFinder();
  t.equal(finder.add('user unknown'), finder.add('user unknown'));
  t.not(finder.add('user unknown'), finder.add('unknown user'));
  t.same(finder.find(' nothing of it '), []);
});
