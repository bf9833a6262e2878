import { Prisma } from '../../platform/database/generated/client';

/** What Prisma reads of how a call was settled: the first resolution, and the corrections of it. */
export const WITH_RESOLUTIONS = { resolution: true, corrections: true } as const;

type Settled = Prisma.IntentGetPayload<{ include: typeof WITH_RESOLUTIONS }>;

/** How a call was settled, first or by a correction. */
export interface ResolutionRow {
  /** A first resolution has the id of its call. */
  id: string;
  outcome: string;
  reason: string;
  resolvedAt: Date;
  /** Null: the resolver. */
  clientId: string | null;
  keyId: string | null;
  actor: string | null;
}

/** The resolution that holds, and those before it, newest first. */
export interface CurrentResolution extends ResolutionRow {
  superseded: ResolutionRow[];
}

/** Returns a row whose `resolution` is the one that holds, as the view `current_resolution` says it. */
export function withCurrentResolution<Row extends Pick<Settled, 'id' | 'resolution' | 'corrections'>>(
  row: Row,
): Omit<Row, 'resolution' | 'corrections'> & { resolution: CurrentResolution | null } {
  const { resolution, corrections, ...rest } = row;
  return { ...rest, resolution: resolution && currentOf({ ...resolution, id: row.id }, corrections) };
}

function currentOf(first: ResolutionRow, corrections: Settled['corrections']): CurrentResolution {
  const bySuperseded = new Map(corrections.map((one) => [one.supersedes, one]));
  const superseded: ResolutionRow[] = [];
  let current = first;
  for (let next = bySuperseded.get(first.id); next; next = bySuperseded.get(next.id)) {
    superseded.unshift(current);
    current = next;
  }
  return { ...current, superseded };
}
