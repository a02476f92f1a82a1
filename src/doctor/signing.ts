// How fast this machine signs mail, and whether an environment variable of the daemon would make it faster.
import { type SigningSpeed, WITHOUT_ADX } from '../observe/signing-speed.ts';
import type { DoctorKit } from './doctor-settings.ts';
import { type Finding, fine, warning } from './finding.ts';

/** Two measurements of the same thing differ by less, even on a busy machine. */
const MIN_GAIN = 1.1;

export async function checkSigning({ daemon, signing }: DoctorKit): Promise<Finding[]> {
  const answer = await daemon();
  const inUse = answer.kind === 'running' ? answer.facts.openssl_ia32cap : null;
  return [judgeSigning(await signing(inUse))];
}

export function judgeSigning({ perSecond, other }: SigningSpeed): Finding {
  const about = { check: 'signing', subject: 'this machine' };
  const said = `creates ${rate(perSecond)} signatures per second and core; a message needs two`;
  if (other === null || other.perSecond < perSecond * MIN_GAIN) return fine(about, said);
  const file = 'the environment of the daemon (/etc/postrider/environment)';
  if (other.way === null) {
    return warning(about, `${said}; ${rate(other.perSecond)} without OPENSSL_ia32cap`, {
      advice: `remove OPENSSL_ia32cap from ${file} and restart it`,
    });
  }
  return warning(about, `${said}; ${rate(other.perSecond)} with OpenSSL's other implementation`, {
    advice: `add OPENSSL_ia32cap=${WITHOUT_ADX} to ${file} and restart it`,
  });
}

function rate(perSecond: number): string {
  return Math.round(perSecond).toLocaleString('en');
}
