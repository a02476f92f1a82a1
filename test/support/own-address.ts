// An address of this machine that is not loopback: as other machines see it.
import { networkInterfaces } from 'node:os';

export const OWN_ADDRESS = Object.values(networkInterfaces())
  .flat()
  .find((one) => one?.family === 'IPv4' && !one.internal)?.address;

/** For `skip`. */
export const noOwnAddress = OWN_ADDRESS === undefined && 'this machine has no address but loopback';
