import t from 'tap';
import { defaultSelector, domainNameProblem, selectorProblem } from '../../src/domains/domain-name.ts';

t.test('names that can be registered', async (t) => {
  for (const name of [
    'acme.test',
    'a.b.c.acme.test',
    'xn--bcher-kva.test',
    '1.acme.test',
    '3com.test',
    `${'a'.repeat(63)}.test`,
  ]) {
    t.equal(domainNameProblem(name, ['postrider.test']), null, name);
  }
  t.equal(domainNameProblem('mail.postrider.test', ['postrider.test']), null, 'only the very names are the service’s');
  t.match(domainNameProblem('postrider.test', ['postrider.test']), /this service/);
});

t.test('a selector fits into a DNS name together with its domain', async (t) => {
  const label = 'a'.repeat(63);
  const domain = `${label}.${label}.test`;
  t.equal(selectorProblem(label, domain), null);
  t.match(selectorProblem(`${label}.${label}`, domain), /too long/);
});

t.test('the default selector is the month in UTC', async (t) => {
  t.equal(defaultSelector(Date.parse('2026-11-20T19:00:00Z')), 'pr202611');
  t.equal(defaultSelector(Date.parse('2026-12-31T23:59:59.999Z')), 'pr202612');
  t.equal(defaultSelector(Date.parse('2027-01-01T00:30:00+01:00')), 'pr202612');
});
