// A throw-away certificate for STARTTLS at the capture server: a new key at every start, signed
// by itself (RFC 5280, in the DER of X.690). Node can read certificates and not make them; of
// the standard only what one certificate needs is here.
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { DAY_MS } from '../base/clock.ts';

export interface TlsPair {
  /** PEM. */
  key: string;
  /** PEM. */
  cert: string;
}

const LIFETIME_DAYS = 365;

const TAG = {
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectId: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  sequence: 0x30,
  set: 0x31,
  dnsName: 0x82,
  version: 0xa0,
  extensions: 0xa3,
} as const;

// The bodies of the object identifiers, as X.690 section 8.19 encodes them.
const COMMON_NAME = Buffer.from('550403', 'hex'); // 2.5.4.3
const SUBJECT_ALT_NAME = Buffer.from('551d11', 'hex'); // 2.5.29.17
const ECDSA_WITH_SHA256 = Buffer.from('2a8648ce3d040302', 'hex'); // 1.2.840.10045.4.3.2

export function makeSelfSigned(host: string, now: number): TlsPair {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = der(
    TAG.sequence,
    der(TAG.set, der(TAG.sequence, der(TAG.objectId, COMMON_NAME), der(TAG.utf8String, Buffer.from(host)))),
  );
  const algorithm = der(TAG.sequence, der(TAG.objectId, ECDSA_WITH_SHA256));
  const altNames = der(TAG.sequence, der(TAG.dnsName, Buffer.from(host)));
  const extension = der(TAG.sequence, der(TAG.objectId, SUBJECT_ALT_NAME), der(TAG.octetString, altNames));
  // RFC 5280 section 4.1: version 3 (counted from 0), serial, algorithm, issuer, validity, subject, key, extensions.
  const toBeSigned = der(
    TAG.sequence,
    der(TAG.version, der(TAG.integer, Buffer.from([2]))),
    der(TAG.integer, serialNumber()),
    algorithm,
    name,
    der(TAG.sequence, time(now - DAY_MS), time(now + LIFETIME_DAYS * DAY_MS)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(TAG.extensions, der(TAG.sequence, extension)),
  );
  const signature = sign('sha256', toBeSigned, privateKey);
  // The first octet of a bit string counts the unused bits of its last one.
  const certificate = der(
    TAG.sequence,
    toBeSigned,
    algorithm,
    der(TAG.bitString, Buffer.concat([Buffer.of(0), signature])),
  );
  const cert = `-----BEGIN CERTIFICATE-----\n${certificate.toString('base64').replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`;
  return { key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string, cert };
}

/** Positive (RFC 5280 section 4.1.2.2), in the fewest octets (X.690 section 8.3.2). */
function serialNumber(): Buffer {
  const octets = randomBytes(16);
  octets[0] = (octets[0]! & 0x3f) | 0x40;
  return octets;
}

/** RFC 5280 section 4.1.2.5: dates through the year 2049 have two digits for it. */
function time(ms: number): Buffer {
  const digits = new Date(ms).toISOString().slice(2, 19).replace(/[-:T]/g, '');
  return der(TAG.utcTime, Buffer.from(`${digits}Z`));
}

function der(tag: number, ...contents: Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  return Buffer.concat([Buffer.of(tag), lengthOctets(content.length), content]);
}

/** X.690 section 8.1.3: up to 127 in one octet, else the number of octets and then the length. */
function lengthOctets(length: number): Buffer {
  if (length < 0x80) return Buffer.of(length);
  if (length <= 0xff) return Buffer.of(0x81, length);
  return Buffer.of(0x82, length >> 8, length & 0xff);
}
