// The README's two commands as on a new server: a root of Debian 12 and one of Debian 13 with nodejs and npm of that
// release and nothing else, a clean copy of the checkout in it, `npm start` with the first mail, then `npm test`.
import t from 'tap';
import { failuresIn } from '../../scripts/test-report.ts';
import { checkProduction, copyCheckout, npmStart, runInside, sendFirstMail } from '../support/clean-checkout.ts';
import { newRoot, noRoot } from '../support/debian-root.ts';

/** Without ca-certificates npm of Debian could not check who the registry is. */
const PACKAGES = ['nodejs', 'npm', 'ca-certificates'];
const RELEASES = [
  { suite: 'bookworm', node: 'v18.' },
  { suite: 'trixie', node: 'v20.' },
];
const FREE_PORTS = { POSTRIDER_HTTP_PORT: '0', POSTRIDER_SMTP_PORT: '0' };

for (const { suite, node } of RELEASES) {
  t.test(`Debian ${suite}`, { skip: noRoot() }, async (t) => {
    const checkout = await newRoot(t, suite, PACKAGES);
    copyCheckout(checkout.folder);
    const versions = await runInside(checkout, 'node -v; npm -v');
    t.match(versions.output, new RegExp(`^${node}.*\n9\\.2\\.0\n$`), 'node and npm are those of the release');

    const sandbox = await npmStart(t, { ...checkout, env: { ...checkout.env, ...FREE_PORTS } });
    checkProduction(t, checkout.folder);
    await sendFirstMail(t, sandbox.printed, 'npm start');
    await sandbox.interrupt();

    const log = `${checkout.folder}.log`;
    t.comment(`npm test takes long; it can be followed in ${log}`);
    const tests = await runInside(checkout, 'npm test', log);
    const skipped = skips(tests.output).join('; ') || 'nothing';
    t.equal(tests.code, 0, `note: npm test in ${suite} skips: ${skipped}`, { failures: failuresIn(tests.output) });
  });
}

/** Lines of the report that say what was not tested, and why: `skipped: NAME: REASON`. */
function skips(output: string): string[] {
  return [...new Set([...output.matchAll(/^ {2}skipped: (.*)$/gm)].map(([, reason]) => reason!))];
}
