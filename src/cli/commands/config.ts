// config check | print: what the daemon would start with.
import type { Config } from '../../config/keys.ts';

import { done } from '../../operator/answer.ts';
import { dataFolderWarning } from '../../operator/data-folder.ts';
import { localCommand } from '../command.ts';

export const configCheck = localCommand({
  name: 'config check',
  summary: 'Reads the configuration file and environment as the daemon does and reports every error.',
  options: {},
  async run(context) {
    const { config, source } = await context.loadConfig();
    const { configWarnings } = await import('../../config/rules.ts');
    const { shapingSettings } = await import('../../operator/shaping-settings.ts');
    shapingSettings(config); // throws what is wrong in delivery.provider_limits_file
    const found = [dataFolderWarning(config.data.dir), await keyFileDoubt(config)];
    const warnings = [...configWarnings(config), ...found.filter((each) => each !== null)];
    return done({ ok: true, file: source.file, warnings });
  },
  render: ({ file, warnings }) =>
    [`${file ?? 'No file: the defaults and the environment'}: OK.`, ...warnings.map((each) => `Warning: ${each}`)].join(
      '\n',
    ),
});

async function keyFileDoubt(config: Config): Promise<string | null> {
  const { keyFileWarning, inspectKeyFile } = await import('../../operator/master-key.ts');
  const facts = inspectKeyFile(config);
  return facts && keyFileWarning(facts);
}

export const configPrint = localCommand({
  name: 'config print',
  summary: 'Prints every key with its value and where the value comes from; secrets are hidden.',
  options: {},
  async run(context) {
    const loaded = await context.loadConfig();
    const { effectiveValues, renderEffective } = await import('../../config/print.ts');
    return done({ values: effectiveValues(loaded.config), text: renderEffective(loaded) });
  },
  render: ({ text }) => text.trimEnd(),
  toJson: ({ values }) => values,
});
