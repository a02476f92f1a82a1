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
  ['user unknown', 'user <ann@rcpt.test> unknown'],
  ['host not found', 'Host relay.there.test not found'],
  ['listed at HOST', 'it is listed at bl.there.test'],
  ['listed at (http|https) HOST', 'it is listed at https://bl.there.test/lookup'],
  ['from ADDRESS', 'no mail from ann@acme.test'],
  ['sorry , no mailbox', 'Sorry, no mailbox here'],
  ['sorry ,? no mailbox', 'Sorry no mailbox here'],
  ['user .. found', 'user (ann) was <b>not</b> found.'],
  ['user unknown', '<ann@rcpt.test>...User unknown'],
  ['exceeds 1 5 mb', 'it exceeds 1.5 MB'],
  // A type of file, a part of a program and two sentences are no names.
  ['sendmail cf', 'syntax error in sendmail.cf'],
  ['trojan', 'found Trojan.Generic'],
  ['resolver rst', 'RESOLVER.RST.NotAuthorized'],
  ['unknown , to', 'User unknown.To send again'],
  // A colon or a dash joins a clause to its reason: words beside it stand side by side.
  ['rejected user unknown', 'Recipient address rejected: User unknown'],
  ['rejected user unknown', 'Recipient address rejected - user unknown'],
  ['address .. unknown', 'Recipient address rejected: unknown'],
  ['address .. unknown', 'Address: ann of sales is unknown'],
  ['sender .. domain .. not found', '<ann@acme.test>: Sender address rejected: Domain not found'],
  ['地址 .. 不存在', '地址：不存在'],
  // What is denied is something else than the word.
  ['mailbox .. full', 'The message could not be delivered: mailbox is full'],
  ['mailbox .. full', 'It cannot be delivered because the mailbox of ann is full'],
  ['mailbox .. full', 'Not delivered to the mailbox as it is full'],
  ['user .. not found', 'The user was not found'],
  ['currently', 'The user is not currently known'],
  ['mailbox .. temporarily', 'The mailbox is not temporarily open'],
];

const NOT_FOUND: [phrase: string, text: string][] = [
  ['user unknown', 'superuser unknown'],
  ['user unknown', 'user unknowns'],
  ['user unknown', 'unknown user'],
  ['block*', 'unblocked'],
  ['用户不存在', '用户存在'],
  ['user .. found', 'user one two three four five six seven found'],
  ['(mailbox (is full|over quota)|quota)', 'mailbox full'],
  // A clause ends with a comma or a full stop, and a phrase with it.
  ['user .. unknown', 'This user is known, your host is unknown'],
  ['user .. unknown', 'No such user. Your host is unknown'],
  ['user .. unknown', 'Is this the user? Unknown'],
  ['user unknown', 'Unknown user, unknown host'],
  ['用户 .. 不存在', '用户，不存在'],
  ['listed at HOST', 'it is listed at the bottom'],
  // So does the way over a colon or a dash: what follows has a subject of its own.
  ['address .. accept', 'Recipient address rejected: Domain does not accept mail'],
  ['address .. unknown', 'Address rejected - your domain is unknown'],
  ['address .. unknown', 'Address rejected \u2013 your domain is unknown'],
  ['user .. unknown', 'To the user: no way: host is unknown'],
  ['地址 .. 不存在', '地址错误：域名不存在'],
  // A negation right before the word.
  ['mailbox .. full', 'The mailbox is not full'],
  ['mailbox .. full', "The mailbox isn't full"],
  ['mailbox .. full', 'The mailbox is no longer full'],
  ['full', 'it is not full'],
  ['blocked', 'Your server has not been blocked'],
  ['spam*', 'The message was not classified as spam'],
  ['spam*', 'The message is not considered to be spam'],
  // Names are no words.
  ['full', 'full@rcpt.test'],
  ['relay', 'relay.there.test'],
  ['greylist*', 'see http://greylisting.there.test/'],
  ['unknown', 'mx.unknown.test[192.0.2.1]'],
  ['unknown', 'unknown-user.cf'],
  ['full', 'full.Com'],
  ['phishing', 'Phishing.mail.test'],
  ['acme', 'id=hello%40acme.test'],
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
