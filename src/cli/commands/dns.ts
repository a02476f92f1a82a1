// dns: every DNS record that the service and its domains need, as a table or a zone file, and whether DNS has them.
import { counted } from '../../base/text/counted.ts';
import type { DnsNeeds } from '../../domains/needed-records.ts';
import { done, failed } from '../../operator/answer.ts';
import { dataFolder, isSandboxFolder } from '../../operator/data-folder.ts';
import type { DnsAsk } from '../../operator/dns-needs.ts';
import { EXIT_SOMETHING_WRONG, localCommand } from '../command.ts';
import { checkedTable, neededTable, notesOf, shown, waitForAll } from '../dns-report.ts';
import { domainName, flag, ipAddresses } from '../option.ts';

export const dns = localCommand({
  name: 'dns',
  summary: 'Prints every DNS record that the service and its domains need, and checks them in DNS.',
  options: {
    service: flag("only the service's own records"),
    domain: domainName('only the records of this sending domain'),
    address: ipAddresses(
      'IP[,IP]',
      'the public addresses to send from; default: as configured, or those of this machine',
    ),
    zone: flag('print the lines of a zone file'),
    check: flag('look the records up at the name servers of their zones; exit with 1 unless all are right'),
    wait: flag('check again and again, until all are right'),
  },
  check({ service, domain, address, zone, wait }) {
    if (service && domain !== undefined) return '--service and --domain exclude each other';
    if (address !== undefined && domain !== undefined)
      return "--address is about the service's own records, which --domain leaves out";
    return zone && wait ? '--zone prints once: leave out --wait' : null;
  },
  async run(context, { service, domain, address, zone, check, wait }) {
    const scope: DnsAsk['scope'] = service
      ? { kind: 'service' }
      : domain === undefined
        ? { kind: 'all' }
        : { kind: 'domain', domain };
    const ask: DnsAsk = { scope, addresses: address ?? null };
    const { config } = await context.loadConfig();
    const folder = dataFolder(config);
    if (isSandboxFolder(folder)) {
      return failed(
        `${folder.dir} is a sandbox's, which has names and a DNS server of its own: postrider domain records shows the records of a domain`,
      );
    }
    const { dnsLookups, planDns } = await import('../../operator/dns-needs.ts');
    const lookups = dnsLookups(config);
    const plan = () => planDns(config, ask, lookups);
    const { neededRecords } = await import('../../domains/needed-records.ts');
    const { checkNeeded } = await import('../../domains/check-needed.ts');
    const look = (needs: DnsNeeds) => checkNeeded(needs, lookups);
    const first = await plan();
    const records = wait
      ? await waitForAll(context, { first, plan, look })
      : check
        ? await look(first.needs)
        : neededRecords(first.needs);
    const isRight = records.every((record) => !('state' in record) || record.state === 'right');
    const text = zone ? (await import('../../domains/zone-file.ts')).zoneFileOf(records) : null;
    const result = { records: records.map(shown), notes: notesOf(first), zone: text, waited: wait ?? false };
    return { ...done(result), ...(!isRight && { exit: EXIT_SOMETHING_WRONG }) };
  },
  render({ records, notes, zone, waited }) {
    if (zone !== null) return zone;
    if (waited) return `All ${counted(records.length, 'record')} are right.`;
    const table = records.some((record) => record.state !== null) ? checkedTable(records) : neededTable(records);
    return [table, ...notes.flatMap((note) => ['', note])].join('\n');
  },
  note: ({ zone, notes }) => (zone === null || notes.length === 0 ? null : notes.join('\n')),
  toJson: ({ records, notes }) => ({ records: records.map(({ keeper: _, ...record }) => record), notes }),
});
