import { Client } from '../../platform/database/generated/client';
import { Present } from '../../operations/lifecycle';
import { ReaderPrisma } from '../../platform/database/reader-prisma';
import { VerdictEvidence } from '../../journal/resolver-verdicts';
import { hasPayoutInDoubt, StoredCall } from './rows';

/** What a reader may see of records. */
export interface View {
  /** Whether people are shown unmasked (`audit:pii`, or the reader's own calls). */
  reveal: boolean;
  present: Present;
  clients: ReadonlyMap<string, ViewedClient>;
  /** The resolver's verdicts by call. */
  verdicts: ReadonlyMap<string, VerdictRow>;
  /** Whether other calls may be named. The app that owns the call does not see them. */
  showsOthers: boolean;
  /** Whether the reader is one person, who does not learn of the calls of the others. */
  ofPerson: boolean;
}

/** Returns a value as a reader may see it. Null if there is none. */
export function shown(value: string, reveal: boolean, mask: Mask): string;
export function shown(value: string | null | undefined, reveal: boolean, mask: Mask): string | null;
export function shown(value: string | null | undefined, reveal: boolean, mask: Mask): string | null {
  return value === undefined || value === null || reveal ? (value ?? null) : mask(value);
}

/** What records show of a client. */
export type ViewedClient = Pick<Client, 'name' | 'account'>;

type Mask = (value: string) => string;

/** The last verdict of the resolver about a call in doubt. */
export interface VerdictRow {
  verdict: string;
  reason: string;
  decidedAt: Date;
  evidence: VerdictEvidence;
}

/** Returns the newest verdict of each of these calls. Hardly any call was ever in doubt, so most cannot have one. */
export async function newestVerdicts(
  prisma: ReaderPrisma,
  calls: StoredCall[],
): Promise<ReadonlyMap<string, VerdictRow>> {
  const ids = calls
    .filter((call) => call.outcome === null || call.outcome.kind === 'unknown' || hasPayoutInDoubt(call))
    .map(({ intent }) => intent.id);
  if (ids.length === 0) return new Map();
  const rows = await prisma.$queryRaw<(VerdictRow & { id: string })[]>`
    SELECT DISTINCT ON (intent_id) intent_id::text AS id, verdict, reason, decided_at AS "decidedAt", evidence
    FROM verdict WHERE intent_id = ANY (${ids}::uuid[]) ORDER BY intent_id, verdict.id DESC`;
  return new Map(rows.map(({ id, ...row }) => [id, row]));
}
