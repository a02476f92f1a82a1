// A program with a DNS server of the test's, which its configuration names.
import fs from 'node:fs';
import type { Test } from 'tap';
import { startDnsServer, type TestDnsServer } from '../support/dns-server.ts';
import { newProgram, type Program } from '../support/program.ts';

/** `settings`: the rest of the configuration file. */
export async function programWithDns(
  t: Test,
  settings: (dns: TestDnsServer) => string,
): Promise<{ dns: TestDnsServer; program: Program }> {
  const dns = await startDnsServer();
  const program = newProgram();
  t.teardown(() => {
    program.remove();
    return dns.close();
  });
  fs.appendFileSync(program.configFile, `[dns]\nservers = ["${dns.endpoint}"]\n${settings(dns)}`);
  return { dns, program };
}
