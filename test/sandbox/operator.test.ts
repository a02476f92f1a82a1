// What the operator of a sandbox is not troubled with: it has no names and addresses outside.
import t from 'tap';
import { PortalVisitor } from '../support/portal.ts';
import { newDataDir, spawnSandboxWith } from '../support/sandbox-process.ts';
import { until } from '../support/until.ts';

const DOCTOR = '/portal/operator/doctor';
/** It would ask the internet. */
const NOBODY = Object.fromEntries(
  ['MAIL_DOMAINS', 'KNOWN_DOMAINS', 'TIME_SOURCES', 'BLOCKLISTS'].map((key) => [`POSTRIDER_DOCTOR_${key}`, '']),
);

t.test('what the doctor finds is no task', async (t) => {
  const sandbox = spawnSandboxWith(t, newDataDir(t), NOBODY, '--json');
  const told = JSON.parse(await sandbox.ready());
  const visitor = new PortalVisitor(told.url);
  await visitor.signIn(told.operator_login);
  const before = await visitor.get(DOCTOR);
  t.match(before.text, 'This is a sandbox: it needs nothing of the outside.');
  await visitor.submit(before, DOCTOR);
  const after = await until('the doctor has looked', async () => {
    const page = await visitor.get(DOCTOR);
    return !page.text.includes('have been running since') && page;
  });
  t.match(after.text, 'Some checks failed.');
  t.notMatch((await visitor.get('/portal/operator')).text, /Doctor.*has no/);
  t.equal(await sandbox.interrupt(), 0, sandbox.complained);
});
