import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { Client } from 'pg';
import { MayPay } from '../../gateway/may-pay/may-pay.service';
import { writeRunProgress } from '../../journal/reconciliation/reconciliations';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { BookService } from '../book/book.service';
import { RunConnection } from '../book/connection';
import { MissingLookup, MissingTransaction, Plan, withMargin } from '../book/plan';
import { compare } from '../matching/comparison';
import { TotalsRecord } from '../matching/totals.dto';
import { Cause, ReadResult } from '../sources/source-read';
import { SourcesService } from '../sources/sources.service';
import { Run } from './run-reader';
import { EarlierReadsService } from './runs.service';
import { StatementProofsService } from './statement-proofs.service';

/** Interval of progress writes within a step, in ms. Viewers read it no more often. */
const EVERY_MS = 500;

/** Writes the progress of a run, on a second connection. Failed writes are ignored. */
class ProgressWriter {
  private last = { step: '', at: 0 };
  private writing: Promise<void> = Promise.resolve();

  constructor(
    private readonly prisma: PrismaService,
    private readonly runId: string,
  ) {}

  at(step: string, done: number, of: number | null): void {
    const now = performance.now();
    if (step === this.last.step && now - this.last.at < EVERY_MS) return;
    this.last = { step, at: now };
    this.writing = this.writing
      .then(() => writeRunProgress(this.prisma, this.runId, { step, done, of }))
      .catch(() => undefined);
  }

  /** No write follows once this resolves. */
  async end(): Promise<void> {
    await this.writing;
  }
}

/** Delays before a source is read again, in ms. They outlast a brief failure of the upstream. */
const SOURCE_RETRIES_MS = [500, 2_500];

/** A failure that leaves a run without a result. Its message names the reason and the next step. */
export class RunFailure extends Error {
  constructor(
    message: string,
    readonly readId: string | null = null,
  ) {
    super(message);
  }
}

/** The source that a run compares with. */
interface RunSource {
  readId: string;
  walletsReadId: string | null;
  /** Looks up payouts missing in the listing. Undefined skips the lookup. */
  confirm?: MissingLookup;
}

/** Carries out a run: reads the sources, compares them, and has the result recorded. */
@Injectable()
export class Execution {
  private readonly logger = new Logger('Runs');

  constructor(
    private readonly prisma: PrismaService,
    private readonly sources: SourcesService,
    private readonly earlier: EarlierReadsService,
    private readonly book: BookService,
    private readonly proofs: StatementProofsService,
    private readonly mayPay: MayPay,
  ) {}

  /**
   * Carries out a run. Resolves once the result is recorded. Nothing of it is recorded earlier.
   * @param signal stops the run without recording an end, which allows a new start.
   * @throws RunFailure if a source cannot be read.
   */
  async carryOut(run: Run, { client }: RunConnection, signal: AbortSignal): Promise<TotalsRecord> {
    const progress = new ProgressWriter(this.prisma, run.id);
    const at = (step: string, done: number, of: number | null) => {
      signal.throwIfAborted();
      progress.at(step, done, of);
    };
    try {
      at('sources', 0, null);
      const { readId, walletsReadId, confirm } = await this.sourceOf(run, at, signal);
      const { id: runId, account, from, to, asOf, historical, settings } = run;
      const source = run.ofStatement ? 'statement' : 'upstream';
      const period = { from, to, asOf, historical };
      const plan = { runId, account, ...period, readId, walletsReadId, source, settings } as const;
      // At the same time, because records that are made from now on do not count in this run.
      const entering = this.enter(run, readId, signal);
      const settle = this.settlementByStatement(run, client, plan, signal) ?? (() => entering);
      try {
        return await compare(client, plan, at, { confirm, settle });
      } finally {
        await entering;
      }
    } finally {
      await progress.end();
    }
  }

  /** Returns how the matches of a run over a statement settle payouts. Undefined if they settle none. */
  private settlementByStatement(
    { id, ofStatement, historical }: Run,
    client: Client,
    plan: Plan,
    signal: AbortSignal,
  ): (() => Promise<void>) | undefined {
    if (!ofStatement || historical || !this.proofs.isOn || this.mayPay.obstacleTo('settle')) return undefined;
    return () =>
      this.proofs.settle(client, plan, signal).catch((err: unknown) => {
        this.logger.warn({ err, run_id: id }, 'statement of a run has not settled all payouts');
      });
  }

  /**
   * Enters the listing in the book. A statement is the claim of its importer, and an old listing proves
   * nothing about today. If it fails, a later poll enters the transactions.
   */
  private async enter(
    { id, account, ofStatement, historical }: Run,
    readId: string,
    signal: AbortSignal,
  ): Promise<void> {
    if (ofStatement || historical || this.mayPay.obstacleTo('settle')) return;
    const reading = { account, readId, source: 'reconciliation', isQuiet: () => false } as const;
    await this.book.enter(reading, signal).catch((err: unknown) => {
      this.logger.warn({ err, run_id: id }, 'listing of a run not entered in the book');
    });
  }

  private async sourceOf(run: Run, at: ReportProgress, signal: AbortSignal): Promise<RunSource> {
    const { readId, ofStatement } = run;
    if (readId === null) return this.readUpstream(run, at, signal);
    if (ofStatement) return { readId, walletsReadId: null };
    // A historical run uses the readings of the run that its listing was read for, and none after that.
    const cause = await this.earlier.causeOf(readId);
    const readFor = async (source: string, subject: string | null) =>
      cause === null ? undefined : this.earlier.ofCause(cause, source, subject);
    const confirm = async (missing: MissingTransaction[]) => {
      const readIds = await Promise.all(missing.map(({ source, subject }) => readFor(source, subject)));
      return readIds.filter((id) => id !== undefined);
    };
    return { readId, walletsReadId: (await readFor('wallets', null)) ?? null, confirm };
  }

  private async readUpstream(run: Run, at: ReportProgress, signal: AbortSignal): Promise<RunSource> {
    const window = withMargin(run.from, run.to, run.settings);
    const wallets = await this.read(run, 'wallets', null, signal, (cause) =>
      this.sources.wallets(run.account, cause),
    );
    const walletsReadId = requireComplete(wallets, 'wallets'); // First, because it is the shorter answer.
    const onRows = (rows: number) => at('sources', rows, null);
    const transactions = await this.read(run, 'transactions', null, signal, (cause) =>
      this.sources.transactions(run.account, cause, window, { onRows, signal, keepsOldest: true }),
    );
    return {
      readId: requireComplete(transactions, 'transactions'),
      walletsReadId,
      confirm: (missing) => this.confirm(run, missing, at, signal),
    };
  }

  /** Looks up each payout missing in the listing. An unreadable payout stays missing. */
  private async confirm(
    run: Run,
    missing: MissingTransaction[],
    at: ReportProgress,
    signal: AbortSignal,
  ): Promise<string[]> {
    const found: string[] = [];
    for (const [index, { source, subject }] of missing.entries()) {
      at('confirm', index, missing.length);
      const result = await this.read(run, source, subject, signal, (cause) =>
        this.sources[source](run.account, cause, subject),
      );
      if (result.complete) found.push(result.readId);
    }
    return found;
  }

  /** Reads a source, unless this run read it before an interruption. Retries an incomplete answer. */
  private async read(
    { id, clientId, keyId, actor }: Run,
    source: string,
    subject: string | null,
    signal: AbortSignal,
    ask: (cause: Cause) => Promise<ReadResult>,
  ): Promise<Pick<ReadResult, 'readId' | 'complete' | 'failure'>> {
    const before = await this.earlier.ofCause(id, source, subject);
    if (before !== undefined) return { readId: before, complete: true, failure: null };
    const by = clientId !== null && keyId !== null ? { clientId, keyId, actor } : null;
    const isSingle = subject !== null; // One failure among a hundred lookups is not worth the wait.
    for (const wait of isSingle ? [] : SOURCE_RETRIES_MS) {
      const result = await ask({ causedBy: id, by });
      signal.throwIfAborted();
      if (result.complete) return result;
      await sleep(wait, undefined, { signal });
    }
    return ask({ causedBy: id, by });
  }
}

type ReportProgress = (step: string, done: number, of: number | null) => void;

/** @throws RunFailure for an incomplete reading. */
function requireComplete(
  { readId, complete, failure }: Pick<ReadResult, 'readId' | 'complete' | 'failure'>,
  source: string,
): string {
  if (complete) return readId;
  const reason = failure ?? 'cut off';
  throw new RunFailure(
    `The upstream's ${source} could not be read completely (${reason}), so nothing was compared. Check ` +
      'that the upstream responds, then start the run again.',
    readId,
  );
}
