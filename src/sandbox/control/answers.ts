import type { Arrivals } from '../arrivals/arrivals';
import type { showBehaviour } from '../behaviour/behaviour-patch';
import type { Events } from '../events/events';
import type { Faults, faultKinds, magicRecipients } from '../faults/faults';
import type { ledgerOf } from '../wallets/ledger';
import type { openAccount, addEntry } from './changes';
import type { listAccounts, transactionHistory, trueTransactions, trueWallets } from './true-state';

/** Answers of the control interface before serialization, by path and method. */
export interface ControlAnswers {
  '': { get: Record<string, string> };
  '/requests': { get: ControlAnswer<Arrivals['list']> };
  '/ledger': { get: ControlAnswer<typeof ledgerOf> };
  '/accounts': { get: ControlAnswer<typeof listAccounts>; post: ControlAnswer<typeof openAccount> };
  '/transactions': { get: ControlAnswer<typeof trueTransactions> };
  '/transactions/{id}': {
    get: NonNullable<ControlAnswer<typeof transactionHistory>>;
    patch: NonNullable<ControlAnswer<typeof transactionHistory>>;
  };
  '/wallets': { get: ControlAnswer<typeof trueWallets> };
  '/entries': { post: ControlAnswer<typeof addEntry> };
  '/faults': { get: ControlAnswer<Faults['list']>; post: ControlAnswer<Faults['add']> };
  '/faults/kinds': { get: ControlAnswer<typeof faultKinds> };
  '/magic-recipients': { get: ControlAnswer<typeof magicRecipients> };
  '/settings': { get: ControlAnswer<typeof showBehaviour>; patch: ControlAnswer<typeof showBehaviour> };
  '/events': { get: ControlAnswer<Events['list']> };
}

/** The body of a rejection by the control interface. */
export interface ControlErrorBody {
  error: string;
  faults: string[];
}

type ControlAnswer<Handler extends (...parameters: never[]) => unknown> = Awaited<ReturnType<Handler>>;
