import { Prisma } from '../../platform/database/generated/client';
import { ReaderPrisma } from '../../platform/database/reader-prisma';
import { comparesRecipients } from '../../journal/finding-steps';
import { FindingSight } from './findings.dto';

/** A finding as one run saw it, and whether the run compares recipients. */
export type SightRow = FindingSight & { compares_people: boolean };

/** Reads the newest sights of a finding, and how many there are. */
export async function readSightsBy(
  prisma: ReaderPrisma,
  { id, seesPeople }: { id: string; seesPeople: boolean },
  limit: number,
): Promise<{ rows: SightRow[]; count: number }> {
  const mayBeSeen = seesPeople ? Prisma.sql`TRUE` : Prisma.sql`NOT ${comparesRecipients('s.run_id')}`;
  const [rows, [counted]] = await Promise.all([
    prisma.$queryRaw<SightRow[]>`
      SELECT s.run_id::text, s.seen_at, r.historical, trim_scale(s.impact_usd)::text AS impact_usd, s.fields, s.evidence,
        ${comparesRecipients('s.run_id')} AS compares_people
      FROM finding_sight s JOIN reconciliation_run r ON r.id = s.run_id
      WHERE s.finding_id = ${id}::uuid AND ${mayBeSeen} ORDER BY s.id DESC LIMIT ${limit}`,
    prisma.$queryRaw<{ count: number }[]>`
      SELECT count(*)::float8 AS count FROM finding_sight s WHERE s.finding_id = ${id}::uuid AND ${mayBeSeen}`,
  ]);
  return { rows, count: counted?.count ?? 0 };
}

/** Whether a run compares recipients that a statement names. */
export async function readComparesPeople(prisma: ReaderPrisma, runId: string): Promise<boolean> {
  const [row] = await prisma.$queryRaw<{ compares: boolean }[]>`
    SELECT ${comparesRecipients('r.id')} AS compares FROM reconciliation_run r WHERE r.id = ${runId}::uuid`;
  return row?.compares ?? false;
}
