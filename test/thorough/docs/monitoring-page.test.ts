// docs/monitoring.md is followed as it stands, with a daemon; Prometheus takes the configuration that it shows.
import fs from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { noCurl, openPage, plainEnv, walkPage } from '../../docs/walk-page.ts';
import { ALERTS_FILE } from '../../observe/read-dashboard.ts';
import { findFreePort } from '../../support/free-port.ts';
import { prometheusMissing, promtool } from '../../support/prometheus.ts';
import { testFolder } from '../../support/test-folder.ts';
import { startWorld } from '../../support/world.ts';

const page = openPage('docs/monitoring.md');
const SHOWN_PORT = '9464';

t.test('docs/monitoring.md', { skip: noCurl }, async (t) => {
  const { postrider } = await startWorld(t);
  const port = String(await findFreePort());
  fs.appendFileSync(postrider.configFile, `\n${page.configurations.join('\n').replaceAll(SHOWN_PORT, port)}`);
  const daemon = await postrider.serve();
  const differences = {
    [`127.0.0.1:${SHOWN_PORT}`]: `127.0.0.1:${port}`,
    '127.0.0.1:8080': `127.0.0.1:${daemon.httpPort}`,
  };
  await walkPage(t, page, { cwd: postrider.folder, env: plainEnv(), differences });
});

t.test("Prometheus takes the page's configuration", { skip: prometheusMissing() }, async (t) => {
  const folder = testFolder(t);
  const file = path.join(folder, 'prometheus.yml');
  t.equal(page.foreign.length, 1);
  fs.writeFileSync(file, page.foreign[0]!.replace('/etc/prometheus/postrider-alerts.yaml', ALERTS_FILE));
  t.match(promtool(['check', 'config', file]), { status: 0, said: /1 rule files found/ });
});
