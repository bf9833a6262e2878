import type { Arrivals } from '../arrivals/arrivals';
import type { showBehaviour } from '../behaviour/behaviour-patch';
import type { Events } from '../events/events';
import type { Faults, faultKinds, magicRecipients } from '../faults/faults';
import type { ledgerOf } from '../wallets/ledger';
import type { openAccount, addEntry } from './changes';
import type { listAccounts, hitimelineOf, trueTransactions, trueWallets } from './true-state';

/** Answers of the control interface, by path and method, before serialization. */
export interface ControlAnswers {
  '': { get: Record<string, string> };
  '/requests': { get: Answered<Arrivals['list']> };
  '/ledger': { get: Answered<typeof ledgerOf> };
  '/accounts': { get: Answered<typeof listAccounts>; post: Answered<typeof openAccount> };
  '/transactions': { get: Answered<typeof trueTransactions> };
  '/transactions/{id}': {
    get: NonNullable<Answered<typeof hitimelineOf>>;
    patch: NonNullable<Answered<typeof hitimelineOf>>;
  };
  '/wallets': { get: Answered<typeof trueWallets> };
  '/entries': { post: Answered<typeof addEntry> };
  '/faults': { get: Answered<Faults['list']>; post: Answered<Faults['add']> };
  '/faults/kinds': { get: Answered<typeof faultKinds> };
  '/magic-recipients': { get: Answered<typeof magicRecipients> };
  '/settings': { get: Answered<typeof showBehaviour>; patch: Answered<typeof showBehaviour> };
  '/events': { get: Answered<Events['list']> };
}

/** A rejected request to the control interface. */
export interface ControlFaults {
  error: string;
  faults: string[];
}

type Answered<Handler extends (...given: never[]) => unknown> = Awaited<ReturnType<Handler>>;
