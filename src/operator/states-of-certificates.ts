// What stands in the store about the certificates that this configuration asks a directory for (tls.acme).
import type { Clock } from '../base/clock.ts';
import { type CertificateState, certificateStates } from '../certificates/certificate-states.ts';
import { acmeNames, directoryUrl } from '../config/acme-names.ts';
import type { Config } from '../config/keys.ts';
import type { StoreVerbs } from '../store/store.ts';

export async function statesOfCertificates(
  config: Config,
  { store, clock }: { store: StoreVerbs<{ certificates: 'listCertificates' }>; clock: Clock },
): Promise<CertificateState[]> {
  const wanted = { directory: directoryUrl(config.tls.acme_directory), listeners: acmeNames(config) };
  return certificateStates(wanted, await store.certificates.listCertificates(), clock.now());
}
