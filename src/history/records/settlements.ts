import { SettlementDocument } from '../../journal/documents';
import { Resolution } from '../../operations/lifecycle';

/** The Prisma selection of settlements, in their order. */
export const WITH_SETTLEMENTS = { settlements: { select: { record: true }, orderBy: { number: 'asc' } } } as const;

/** Reads the settlements of a call, oldest first. */
export function toSettlements(rows: readonly { record: string }[]): SettlementDocument[] {
  return rows.map(({ record }) => JSON.parse(record) as SettlementDocument);
}

/** Returns how the last settlement settles the call as a whole. */
export function resolutionIn(settlements: readonly SettlementDocument[]): { outcome: Resolution } | null {
  const resolution = settlements.at(-1)?.resolution;
  return resolution === undefined ? null : { outcome: resolution as Resolution };
}
