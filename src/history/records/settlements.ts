import { SettlementDocument } from '../../journal/documents';
import { Resolution } from '../../operations/lifecycle';

/** Returns how the last settlement settles the call as a whole. */
export function resolutionIn(settlements: readonly SettlementDocument[]): { outcome: Resolution } | null {
  const resolution = settlements.at(-1)?.resolution;
  return resolution === undefined ? null : { outcome: resolution as Resolution };
}
