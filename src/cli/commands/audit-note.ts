// What commands that do not run where the writer is have done, written into the audit log afterwards; no command of its own.
import { describeError } from '../../base/errors.ts';
import type { Config } from '../../config/keys.ts';
import { done, failed } from '../../operator/answer.ts';
import type { NewAuditEntry } from '../../store/audit.ts';
import { type LocalContext, storeCommand } from '../command.ts';
import { oneOf, required, tenantName, verbatim } from '../option.ts';
import { recordAct } from '../record-act.ts';
import { runWhereTheWriterIs } from '../with-services.ts';

const ACTIONS = ['suppression.imported', 'platform.backed_up'] as const;

export const auditNote = storeCommand({
  name: 'audit note',
  summary: 'Records what a command did.',
  options: {
    tenant: tenantName('whose log'),
    action: required(oneOf('ACTION', ACTIONS, 'what was done')),
    data: required(verbatim('JSON', 'its details')),
  },
  async run(services, { tenant, action, data }) {
    await recordAct(services, tenant ?? null, action, JSON.parse(data) as NewAuditEntry['data']);
    return done({ noted: true });
  },
  render: () => null,
});

export interface Note {
  tenant?: string;
  action: (typeof ACTIONS)[number];
  data: NewAuditEntry['data'];
}

/** What was done stays done when it cannot be noted; whoever did it is told. */
export async function noteAct({ complain }: Pick<LocalContext, 'complain'>, config: Config, note: Note): Promise<void> {
  const answer = await runWhereTheWriterIs(
    auditNote,
    { action: note.action, data: JSON.stringify(note.data), ...(note.tenant && { tenant: note.tenant }) },
    { config, say: complain },
  ).catch((error: unknown) => failed(describeError(error)));
  if (answer.kind !== 'done' && answer.kind !== 'ended')
    complain(`the action was not recorded in the audit log: ${answer.message}`);
}
