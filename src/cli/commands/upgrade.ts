// upgrade --check: what a start of this version would change, asked before the old daemon is stopped. Nothing upgrades
// itself: the package or the checkout is replaced, and the next start migrates.
import { done } from '../../operator/answer.ts';
import { EXIT_SOMETHING_WRONG, localCommand } from '../command.ts';
import { flag, required } from '../option.ts';

export const upgrade = localCommand({
  name: 'upgrade',
  summary: 'Says what a start of this version would change, and whether it can. The daemon may be running.',
  options: { check: required(flag('only look; the database is migrated at the next start of the daemon')) },
  async run(context) {
    const { checkUpgrade } = await import('../../operator/copies/upgrade-check.ts');
    const { possible, version, plan, findings } = await checkUpgrade(context.loadConfig);
    const migrations = (plan?.steps ?? []).map(({ version, name, what, remakesTable }) => {
      return { schema: version, name, what, writes_table_again: remakesTable };
    });
    const result = {
      possible,
      version,
      schema: plan && { database: plan.from, program: plan.to },
      migrations,
      room: plan && { needed_bytes: plan.neededBytes, free_bytes: plan.freeBytes },
      findings,
    };
    return { ...done(result), ...(!possible && { exit: EXIT_SOMETHING_WRONG }) };
  },
  render: ({ possible, version, migrations, findings }) =>
    [
      `Postrider ${version} ${possible ? 'can start' : "can't start"} with this configuration and database.`,
      ...findings.map(({ health, check, subject, message, remedy }) => {
        const advice = remedy !== null && 'advice' in remedy ? `; ${remedy.advice}` : '';
        return `${health.padEnd(4)}  ${check}: ${subject}: ${message}${advice}`;
      }),
      ...(migrations.length === 0 ? [] : ['', 'Migrations:']),
      ...migrations.map(({ name, what, writes_table_again: again }) => {
        return `- ${name.replace(/\.sql$/, '')}${again ? ' (writes a whole table again)' : ''}: ${what}`;
      }),
    ].join('\n'),
});
