import { TestDatabase } from '../databases/test-database';

/** A finding as a run observed it. */
export interface ObservedFinding {
  category: string;
  subject: string;
  impact: string;
}

export async function findingsOf(database: TestDatabase, runId: string): Promise<ObservedFinding[]> {
  return database.query<ObservedFinding>(
    `SELECT category, subject, trim_scale(impact_usd)::text AS impact
     FROM finding f JOIN finding_sight s ON s.finding_id = f.id WHERE s.run_id = $1`,
    [runId],
  );
}

/** Returns the findings as lines, in a fixed order. */
export function lines(findings: ObservedFinding[]): string[] {
  return findings.map(({ category, subject, impact }) => `${category} ${subject} ${impact}`).sort();
}
