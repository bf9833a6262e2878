import { inSection } from './variable';

/** The purpose of the variables of the reconciliation and of calls in doubt. */
export const RECONCILIATION_VARIABLES = inSection('reconciliation', {
  RECONCILIATION_SCHEDULE: {
    about: 'A cron expression in UTC, such as `15 2 * * *`. At each tick, one instance compares the day before.',
    unset: 'none',
  },
  RECONCILIATION_AMOUNT_TOLERANCE_USD: 'Differences in amount up to this are no findings.',
  RECONCILIATION_FEE_TOLERANCE_USD: 'Differences in fee up to this are no findings.',
  RECONCILIATION_BALANCE_TOLERANCE_USD: 'Differences in wallet balance up to this are no findings.',
  RECONCILIATION_FEE_PERCENT: 'The fee that the upstream is expected to take, in percent.',
  RECONCILIATION_TIME_TOLERANCE_SECONDS:
    'How long after a payment was sent a transaction without one of its identifiers can still match it.',
  RECONCILIATION_LATE_AFTER_SECONDS: 'Age after which a payment is `late`.',
  RECONCILIATION_LISTING_TIMEOUT_MS: 'Time for the one answer that lists all transactions.',
  WALLETS_EVERY_SECONDS:
    'How often a worker reads the balances of the wallets. `0` disables it. See [Monitor](../operate/monitor.md#wallets).',
  WALLET_LOW_BALANCE_USD: {
    about:
      'The balances below which wallets are low, by the type or ID of the wallet, such as `airtime=100,momo=50.5`. `kenya/airtime=20` is for one upstream account.',
    unset: 'none',
  },
  RESOLVER_EVERY_SECONDS:
    'How often the upstream is first asked about calls in doubt. `0` disables it. See [Calls in doubt](../reconciliation/calls-in-doubt.md).',
  FOLLOW_UP_EVERY_SECONDS:
    'How often the upstream is polled for the states of payouts after their answers. `0` disables it. See [Following payouts](../reconciliation/settlement.md#following-payouts).',
  FOLLOW_UP_DAYS: 'For how many days after their transactions were created payouts are followed.',
  RESOLVER_QUIET_SECONDS:
    'Time before a call in doubt can be settled as `not_executed`. See [decision 0014](../internals/decisions/0014-when-a-call-was-not-executed.md).',
  RESOLVER_REJECTED_QUIET_SECONDS:
    'The same for a call that the upstream answered with an error, and so has finished. The shorter of the two applies.',
  RESOLVER_PROBE_EMAIL: {
    about:
      'An email address of yours. If no other call shows that the listing of transactions is current, the resolver creates an unpaid link for this recipient, looks for it in the listing, and deletes it. See [Probes](../reconciliation/calls-in-doubt.md#probes).',
    unset: 'none, so that there are no probes; with the embedded sandbox `listing-probe@example.com`',
  },
  PAYOUT_WALLETS: {
    about:
      'The wallets that operations are paid from, by their type or ID, such as `POST /payouts/airtime=airtime,POST /payouts/mobile-money=momo`. An entry in another wallet then says nothing about a call in doubt.',
    unset: 'any wallet',
  },
});
