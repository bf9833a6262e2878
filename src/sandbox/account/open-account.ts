import { randomBytes, randomUUID } from 'node:crypto';
import Decimal from 'decimal.js';
import { Database } from '../database';
import { openWallets } from '../wallets/ledger';
import { hashKey } from './authentication';

const KEY_BYTES = 24; // 192 random bits.

/** An account that somebody asks for. */
export interface NewAccount {
  name: string;
  /** US dollars in each of its wallets. */
  openingBalance: number;
  /** Where the events of its transactions go, and of those of its sub-accounts. Default: as the settings say. */
  eventsUrl?: string;
  /** The secret of their signature. Default: that of the settings. */
  eventsSecret?: string;
}

/**
 * Opens an account with a key and wallets of its own. The key is available only once, because only its SHA-256 is
 * stored.
 */
export async function openAccount(database: Database, { name, openingBalance, ...events }: NewAccount) {
  const id = randomUUID();
  const apiKey = `sandbox_${randomBytes(KEY_BYTES).toString('hex')}`;
  const opening = new Decimal(openingBalance).toDecimalPlaces(6);
  await database.$transaction(async (work) => {
    await work.account.create({ data: { id, name, apiKeyHash: hashKey(apiKey), ...events } });
    await openWallets(work, id, opening);
  });
  return { id, name, apiKey };
}
