// Contract: when API keys were last used. Written in batches, some time after it happened.

export interface KeyUse {
  keyId: string;
  /** An earlier time than the one that is stored changes nothing. */
  at: number;
}

export interface KeyUseStore {
  /** Of all tenants together. Keys that do not exist are passed over. */
  noteKeyUses(uses: readonly KeyUse[]): Promise<void>;
  /** Of keys that were ever used. */
  lastKeyUses(tenantId: string): Promise<KeyUse[]>;
}
