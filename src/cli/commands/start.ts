// serve | sandbox: the two that run until they are stopped. They only start things; what they
// start says what there is to say.
import path from 'node:path';
import { ended } from '../../operator/answer.ts';
import { localCommand } from '../command.ts';
import { flag, text } from '../option.ts';

export const serve = localCommand({
  name: 'serve',
  summary: 'Runs the daemon until SIGTERM or SIGINT.',
  options: {},
  run: async (context) => ended(await context.starters.serve(await context.loadConfig())),
  render: () => null,
});

export const sandbox = localCommand({
  name: 'sandbox',
  summary: 'Runs everything on loopback with a ready tenant, API key and login. No mail leaves the machine.',
  options: {
    open: flag('listen at all addresses, not on loopback alone: for a container, which publishes the ports'),
    data: text('DIR', "the sandbox's own data folder (default: POSTRIDER_DATA_DIR, or data/sandbox in the checkout)"),
  },
  configSummary: "configuration file that overrides the sandbox's defaults, except data.dir; default: none",
  run: async ({ starters, configFile, json }, { data, open }) => {
    const dataDir = data === undefined ? null : path.resolve(data);
    return ended(await starters.sandbox({ dataDir, open: open ?? false, configFile, json }));
  },
  render: () => null,
});
