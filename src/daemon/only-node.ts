// The lock of the data folder makes this the only process of the store: what it takes is its own until it ends.
export const ONLY_NODE = { node: 'local', leaseUntil: null } as const;
