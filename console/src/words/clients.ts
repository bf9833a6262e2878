import type { KeyDto } from '../api/generated/schema';

/** Explanations of scopes. A scope without one can still be selected. */
export const SCOPE_WORDS: Partial<Record<string, string>> = {
  pay: 'Sends value from a wallet: airtime, mobile money, credit, transfers.',
  write: 'Creates or deletes objects: payment links, collections, sub-accounts.',
  read: 'Reads from the upstream: balances, transactions, prices.',
  account: 'Accesses the whole upstream account: the transactions of all clients, wallets, and sub-accounts.',
  audit: 'Reads, verifies, and exports the history of all clients, with people masked.',
  'audit:pii': 'Sees people unmasked in the history. Each access is recorded.',
  reconcile: 'Runs reconciliations and decides findings.',
  approve: "Approves or rejects other clients' requests.",
  admin: 'Creates clients and keys, sets limits, and stops operations.',
};

/** Colors of the states of keys. */
export const KEY_COLORS: Record<KeyDto['state'], string> = {
  active: 'teal',
  unclaimed: 'blue',
  revoked: 'gray',
  expired: 'orange',
};

/** Returns the start and the end of a key. A key without a text is named by its purpose. */
export function keyWords({ hint, kind, subject }: KeyDto): string {
  if (kind === 'provider') return 'tokens of the provider';
  if (kind === 'page') return 'sessions on pages';
  return subject === null ? hint : `sign-in of ${subject}`;
}

/** Credentials that the key of a provider stands for, and how to accept them again. */
export const PROVIDER_KEY_WORDS: Partial<Record<KeyDto['kind'], { ends: string; again: string }>> = {
  provider: {
    ends: 'All access tokens',
    again: 'To accept tokens again, remove the provider of access tokens and set it again.',
  },
  page: {
    ends: 'All page sessions',
    again: 'To let people sign in again, remove the provider of page sessions and set it again.',
  },
};
