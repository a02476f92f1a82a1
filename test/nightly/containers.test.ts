// The container image and both compose files, with a real Docker: built, the sandbox, the service, and two daemons on a
// PostgreSQL behind nginx. Here everything is made that needs a network; what needs none, and Docker itself, is in a
// network of its own (containers-inside.ts).
import fs from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { runInside } from '../support/clean-checkout.ts';
import { makeBase, newRoot, noRoot } from '../support/debian-root.ts';
import { DOCKER_PACKAGES } from '../support/docker.ts';
import { buildPackage } from '../support/installed-package.ts';
import { postgresMissing } from '../support/postgres-server.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const INSIDE = path.join(import.meta.dirname, 'containers-inside.ts');
/** A network, processes and mounts of their own, which end with the first process. */
const APART = ['--mount', '--propagation', 'private', '--net', '--pid', '--fork', '--kill-child', '--mount-proc'];
const MOST_MS = 30 * 60_000;

t.test('containers', { skip: noRoot() || postgresMissing(), timeout: MOST_MS }, async (t) => {
  const { folder } = await newRoot(t, 'trixie', DOCKER_PACKAGES);
  const dockerfile = fs.readFileSync(path.join(ROOT, 'packaging/Dockerfile'), 'utf8');
  const [, suite = ''] = /^FROM docker\.io\/library\/debian:(\w+)-slim$/m.exec(dockerfile) ?? [];
  // That Debian's published images have the same packages is not shown.
  await makeBase(t, suite, path.join(folder, 'base.tar'));
  await makeBase(t, suite, path.join(folder, 'nginx.tar'), ['nginx']);
  buildPackage(folder, '1.2.3');
  for (const name of ['packaging', '.dockerignore']) {
    fs.cpSync(path.join(ROOT, name), path.join(folder, name), { recursive: true });
  }
  // Without what the test runner loads into its files.
  const program = [process.execPath, INSIDE];
  const env = { ...(process.env as Record<string, string>), NODE_OPTIONS: '', CHECKOUT: folder, SUITE: suite };
  const { code, output } = await runInside({ inside: () => ['unshare', ...APART, ...program], env, folder }, '');
  for (const name of ['the sandbox', 'the service', 'two daemons on one PostgreSQL, and a balancer']) {
    t.match(output, new RegExp(`^ok \\d - ${name}`, 'm'), name);
  }
  if (code !== 0) t.fail(output);
});
