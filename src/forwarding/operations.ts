/**
 * The operations of the interface, named by their lines in interface.md. The name is the decorator's argument, the value
 * in the record and the filter in the audit; a row says only what the name cannot.
 */
export const OPERATIONS = {
  'POST /send': { effect: 'write', items: 'credit', source: 'documented' },
  'POST /payouts/airtime': {
    ...{ effect: 'pay', items: 'airtimes', source: 'documented' },
    coverage: 'GET /info/airtime-countries',
  },
  'POST /payouts/mobile-money': {
    ...{ effect: 'pay', items: 'momos', source: 'documented' },
    coverage: 'GET /info/mobile-money-codes',
  },
  'POST /payouts/credit': { effect: 'pay', items: 'credits', source: 'documented' },
  // Money moves when the link is paid, which is not ours to do: it makes something, it pays nothing.
  'POST /payouts/initiate-credit': { effect: 'write', items: 'credits', source: 'documented' },
  'POST /account/transfer': { effect: 'pay', items: 'the body', source: 'documented' },
  'POST /account/delete-unpaid-transaction': { effect: 'write', items: 'the body', source: 'documented' },
  'GET /account/transaction': { effect: 'read', items: 'none', source: 'documented' },
  // The document's heading says GET, its examples POST: both are accepted, GET is forwarded.
  'GET /wallets/list': { effect: 'read', items: 'none', source: 'documented' },
  'GET /sub-account/list': { effect: 'read', items: 'none', source: 'documented' },
  'GET /info/assets': { effect: 'read', items: 'none', source: 'observed', cached: true },
  'GET /info/airtime-countries': { effect: 'read', items: 'none', source: 'observed', cached: true },
  'GET /info/mobile-money-codes': { effect: 'read', items: 'none', source: 'observed', cached: true },
  'GET /info/usd-amount-in-local': { effect: 'read', items: 'none', source: 'observed', cached: true },
  'GET /info/local-amount-in-usd': { effect: 'read', items: 'none', source: 'observed', cached: true },
} as const satisfies Record<string, OperationRow>;

export type Effect = 'pay' | 'write' | 'read';

interface OperationRow {
  /** `pay`: value leaves a wallet. `write`: something is made or unmade. `read`: nothing changes. Also the scope it needs. */
  effect: Effect;
  /** The body's field that lists the items; `the body` where it is one item itself. */
  items: 'credit' | 'credits' | 'airtimes' | 'momos' | 'the body' | 'none';
  /** Whether interface.md documents it, or only public clients of such a service showed it. */
  source: 'documented' | 'observed';
  /** The list that says where the upstream pays out like this. */
  coverage?: 'GET /info/airtime-countries' | 'GET /info/mobile-money-codes';
  /** Whether its answers are kept for a while and given to others: they are the same for all clients. */
  cached?: true;
}

export type OperationName = keyof typeof OPERATIONS;

/** Where the interface stands, with us and with the upstream (interface.md, "Endpoints"). */
export const INTERFACE_PREFIX = '/api/v0.1';

export function methodOf(operation: OperationName): 'GET' | 'POST' {
  return operation.startsWith('GET ') ? 'GET' : 'POST';
}

export function pathOf(operation: OperationName): string {
  return operation.slice(operation.indexOf(' ') + 1);
}
