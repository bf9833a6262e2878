import { RESOLUTIONS } from '../../operations/lifecycle/lifecycle';

/** Outcomes that a person can give to payouts. */
export const VERDICTS_BY_HAND = [...RESOLUTIONS, ...(['failed', 'reversed', 'refunded'] as const)] as const;

export type VerdictByHand = (typeof VERDICTS_BY_HAND)[number];
