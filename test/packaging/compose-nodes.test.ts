// compose-nodes.yaml: two daemons that differ in what must differ and are the same in the rest, and a balancer that nginx
// accepts. Docker runs them in test/nightly/containers.test.ts.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { ALL_KEYS } from '../../src/config/keys.ts';
import { nginxMissing } from '../support/nginx.ts';
import { testFolder } from '../support/test-folder.ts';

interface Service {
  hostname: string;
  environment: Record<string, string>;
  volumes: string[];
  ports: string[];
  cap_drop: string[];
  read_only: boolean;
}

interface Compose {
  services: Record<'mail-1' | 'mail-2', Service>;
  configs: { balancer: { content: string } };
  volumes: Record<string, unknown>;
}

const TEXT = fs.readFileSync(new URL('../../packaging/compose-nodes.yaml', import.meta.url), 'utf8');
const { services, configs, volumes } = parse(TEXT, { merge: true }) as Compose;

t.test('two daemons', async (t) => {
  const both = [services['mail-1'], services['mail-2']] as const;
  const variables = new Set(ALL_KEYS.map(({ variable }) => variable));
  for (const { environment, read_only, cap_drop } of both) {
    t.same(
      Object.keys(environment).filter((name) => !variables.has(name)),
      [],
      'all variables are keys of the configuration',
    );
    t.same({ read_only, cap_drop }, { read_only: true, cap_drop: ['ALL'] });
  }
  const [one, other] = both;
  const differs = (name: string) => one.environment[name] !== other.environment[name];
  t.same(Object.keys(one.environment).filter(differs), ['POSTRIDER_STORE_NODE', 'POSTRIDER_SERVICE_EHLO_NAME']);
  t.not(one.hostname, other.hostname);
  t.not(one.ports[0], other.ports[0], 'each has an address of its own');
  const data = both.map((each) => each.volumes.at(-1)!.split(':')[0]!);
  t.same(data, Object.keys(volumes), 'and a folder of its own');
});

t.test('the balancer', { skip: nginxMissing() }, async (t) => {
  const folder = testFolder(t);
  // As compose reads it, and with names that exist here.
  const content = configs.balancer.content.replaceAll('$$', '$').replaceAll(/mail-[12]:/g, '127.0.0.1:');
  const file = path.join(folder, 'nginx.conf');
  fs.writeFileSync(file, `pid ${folder}/pid;\nevents {}\nhttp {\n${content}\n}\n`);
  const { status, stderr } = spawnSync('nginx', ['-t', '-p', folder, '-e', 'stderr', '-c', file], { encoding: 'utf8' });
  t.equal(status, 0, stderr);
});
