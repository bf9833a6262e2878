import { leafHash as hexOf } from '../../../src/history/log/merkle';

/** Returns the hash of a leaf as bytes. */
export function leafHash(leaf: Buffer | string): Buffer {
  return Buffer.from(hexOf(leaf.toString()), 'hex');
}
