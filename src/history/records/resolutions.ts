import { Prisma } from '../../platform/database/generated/client';

/** The Prisma selection of resolutions: the first one and its corrections. */
export const WITH_RESOLUTIONS = { resolution: true, corrections: true } as const;

type Settled = Prisma.IntentGetPayload<{ include: typeof WITH_RESOLUTIONS }>;

/** A resolution: the first one, or a correction. */
export interface ResolutionRow {
  /** The first resolution has the ID of its call. */
  id: string;
  outcome: string;
  reason: string;
  resolvedAt: Date;
  /** Null for the resolver. */
  clientId: string | null;
  keyId: string | null;
  actor: string | null;
}

/** The resolution that is in effect, and the earlier ones, newest first. */
export interface CurrentResolution extends ResolutionRow {
  superseded: ResolutionRow[];
}

/** Returns a row whose `resolution` is the one in effect, as in the view `current_resolution`. */
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
