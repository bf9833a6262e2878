import { Scope } from './scopes';
import { StartError } from '../platform/config/config';

/**
 * The operations of the interface, named by their lines in interface.md. The name is the decorator's argument, the value
 * in the record and the filter in the audit; a row says only what the name cannot.
 */
export const OPERATIONS = {
  'POST /send': { effect: 'write', items: 'credit', source: 'documented', leaves: 'link' },
  'POST /payouts/airtime': {
    effect: 'pay',
    items: 'airtimes',
    source: 'documented',
    leaves: 'airtime',
    coverage: 'GET /info/airtime-countries',
  },
  'POST /payouts/mobile-money': {
    effect: 'pay',
    items: 'momos',
    source: 'documented',
    leaves: 'mobile money',
    coverage: 'GET /info/mobile-money-codes',
  },
  'POST /payouts/credit': { effect: 'pay', items: 'credits', source: 'documented', leaves: 'credit' },
  // Money moves when the link is paid, which is not ours to do: it makes something, it pays nothing.
  'POST /payouts/initiate-credit': { effect: 'write', items: 'credits', source: 'documented', leaves: 'link' },
  'POST /account/transfer': { effect: 'pay', items: 'the body', source: 'documented', leaves: 'transfer' },
  'POST /account/delete-unpaid-transaction': {
    effect: 'write',
    items: 'the body',
    source: 'documented',
    leaves: 'deletion',
    reach: 'account',
  },
  'GET /account/transaction': { effect: 'read', items: 'none', source: 'documented', reach: 'account' },
  // The document's heading says GET, its examples POST: both are accepted, GET is forwarded.
  'GET /wallets/list': { effect: 'read', items: 'none', source: 'documented', reach: 'account' },
  'GET /sub-account/list': { effect: 'read', items: 'none', source: 'documented', reach: 'account' },

  // interface.md lists these by name only; their lines are what public clients showed (upstream-observed.md).
  'POST /account/transactions': { effect: 'read', items: 'none', source: 'observed', reach: 'account' },
  'POST /account/issue-id-transactions': {
    effect: 'read',
    items: 'none',
    source: 'observed',
    reach: 'account',
    input: 'query',
  },
  'GET /info/assets': { effect: 'read', items: 'none', source: 'observed', cached: true },
  'GET /info/airtime-countries': { effect: 'read', items: 'none', source: 'observed', cached: true },
  'GET /info/mobile-money-codes': { effect: 'read', items: 'none', source: 'observed', cached: true },
  'GET /info/usd-amount-in-local': { effect: 'read', items: 'none', source: 'observed', cached: true },
  'GET /info/local-amount-in-usd': { effect: 'read', items: 'none', source: 'observed', cached: true },
  // Money is asked of somebody, in the currency of the country: none of ours is paid.
  'POST /collections/mobile-money/collect': {
    effect: 'write',
    items: 'the body',
    source: 'observed',
    pays: 'nobody',
    leaves: 'collection',
  },
  'POST /collections/mobile-money/initiate': {
    effect: 'write',
    items: 'the body',
    source: 'observed',
    pays: 'nobody',
    leaves: 'collection',
  },
  'POST /collections/mobile-money/verify': { effect: 'write', items: 'none', source: 'observed', leaves: 'nothing' },
  // The body names a transaction and no amount: redeeming hands the value of that transaction to a phone number.
  'POST /redeem/airtime': {
    effect: 'write',
    items: 'the body',
    source: 'observed',
    reach: 'account',
    moves: 'the named transaction',
    leaves: 'redemption',
    coverage: 'GET /info/airtime-countries',
  },
  'POST /sub-account/create': {
    effect: 'write',
    items: 'the body',
    source: 'observed',
    pays: 'nobody',
    leaves: 'nothing',
  },
  'GET /sub-account/get': { effect: 'read', items: 'none', source: 'observed', reach: 'account' },
  'POST /wallets/lookup': { effect: 'read', items: 'none', source: 'observed', reach: 'account' },
  'POST /wallets/transfer': { effect: 'pay', items: 'the body', source: 'observed', leaves: 'transfer' },
} as const satisfies Record<string, OperationRow>;

export type Effect = 'pay' | 'write' | 'read';

/** The transactions that calls make, by what the upstream's listing shows of them. */
export type MadeKind = 'airtime' | 'mobile money' | 'credit' | 'link' | 'transfer' | 'collection';

/**
 * What a call leaves at the upstream, by which it is recognised if its answer is lost: transactions of a kind, or a change of
 * one that is there already. `nothing`: a person always has to find out what became of it. No money may be at stake then: an
 * error of the upstream with status 500 is believed, as nothing could ever bear it out.
 */
export type Leaves = MadeKind | 'deletion' | 'redemption' | 'nothing';

/**
 * `pay`: value leaves a wallet. `write`: something is made or unmade. `read`: nothing changes. Also a scope it needs. All but
 * reads may be in doubt, and must say what they leave.
 */
export type OperationRow = Row & ({ effect: 'read'; leaves?: never } | { effect: 'pay' | 'write'; leaves: Leaves });

interface Row {
  /** The body's field that lists the items; `the body` where it is one item itself. */
  items: 'credit' | 'credits' | 'airtimes' | 'momos' | 'the body' | 'none';
  /** Whether interface.md documents it, or only public clients of such a service showed it. */
  source: 'documented' | 'observed';
  /** The list that says where the upstream pays out like this. */
  coverage?: 'GET /info/airtime-countries' | 'GET /info/mobile-money-codes';
  /** Whether its answers are kept for a while and given to others: they are the same for all clients. */
  cached?: true;
  /** Where a POST's input travels, if not in its body. */
  input?: 'query';
  /**
   * `account`: the operation can touch or show transactions and wallets of anybody who uses the upstream account. It needs
   * the scope `account` beside the scope of its effect. The upstream knows no owners, and the proxy keeps none yet.
   */
  reach?: 'account';
  /** A write that moves value: that of the transaction that its body names. It counts like a payment of that amount. */
  moves?: 'the named transaction';
  /** Given where the people that an item names are on record, but none of them is paid and its amount is not ours. */
  pays?: 'nobody';
}

export type OperationName = keyof typeof OPERATIONS;

/** The names of all operations, in the order of the table. */
export const OPERATION_NAMES = Object.keys(OPERATIONS) as OperationName[];

/**
 * Reads the name of an operation from a record.
 * @throws Error if no operation has this name.
 */
export function operationNamed(text: string): OperationName {
  const name = OPERATION_NAMES.find((operation) => operation === text);
  if (name === undefined) throw new Error(`${text} is not an operation of the interface`);
  return name;
}

/** All that the table says of an operation. */
export function rowOf(operation: OperationName): OperationRow {
  return OPERATIONS[operation];
}

/** The scopes that a key needs for an operation: all of them. */
export function scopesOf(operation: OperationName): Scope[] {
  const { effect, reach } = rowOf(operation);
  return reach === 'account' ? [effect, 'account'] : [effect];
}

/** Whether an operation moves value, so that it counts against caps, money limits and approval thresholds. */
export function movesValue(operation: OperationName): boolean {
  const { effect, moves } = rowOf(operation);
  return effect === 'pay' || moves !== undefined;
}

/** @throws StartError for a deadline that would hold for nothing. */
export function checkDeadlines(upstreamTimeouts: ReadonlyMap<string, number>): void {
  const unknown = [...upstreamTimeouts.keys()].find((name) => !Object.hasOwn(OPERATIONS, name));
  if (unknown === undefined) return;
  throw new StartError(`UPSTREAM_TIMEOUTS names ${unknown}, which is no operation; README.md lists them`);
}

/** Where the interface stands, with us and with the upstream (interface.md, "Endpoints"). */
export const INTERFACE_PREFIX = '/api/v0.1';

/** Where each operation that pays or makes something can be tried: it says what would happen, and nothing does. */
export const PREVIEW_PREFIX = '/v1/preview';

export function methodOf(operation: OperationName): 'GET' | 'POST' {
  return operation.startsWith('GET ') ? 'GET' : 'POST';
}

export function pathOf(operation: OperationName): string {
  return operation.slice(operation.indexOf(' ') + 1);
}
