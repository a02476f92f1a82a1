// Encryption of secrets at rest: AES-256-GCM under a key derived from the master key. Each secret names the master key
// that sealed it, so that master keys can be rotated, and is bound to its row (`context`), so that a sealed value that
// is copied to another row does not open.
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import { Fault } from './errors.ts';

/** A secret as it is stored. */
export interface SealedSecret {
  masterKeyId: string;
  sealed: Buffer;
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
export const MASTER_KEY_BYTES = 32;

export class Vault {
  readonly #sealingKeyId: string;
  readonly #keys = new Map<string, Buffer>();

  /** The first master key seals; the others only open what they sealed earlier. */
  constructor(masterKeys: Buffer[]) {
    const first = masterKeys[0];
    if (!first) throw new Fault('no master key', { permanence: 'permanent' });
    for (const master of masterKeys) this.#keys.set(masterKeyId(master), deriveKey(master));
    this.#sealingKeyId = masterKeyId(first);
  }

  seal(plain: Buffer, context: string): SealedSecret {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.#key(this.#sealingKeyId), nonce);
    cipher.setAAD(Buffer.from(context));
    const body = Buffer.concat([cipher.update(plain), cipher.final()]);
    return { masterKeyId: this.#sealingKeyId, sealed: Buffer.concat([nonce, cipher.getAuthTag(), body]) };
  }

  open(secret: SealedSecret, context: string): Buffer {
    const key = this.#key(secret.masterKeyId);
    const { sealed } = secret;
    try {
      const nonce = sealed.subarray(0, NONCE_BYTES);
      const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(context));
      decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
    } catch (cause) {
      throw new Fault('a stored secret cannot be opened', { permanence: 'permanent', detail: context, cause });
    }
  }

  #key(id: string): Buffer {
    const key = this.#keys.get(id);
    if (!key) {
      throw new Fault(`the master key ${id} is not given, and a stored secret needs it`, { permanence: 'permanent' });
    }
    return key;
  }
}

/** A name for the key that reveals nothing about it. */
export function masterKeyId(master: Buffer): string {
  return createHash('sha256').update('postrider master key id').update(master).digest('hex').slice(0, 8);
}

function deriveKey(master: Buffer): Buffer {
  if (master.length !== MASTER_KEY_BYTES) {
    throw new Fault(`a master key has ${MASTER_KEY_BYTES} bytes`, { permanence: 'permanent' });
  }
  return Buffer.from(hkdfSync('sha256', master, '', 'postrider secrets at rest', 32));
}
