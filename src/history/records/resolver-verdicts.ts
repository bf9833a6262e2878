import { ReaderPrisma } from '../../platform/database/reader-prisma';
import { VerdictEvidence } from '../../journal/resolver-verdicts';
import { hasPayoutInDoubt, StoredCall } from './rows';

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
