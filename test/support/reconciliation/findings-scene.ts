import { v7 as uuidv7 } from 'uuid';
import { TestDatabase } from '../databases/test-database';
import { PLANTED_SETTINGS } from './planted-findings';

export interface NewRun {
  id?: string;
  from?: string;
  to?: string;
  historical?: boolean;
  result?: 'clean' | 'clean_with_doubts' | 'incomplete' | 'findings' | 'failed' | null;
  totals?: object | null;
  readId?: string | null;
}

export interface NewFinding {
  category?: string;
  subject?: string;
  callId?: string | null;
  position?: number | null;
  upstreamRef?: string | null;
  occurredAt?: string;
  daysAgo?: number;
  usd?: string;
  fields?: { field: string; ours: string | null; theirs: string | null }[];
  evidence?: object;
}

const NO_PAIR = { ours: null, theirs: null, match: null };

/** Writes runs and findings like a comparison. */
export class FindingsScene {
  private made = 0;

  constructor(private readonly database: TestDatabase) {}

  /** @returns the ID of a run that has ended, unless its result is null. */
  async run(run: NewRun = {}): Promise<string> {
    const { id = uuidv7(), historical = false, result = 'findings', totals = null, readId = null } = run;
    const { from = '2026-11-20T00:00:00Z', to = '2026-11-21T00:00:00Z' } = run;
    await this.database.query(
      `INSERT INTO reconciliation_run (id, from_at, to_at, as_of, historical, settings)
       VALUES ($1, $2, $3, clock_timestamp(), $4, $5)`,
      [id, from, to, historical, PLANTED_SETTINGS],
    );
    if (result !== null) {
      await this.database.query(
        `INSERT INTO reconciliation_run_end (run_id, result, failure, totals, read_id)
         VALUES ($1, $2, $3, $4, $5)`,
        [id, result, result === 'failed' ? 'The upstream did not answer.' : null, totals, readId],
      );
    }
    return id;
  }

  /** @returns the ID of a finding that this run observed first. */
  async finding(runId: string, finding: NewFinding = {}): Promise<string> {
    const [id] = await this.findings(runId, [finding]);
    return id as string;
  }

  /** Writes many at once. */
  async findings(runId: string, findings: NewFinding[]): Promise<string[]> {
    const rows = findings.map(
      ({
        category = 'amount_over',
        callId = null,
        position = null,
        upstreamRef = null,
        usd = '1',
        ...more
      }) => {
        const id = uuidv7();
        const subject =
          more.subject ??
          (upstreamRef === null ? `upstream_ref/made-${(this.made += 1)}` : `upstream_ref/${upstreamRef}`);
        const seenAt = new Date(Date.now() - (more.daysAgo ?? 0) * 86_400_000).toISOString();
        const fields = more.fields ?? [{ field: 'amount_usd', ours: '5', theirs: '6' }];
        return {
          id,
          category,
          subject,
          call_id: callId,
          position,
          upstream_ref: upstreamRef,
          run_id: runId,
          found_at: seenAt,
          occurred_at: more.occurredAt ?? '2026-11-20T08:00:00Z',
          seen_at: seenAt,
          sight_id: uuidv7(),
          finding_id: id,
          impact_usd: usd,
          fields,
          evidence: { ...NO_PAIR, ...more.evidence },
        };
      },
    );
    const json = [JSON.stringify(rows)];
    await this.database.query(
      `INSERT INTO finding (
         id, category, subject, call_id, position, upstream_ref, occurred_at, run_id, found_at)
       SELECT id, category, subject, call_id, position, upstream_ref, occurred_at, run_id, found_at
       FROM json_populate_recordset(NULL::finding, $1)`,
      json,
    );
    await this.database.query(
      `INSERT INTO finding_sight (id, finding_id, run_id, impact_usd, fields, evidence, seen_at)
       SELECT (j->>'sight_id')::uuid, s.finding_id, s.run_id, s.impact_usd, s.fields, s.evidence, s.seen_at
       FROM json_array_elements($1::json) AS j, json_populate_record(NULL::finding_sight, j) AS s`,
      json,
    );
    return rows.map(({ id }) => id);
  }

  /** Makes another run observe a finding, too. */
  async observeAgain(findingId: string, runId: string, usd = '1'): Promise<void> {
    const fields = [{ field: 'amount_usd', ours: '5', theirs: '7' }];
    await this.database.query(
      `INSERT INTO finding_sight (id, finding_id, run_id, impact_usd, fields, evidence)
       VALUES ($1, $2, $3, $4, $5, $6)`,
      [uuidv7(), findingId, runId, usd, JSON.stringify(fields), JSON.stringify(NO_PAIR)],
    );
  }

  async steps(findingId: string): Promise<Record<string, unknown>[]> {
    return this.database.query('SELECT * FROM finding_step WHERE finding_id = $1 ORDER BY decided_at', [
      findingId,
    ]);
  }
}
