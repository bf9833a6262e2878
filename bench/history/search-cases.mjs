/** The searches. The values of `filters` take turns, and the first of them is also read at depth. */

const day = (n) => new Date(Date.now() - n * 86_400_000).toISOString();
const calls = (name, filters) => ({ name, path: 'calls', filters: [filters] });
const items = (name, filters) => ({ name: `items: ${name}`, path: 'items', filters: [filters] });
const words = (name, list) => list.map((word) => calls(`${name} ${word}`, { [name]: word }));

const OUTCOMES = [
  'succeeded',
  'rejected',
  'not_sent',
  'unknown',
  'confirmed',
  'not_executed',
  'in_progress',
  'refused',
];
const WAITING = ['pending_approval', 'declined', 'expired'];

/** Filters whose values match few payouts, with the position of each in a payout. */
const PICKS = {
  key: ({ key_id: id }) => id,
  actor: ({ actor }) => actor,
  'recipient phone': ({ item }) => item.recipient.phone,
  'recipient email': ({ item }) => item.recipient.email,
  'recipient_prefix of 8': ({ item }) => item.recipient.phone?.slice(0, 8),
  network_code: ({ item }) => item.network_code,
  reference: ({ item }) => item.reference,
  upstream_ref: ({ item }) => item.upstream?.upstream_ref,
  idempotency_key: ({ idempotency_key: key }) => key,
  request_id: ({ request_id: id }) => id,
};

/** Returns every filter by itself. */
export function singles(payouts) {
  const picked = Object.entries(PICKS).map(([name, pick]) => {
    const values = new Set(payouts.map(pick).filter((value) => value !== null && value !== undefined));
    return {
      name,
      path: 'calls',
      filters: [...values].slice(0, 10).map((value) => ({ [name.split(' ')[0]]: value })),
    };
  });
  return [
    calls('no filter', {}),
    calls('from', { from: day(120) }),
    calls('to', { to: day(120) }),
    calls('from, to: a day', { from: day(90), to: day(89) }),
    calls('client: busy', { client: 'shop' }),
    calls('client: seldom', { client: 'pilot' }),
    calls('client: none', { client: 'nobody' }),
    ...words('operation', ['POST /payouts/airtime', 'POST /account/delete-unpaid-transaction']),
    ...words('outcome', [...OUTCOMES, ...WAITING]),
    ...words('in_doubt', ['true', 'false']),
    ...words('approval', ['pending', 'approved', 'rejected', 'expired']),
    ...picked,
    calls('recipient: none', { recipient: 'nobody@example.com' }),
    ...words('recipient_prefix', ['+234', 'grace.1']),
    ...words('country', ['Nigeria', 'Lesotho']),
    calls('min_item_usd: much', { min_item_usd: '450' }),
    calls('max_item_usd: little', { max_item_usd: '0.02' }),
    calls('min_item_usd, max_item_usd', { min_item_usd: '99.99', max_item_usd: '100.5' }),
    calls('min_total_usd: very much', { min_total_usd: '1500' }),
    calls('min_total_usd, max_total_usd', { min_total_usd: '100', max_total_usd: '101' }),
    ...words('client_address', ['192.0.2.0', '192.0.2.39']),
    calls('sort amount', { sort: 'amount' }),
    items('no filter', {}),
    items('sort amount', { sort: 'amount' }),
  ];
}

/** Returns combined filters: all common, jointly rare, jointly empty, ranges, by amount, payouts. */
export function combinations() {
  const month = { from: day(60), to: day(30) };
  const momo = 'POST /payouts/mobile-money';
  return [
    calls('1: client + country, both common', { client: 'shop', country: 'Nigeria' }),
    calls('2: client + country, hardly any', { client: 'pilot', country: 'Lesotho' }),
    calls('3: operation + country, none', { operation: 'POST /account/transfer', country: 'Nigeria' }),
    calls('4: client + operation + outcome + month', {
      client: 'rewards',
      operation: momo,
      outcome: 'rejected',
      ...month,
    }),
    calls('5: rejected + large', { outcome: 'rejected', min_item_usd: '400' }),
    calls('6: actor + address', { actor: 'clerk-3', client_address: '192.0.2.5' }),
    calls('7: country by amount', { country: 'Ghana', sort: 'amount' }),
    calls('8: client + amounts + month, by amount', {
      client: 'games',
      min_total_usd: '50',
      max_total_usd: '60',
      sort: 'amount',
      ...month,
    }),
    calls('9: prefix + outcome + network', {
      recipient_prefix: '+25',
      outcome: 'rejected',
      network_code: 'MPS',
    }),
    calls('10: in doubt + client', { in_doubt: 'true', client: 'shop' }),
    calls('11: a day by amount', { from: day(90), to: day(89), sort: 'amount' }),
    items('12: country + network by amount', { country: 'Uganda', network_code: 'AIR', sort: 'amount' }),
    items('13: client + outcome + small', { client: 'payroll', outcome: 'not_sent', max_item_usd: '2' }),
    items('14: old + country + client', { to: day(150), country: 'Gambia', client: 'research' }),
  ];
}
