import { LimitRow } from '../../../../src/access/clients/limits/limit-row';

/** Row of a fictitious limit, as in docs/internals/guides/add-a-rule-about-money.md. */
export const MIN_ITEM = {
  minItemUsd: {
    name: 'min_item_usd',
    kind: 'usd',
    mayBeZero: false,
    expands: 'less',
    label: 'Smallest item',
    text: 'Smallest amount of one item in US dollars.',
  },
} as const satisfies Record<string, LimitRow>;
