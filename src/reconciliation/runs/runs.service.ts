import { Injectable, Inject } from '@nestjs/common';
import { Author } from '../../access/auth/call';
import { accountFaults } from '../../http/validation/rules/query-rules';
import { insertRun } from '../../journal/reconciliation/reconciliations';
import { isRecordOf, accountNamed } from '../../journal/records/accounts';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { accountNames } from '../../platform/config/upstream/upstream-accounts';
import { Prisma } from '../../platform/database/generated/client';
import { newId } from '../../platform/database/ids';
import { LOCKS } from '../../platform/database/locks';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { SidePrisma } from '../../platform/database/pools/side-prisma';
import { Problem } from '../../platform/errors/problem';
import { RunSettings, withMargin, settingsOf } from '../book/plan';
import { Run, RunReader } from './run-reader';

const DAY_MS = 86_400_000;

/** Maximum length of a period: a year with some margin. Longer periods take several runs and listings. */
const MAX_DAYS = 400;

/** Account, period and sources of a run. */
interface RunRequest {
  account: string;
  from: Date;
  to: Date;
  /** Compares both sides as of this time. Null means now. */
  asOf: Date | null;
  /** Statement to compare with. Null means the upstream's own listing. */
  statementId: string | null;
}

/**
 * Checks the request for a run.
 * @param now by the database's clock, as in the records.
 * @param accounts upstream accounts.
 * @throws Problem `invalid_request` with all faults.
 */
function checkRequest({ account, from, to, asOf }: RunRequest, now: Date, accounts: string[]): void {
  const faults = accountFaults(account, accounts);
  const fault = (pointer: string, detail: string) => faults.push({ pointer, detail });
  if (from >= to) fault('/to', 'must be after from');
  if (to.getTime() - from.getTime() > MAX_DAYS * DAY_MS) {
    fault('/to', `must be at most ${MAX_DAYS} days after from; start another run for the rest`);
  }
  // A call made during the reading would be missing on one side, like an unknown transaction.
  if (to > now) fault('/to', `must not be in the future; it is ${now.toISOString()} now`);
  if (asOf && asOf > now) fault('/as_of', `must not be in the future; it is ${now.toISOString()} now`);
  if (asOf && asOf < to) fault('/as_of', 'must not be before to, because the period must have ended by then');
  if (faults.length > 0) throw new Problem('invalid_request', { faults });
}

/** Returns the UTC day before the day of an instant. */
export function dayBefore(at: Date): { from: Date; to: Date } {
  const to = new Date(Math.floor(at.getTime() / DAY_MS) * DAY_MS);
  return { from: new Date(to.getTime() - DAY_MS), to };
}

/** Finds complete earlier readings of the upstream. */
@Injectable()
export class EarlierReadsService {
  constructor(private readonly prisma: PrismaService) {}

  /**
   * Returns the source for a run that must not read a new one: a statement, or the newest listing known at
   * `as_of`.
   * @throws Problem if no such source exists.
   */
  async chosenFor(request: RunRequest, settings: RunSettings): Promise<string | null> {
    const { account, statementId, asOf } = request;
    if (statementId !== null) return this.statement(statementId, account);
    return asOf === null ? null : this.listingOf(request, asOf, settings);
  }

  /** Returns the complete reading of a source for a run, which an interrupted run does not read again. */
  async ofCause(
    causedBy: string,
    source: string,
    subject: string | null = null,
  ): Promise<string | undefined> {
    const [row] = await this.prisma.$queryRaw<{ id: string }[]>`
      SELECT r.id FROM source_read r JOIN source_read_end e ON e.read_id = r.id
      WHERE r.caused_by = ${causedBy}::uuid AND r.source = ${source}
        AND r.subject IS NOT DISTINCT FROM ${subject} AND e.complete
      ORDER BY r.id LIMIT 1`;
    return row?.id;
  }

  /** Returns the run that a listing was read for. Null without one. */
  async causeOf(readId: string): Promise<string | null> {
    const [row] = await this.prisma.$queryRaw<{ cause: string | null }[]>`
      SELECT caused_by AS cause FROM source_read WHERE id = ${readId}::uuid`;
    return row?.cause ?? null;
  }

  private async statement(id: string, account: string): Promise<string> {
    const [row] = await this.prisma.$queryRaw<{ id: string; account: string | null }[]>`
      SELECT r.id, r.account FROM source_read r JOIN source_read_end e ON e.read_id = r.id
      WHERE r.id = ${id}::uuid AND r.source = 'statement' AND e.complete`;
    if (row && accountNamed(row.account) === account) return row.id;
    const detail = row
      ? `must be a statement of the account ${account}; this one is of ${accountNamed(row.account)}`
      : 'must be the ID of a completely imported statement, as GET /v1/reconciliation/statements lists them';
    throw new Problem('invalid_request', { faults: [{ pointer: '/statement_id', detail }] });
  }

  /**
   * Returns the newest complete listing of the account that covers a period with its margin and was known at
   * a time. A listing read for a run counts from the start of that run, so a second run as of that time uses
   * the same data.
   */
  private async listingOf(
    { account, from, to }: RunRequest,
    asOf: Date,
    settings: RunSettings,
  ): Promise<string> {
    const { from: earliest, to: latest } = withMargin(from, to, settings);
    const [found] = await this.prisma.$queryRaw<[{ id: string | null; earliest: Date | null }]>`
      SELECT min(known_at) AS earliest, (array_agg(id ORDER BY known_at DESC, id DESC)
        FILTER (WHERE known_at <= ${asOf}::timestamptz))[1] AS id
      FROM (
        SELECT r.id, date_trunc('milliseconds', coalesce(run.as_of, e.ended_at)) AS known_at
        FROM source_read r JOIN source_read_end e ON e.read_id = r.id
          LEFT JOIN reconciliation_run run ON run.id = r.caused_by
        WHERE r.source = 'transactions' AND e.complete AND ${isRecordOf('r.account', account)}
          AND coalesce(r.from_at <= ${earliest}::timestamptz, true)
          AND coalesce(r.to_at >= ${latest}::timestamptz, true)
      ) AS listing`;
    if (found.id !== null) return found.id;
    throw new Problem('listing_missing', {
      text: found.earliest
        ? "No complete listing of the upstream's transactions of this period had been read by then. The " +
          `earliest was read at ${found.earliest.toISOString()}. Set as_of to that time or omit it.`
        : "No complete listing of the upstream's transactions of this period has been read. Omit as_of.",
    });
  }
}

/**
 * Maximum number of runs in progress or queued, over all instances. Each run uses a database connection
 * fully, and payouts need the database too.
 */
const MAX_RUNS = 2;

/** The run for a request, and whether it already existed. */
interface RunStart {
  run: Run;
  isNew: boolean;
}

/** Begins runs for a worker to carry out: one at a time of a period of an account, over all instances. */
@Injectable()
export class RunsService {
  constructor(
    @Inject(SETTINGS) private readonly settings: RunningConfig,
    private readonly prisma: SidePrisma,
    private readonly reader: RunReader,
    private readonly earlier: EarlierReadsService,
  ) {}

  /**
   * Begins a run. Resolves once it is recorded, before a worker takes it.
   * @param by null for the schedule.
   * @param dueAt the scheduled time of the run.
   * @throws Problem that explains why no run was begun.
   */
  async begin(request: RunRequest, by: Author | null, dueAt: Date | null = null): Promise<RunStart> {
    checkRequest(request, await now(this.prisma), accountNames(this.settings));
    const settings = settingsOf(this.settings);
    const readId = await this.earlier.chosenFor(request, settings);
    return this.prisma.$transaction(async (tx) => {
      await tx.$queryRaw`SELECT pg_advisory_xact_lock(${LOCKS.beginningRun})::text`;
      const current = await this.reader.current(tx);
      const same = current.find((run) => isOfSamePeriod(run, request));
      if (same) return { run: asRequested(same, request, readId), isNew: false };
      if (current.length >= MAX_RUNS) throw new Problem('too_many_runs');
      const id = newId();
      const startedAt = await now(tx);
      const { account, from, to, asOf } = request;
      const times = { from, to, asOf: asOf ?? startedAt, historical: asOf !== null, dueAt, startedAt };
      const isNew = await insertRun(tx, { id, account, ...times, readId, settings, by });
      const [run] = await this.reader.list(isNew ? { id } : { account, dueAt: dueAt ?? startedAt }, 1, tx);
      if (!run) throw new Error('the new run is missing right after its insertion');
      return { run, isNew };
    });
  }
}

function isOfSamePeriod(run: Run, { account, from, to }: RunRequest): boolean {
  return run.account === account && isSame(run.from, from) && isSame(run.to, to);
}

/** @throws Problem if the period's run differs from the requested one. */
function asRequested(run: Run, { asOf, statementId }: RunRequest, readId: string | null): Run {
  const sameThen = asOf === null ? !run.historical : run.historical && isSame(run.asOf, asOf);
  if (sameThen && run.readId === readId && run.ofStatement === (statementId !== null)) return run;
  const text = `Another run of this period is in progress, with the ID ${run.id}. Wait until it ends.`;
  throw new Problem('run_in_progress', { text });
}

function isSame(one: Date, other: Date): boolean {
  return one.getTime() === other.getTime();
}

/** Reads the clock of the records, to the millisecond, which is the precision of a Date. */
async function now(db: Pick<Prisma.TransactionClient, '$queryRaw'>): Promise<Date> {
  const [row] = await db.$queryRaw<[{ now: Date }]>`
    SELECT date_trunc('milliseconds', clock_timestamp()) AS now`;
  return row.now;
}
