import { ReaderPrisma } from '../../platform/database/reader-prisma';
import { VerdictEvidence } from '../../journal/records';

/** What the resolver found out last about a call in doubt. */
export interface VerdictRow {
  verdict: string;
  reason: string;
  decidedAt: Date;
  evidence: VerdictEvidence;
}

/** What of a call says whether there may be a verdict: hardly any call ever was in doubt. */
interface MaybeJudged {
  id: string;
  outcome: { kind: string } | null;
  resolution: object | null;
}

/** The newest verdict of each of these calls that has one. */
export async function newestVerdicts(
  prisma: ReaderPrisma,
  calls: MaybeJudged[],
): Promise<ReadonlyMap<string, VerdictRow>> {
  const ids = calls
    .filter(({ outcome, resolution }) => resolution !== null || outcome === null || outcome.kind === 'unknown')
    .map(({ id }) => id);
  if (ids.length === 0) return new Map();
  const rows = await prisma.$queryRaw<(VerdictRow & { id: string })[]>`
    SELECT DISTINCT ON (intent_id) intent_id::text AS id, verdict, reason, decided_at AS "decidedAt", evidence
    FROM verdict WHERE intent_id = ANY (${ids}::uuid[]) ORDER BY intent_id, verdict.id DESC`;
  return new Map(rows.map(({ id, ...row }) => [id, row]));
}
