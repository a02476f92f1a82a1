// What a person types to find mail, and what it is taken for.
import t from 'tap';
import { readSearchText } from '../../src/operator/search-text.ts';

const ID = '019ac1f0-7a3e-7b1c-8d2e-0123456789ab';

t.test('each kind is recognised', async (t) => {
  const cases: [typed: string, search: object, meaning: string][] = [
    ['Joe@Example.com', { recipient: 'Joe@Example.com', recipientDomain: 'example.com' }, 'recipient'],
    [' jo@exämple.test ', { recipient: 'jo@exämple.test', recipientDomain: 'xn--exmple-cua.test' }, 'recipient'],
    ['Example.com', { recipientDomain: 'example.com' }, 'domain'],
    ['@example.com', { recipientDomain: 'example.com' }, 'domain'],
    [ID, { idPart: ID.replaceAll('-', '') }, 'id'],
    ['8d2e-0123', { idPart: '8d2e0123' }, 'id'],
    ['019AC1', { idPart: '019AC1' }, 'id'],
    ['decade', { textPart: 'decade' }, 'text'],
    ['4711', { textPart: '4711' }, 'text'],
    ['Your order', { textPart: 'Your order' }, 'text'],
    ['joe@', { textPart: 'joe@' }, 'text'],
    ['mail @ home', { textPart: 'mail @ home' }, 'text'],
    ['Price: 1.50', { textPart: 'Price: 1.50' }, 'text'],
    ['"example.com"', { textPart: 'example.com' }, 'text'],
    ['"019ac1f0"', { textPart: '019ac1f0' }, 'text'],
    ['"', { textPart: '"' }, 'text'],
  ];
  for (const [typed, search, meaning] of cases) t.match(readSearchText(typed), { search, meaning }, typed);
  for (const [typed, search] of cases) t.strictSame(readSearchText(typed).search, search, typed);
});

t.test('a whole address also has a name on suppression lists', async (t) => {
  t.equal(readSearchText('Joe@Example.com').suppressionKey, 'joe@example.com');
  t.equal(readSearchText('example.com').suppressionKey, null);
});
