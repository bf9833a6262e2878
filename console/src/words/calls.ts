import type { RecordItem } from '../api/generated/schema';

/** Next steps for the app, by payout. */
export const NEXT_STEP_WORDS: Record<NonNullable<RecordItem['next']>, string> = {
  await_approval: 'It is waiting for approval.',
  wait: 'It must not be sent again. Wait for its state to change.',
  none: 'Nothing needs to be done.',
  send_again: 'Its amount no longer counts toward the cap. A new request for it is safe.',
};

/** Progress of an attempt. */
export const PHASE_WORDS: Record<string, string> = {
  queued: 'The request was queued. Nothing was sent.',
  connecting: 'There was no connection. Nothing was sent.',
  waiting: 'The upstream may have received the request, but did not respond.',
  answering: 'The response was interrupted.',
  answered: 'The response was complete.',
};

/** Meanings of settlements. */
export const SETTLEMENT_WORDS: Partial<Record<string, string>> = {
  confirmed: 'Confirmed: the call was carried out, and its payouts count',
  not_executed: 'Not executed: the call was not and will not be carried out, and its reservation is released',
  failed: 'Failed: the upstream accepted it, but no one was paid, and its reservation is released',
  reversed: 'Reversed: it was paid and taken back, and its reservation is released',
  refunded: 'Refunded: it was paid and paid back, and its reservation is released',
};

/** Sources of automatic settlements. */
export const SETTLEMENT_SOURCE_WORDS: Partial<Record<string, string>> = {
  answer: "By the proxy, from the upstream's answer.",
  event: 'By the proxy, from an event of the upstream.',
  resolver: "By the proxy, from the upstream's listing.",
  poll: "By the proxy, from the upstream's listing.",
  reconciliation: 'By the proxy, from a reconciliation run.',
};
