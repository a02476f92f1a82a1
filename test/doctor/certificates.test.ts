// What clients see of our certificates, and whether they trust it, by real handshakes.
import fs from 'node:fs';
import t from 'tap';
import { DAY_MS } from '../../src/base/clock.ts';
import { checkCertificates } from '../../src/doctor/certificates.ts';
import type { DoctorKit } from '../../src/doctor/doctor-settings.ts';
import { FIRST_PAIR } from '../http/test-only-certificates.ts';
import { createTestAuthority } from '../support/test-authority.ts';
import { testFolder } from '../support/test-folder.ts';
import { startWorld } from './doctor-world.ts';

t.test('the certificate of submission by SMTP, where it has its own', async (t) => {
  const { kit } = await startWorld(t);
  const { cert: trusted } = FIRST_PAIR; // its own root
  const folder = testFolder(t, { 'a.crt': FIRST_PAIR.cert, 'a.key': FIRST_PAIR.key });
  const pair = { certFile: `${folder}/a.crt`, keyFile: `${folder}/a.key` };
  const check = async (change: Partial<DoctorKit['settings']>, ca?: string) => {
    const findings = await checkCertificates({ ...kit, ca, settings: { ...kit.settings, ...change } });
    return findings.filter(({ check }) => check !== 'HTTP certificate').map(({ check, message }) => [check, message]);
  };
  t.match(await check({}), [['SMTP certificate', /without TLS/]]);
  const own = { isSubmissionOn: true, submissionTls: pair };
  t.match(
    await check(own, trusted),
    [
      ['SMTP certificate', /without TLS/],
      ['submission certificate', /, but not for mail\.service\.test$/],
    ],
    'another name',
  );
  const named = { ehloName: FIRST_PAIR.name, smtpTls: pair };
  t.match(await check({ ...named, ...own }, trusted), [
    ['SMTP certificate', /^is valid until \S+$/],
    ['submission certificate', /^is valid until \S+$/],
  ]);
  const distrusted = /^is valid until \S+; clients reject it: it is self-signed$/;
  t.match(await check({ ...named, ...own }), [
    ['SMTP certificate', /^is valid until \S+$/],
    ['submission certificate', distrusted],
  ]);
  t.match(await check({ ...named, isSubmissionOn: true }), [['SMTP certificate', distrusted]], 'shared');
  t.match(await check(named), [['SMTP certificate', /^is valid until \S+$/]], 'mail servers do not verify it');
});

t.test('certificate files for HTTP: their chain, and the host of links', async (t) => {
  const { kit } = await startWorld(t);
  const authority = createTestAuthority();
  t.teardown(() => authority.close());
  const { cert, key, intermediate } = authority.issueIndirectly('api.service.test');
  const folder = testFolder(t, { 'leaf.pem': cert, 'full.pem': cert + intermediate, key });
  const check = async (file: string, change: Partial<DoctorKit['settings']> = {}, ca = authority.ca) => {
    const httpTls = { certFile: `${folder}/${file}`, keyFile: `${folder}/key` };
    const [baseUrl, linksUrl] = ['https://api.service.test', 'https://api.service.test'];
    const settings = { ...kit.settings, httpTls, baseUrl, linksUrl, ...change };
    // Two days are a short life: other warnings come first.
    const [finding] = await checkCertificates({ ...kit, ca, settings });
    return finding;
  };
  t.match(await check('full.pem'), { health: 'warn', message: /^expires at \S+$/ });
  t.match(await check('leaf.pem'), {
    health: 'warn',
    message: /^expires at \S+; clients reject it: its issuer is missing: an intermediate certificate, or/,
    remedy: { advice: /fullchain\.pem/ },
  });
  t.match(await check('full.pem', {}, FIRST_PAIR.cert), { health: 'warn', message: /; clients reject it: its issuer/ });

  fs.writeFileSync(`${folder}/full.pem`, FIRST_PAIR.cert);
  fs.writeFileSync(`${folder}/key`, FIRST_PAIR.key);
  const [baseUrl, linksUrl] = [`https://${FIRST_PAIR.name}`, 'https://links.service.test'];
  const ofFirst = (urls: { baseUrl: string; linksUrl: string }) => check('full.pem', urls, FIRST_PAIR.cert);
  t.match(await ofFirst({ baseUrl, linksUrl: baseUrl }), { health: 'ok' });
  t.match(await ofFirst({ baseUrl, linksUrl }), {
    health: 'warn',
    message: /, but not for links\.service\.test$/,
    remedy: { advice: `get a certificate for ${FIRST_PAIR.name} and links.service.test` },
  });
  t.match(await ofFirst({ baseUrl, linksUrl: linksUrl.replace('https', 'http') }), { health: 'ok' }, 'without TLS');
});

t.test('certificates of a directory that is there to try with', async (t) => {
  const { kit } = await startWorld(t);
  const certificates = async () => [
    {
      names: 'a.test',
      notAfter: Date.now() + 60 * DAY_MS,
      failures: 0,
      nextAttemptAt: Date.now() + DAY_MS,
      failure: null,
    },
  ];
  const check = async (isStaging: boolean, isSubmissionOn: boolean) => {
    const acme = { ...kit.settings.acme, http: ['a.test'], smtp: ['a.test'], isStaging };
    const settings = { ...kit.settings, acme, isSubmissionOn };
    const findings = await checkCertificates({ ...kit, certificates, settings });
    return findings.map(({ check, health }) => `${check} ${health}`);
  };
  t.strictSame(await check(false, true), ['HTTP certificate ok', 'SMTP certificate ok']);
  t.strictSame(await check(true, true), ['HTTP certificate warn', 'SMTP certificate warn']);
  t.strictSame(await check(true, false), ['HTTP certificate warn', 'SMTP certificate ok']);
});
