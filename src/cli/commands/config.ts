// config check | print: what the daemon would start with.
import type { LoadedConfig } from '../../config/load.ts';
import { done } from '../../operator/answer.ts';
import { dataFolderWarning } from '../../operator/data-folder.ts';
import { localCommand } from '../command.ts';

export const configCheck = localCommand({
  name: 'config check',
  summary: 'Reads the configuration file and environment as the daemon does and reports every error.',
  options: {},
  async run(context) {
    const loaded = await context.loadConfig();
    const { config, source } = loaded;
    const { configWarnings } = await import('../../config/rules.ts');
    const { shapingSettings } = await import('../../operator/shaping-settings.ts');
    shapingSettings(config); // throws what is wrong in delivery.provider_limits_file
    const found = [dataFolderWarning(config.data.dir), ...(await fileDoubts(loaded))];
    const warnings = [...configWarnings(config), ...found.filter((each) => each !== null)];
    return done({ ok: true, file: source.file, warnings });
  },
  render: ({ file, warnings }) =>
    [`${file ?? 'No file: the defaults and the environment'}: OK.`, ...warnings.map((each) => `Warning: ${each}`)].join(
      '\n',
    ),
});

/** Files that too many can read, or not the service. */
async function fileDoubts(loaded: LoadedConfig): Promise<(string | null)[]> {
  const { keyFileWarning, inspectKeyFile } = await import('../../operator/master-key.ts');
  const { configFileWarning, hiddenFromService, inspectConfigFile } = await import('../../operator/file-rights.ts');
  const key = inspectKeyFile(loaded.config);
  const file = inspectConfigFile(loaded);
  return [key && keyFileWarning(key), file && configFileWarning(file), ...hiddenFromService(loaded)];
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
