import { randomBytes, randomUUID } from 'node:crypto';
import Decimal from 'decimal.js';
import { Database } from '../database';
import { openWallets } from '../wallets/ledger';
import { hashKey } from './authentication';

const KEY_BYTES = 24; // 192 random bits.

/**
 * Opens an account with a key and wallets of its own. The key is available only once, because only its SHA-256 is
 * stored.
 */
export async function openAccount(database: Database, name: string, opening: Decimal) {
  const id = randomUUID();
  const apiKey = `sandbox_${randomBytes(KEY_BYTES).toString('hex')}`;
  await database.$transaction(async (work) => {
    await work.account.create({ data: { id, name, apiKeyHash: hashKey(apiKey) } });
    await openWallets(work, id, opening);
  });
  return { id, name, apiKey };
}
