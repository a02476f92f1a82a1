// restore drill: proves a backup, and counts what is in it.
import path from 'node:path';
import { done } from '../../operator/answer.ts';
import { EXIT_SOMETHING_WRONG, localCommand } from '../command.ts';
import { positional, required, text } from '../option.ts';
import { renderFacts } from '../table.ts';

export const restoreDrill = localCommand({
  name: 'restore drill',
  summary: 'Proves a backup: restores it into a temporary folder, opens and counts everything, and sends nothing.',
  options: { file: required(positional(text('FILE', 'a backup'))) },
  async run(context, { file }) {
    const { drill } = await import('../../operator/copies/restore-drill.ts');
    const backup = path.resolve(file);
    const { census, ...proof } = await drill(backup, (await context.loadConfig()).config);
    const { messages, tenants, users, domains, webhookCalls: webhook_calls, inboundMails: inbound_mails } = census;
    const sound = proof.problems.length === 0;
    const result = { file: backup, sound, messages, tenants, users, domains, webhook_calls, inbound_mails, ...proof };
    return { ...done(result), ...(!sound && { exit: EXIT_SOMETHING_WRONG }) };
  },
  render: ({ file, sound, problems, messages, schema, secrets, contents, ...counts }) => {
    const states = Object.entries(messages).map(([state, count]) => `${count} ${state}`);
    const facts: [string, string | number][] = [
      ['schema', schema.backup === schema.program ? schema.backup : `${schema.backup}, migrated to ${schema.program}`],
      ['messages', states.join(', ') || 'none'],
      ['unfinished', `${counts.unfinished}; a restore holds them`],
      ['contents read', `${contents.read} of ${contents.read + contents.unreadable} tried`],
      ['tenants', counts.tenants],
      ['users', counts.users],
      ['verified domains', counts.domains],
      ['secrets opened', `${secrets.opened} of ${secrets.stored}`],
      ['webhook calls due', counts.webhook_calls],
      ['inbound mail unprocessed', counts.inbound_mails],
    ];
    const verdict = sound
      ? `${file} is sound: it can be restored, and the master key opens its secrets.`
      : `${file} is not complete:\n${problems.map((problem) => `- ${problem}`).join('\n')}`;
    return `${verdict}\n\n${renderFacts(facts)}`;
  },
});
