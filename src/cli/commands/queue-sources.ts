// queue sources: our own addresses that mail is sent from, and why one of them is not.
import type { SourceAddressState } from '../../delivery/route/source-addresses.ts';
import { done, failed } from '../../operator/answer.ts';
import { storeCommand } from '../command.ts';
import { renderTable } from '../table.ts';

export const queueSources = storeCommand({
  name: 'queue sources',
  summary: 'Lists the addresses mail is sent from (delivery.source_addresses), and why one is not used.',
  options: {},
  async run({ queue, config }) {
    const states = queue.sources?.();
    if (config.delivery.source_addresses.length > 0 && !states) {
      return failed(
        'only a running daemon knows which of its addresses it can use; start it and run the command again',
      );
    }
    return done({ sources: (states ?? []).map(showSource) });
  },
  render: ({ sources }) =>
    renderTable(
      sources,
      [
        { title: 'ADDRESS', value: (source) => source.address },
        { title: 'EHLO', value: (source) => source.ehlo_name },
        { title: 'WEIGHT', value: (source) => source.weight },
        { title: 'WARM', value: (source) => (source.warm ? 'yes' : 'no') },
        { title: 'USED', value: (source) => (source.usable ? 'yes' : 'no') },
        { title: 'REMARK', value: (source) => source.reason },
      ],
      'No addresses are configured: the system chooses one.',
    ),
});

function showSource({ ip, ehloName, weight, warm, usable, reason }: SourceAddressState) {
  return { address: ip, ehlo_name: ehloName, weight, warm, usable, reason };
}
