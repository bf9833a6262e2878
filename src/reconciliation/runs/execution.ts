import { Injectable } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { PrismaService } from '../../platform/database/prisma.service';
import { compare } from '../matching/compare';
import { Unlisted, Confirm, Plan } from '../matching/plan';
import { Totals } from '../matching/totals';
import { Cause, ReadResult, SourcesService } from '../sources/sources.service';
import { withMargin } from '../matching/run-settings';
import { EarlierReadsService } from './earlier-reads';
import { ProgressWriter } from './progress-writer';
import { RunConnection } from './run-connection';
import { Run } from './run-reader';

/** Waits before a source is asked again: an upstream that stumbled has found its feet by then. */
const SOURCE_RETRIES_MS = [500, 2_500];

/** A run that has no result, and why, in a sentence that says what to do. */
export class RunFailure extends Error {
  constructor(
    message: string,
    readonly readId: string | null = null,
  ) {
    super(message);
  }
}

/** What a run compares with. */
interface Evidence {
  readId: string;
  walletsReadId: string | null;
  /** Without one, what is not listed is not asked for. */
  confirm?: Confirm;
}

/** Carries a run out: asks the sources, compares, and has the result recorded. */
@Injectable()
export class Execution {
  constructor(
    private readonly prisma: PrismaService,
    private readonly sources: SourcesService,
    private readonly earlier: EarlierReadsService,
  ) {}

  /**
   * Resolves once the result is on record; nothing of it is before.
   * @param signal ends it, without an end on record: it can be started again.
   * @throws RunFailure where a source cannot be had.
   */
  async carryOut(run: Run, { client }: RunConnection, signal: AbortSignal): Promise<Totals> {
    const progress = new ProgressWriter(this.prisma, run.id);
    const at = (step: string, done: number, of: number | null) => {
      signal.throwIfAborted();
      progress.at(step, done, of);
    };
    try {
      at('sources', 0, null);
      const { readId, walletsReadId, confirm } = await this.evidenceOf(run, at, signal);
      const plan: Plan = {
        runId: run.id,
        from: run.from,
        to: run.to,
        asOf: run.asOf,
        historical: run.historical,
        readId,
        walletsReadId,
        source: run.ofStatement ? 'statement' : 'upstream',
        settings: run.settings,
      };
      return await compare(client, plan, at, confirm);
    } finally {
      await progress.end();
    }
  }

  private async evidenceOf(run: Run, at: Progress, signal: AbortSignal): Promise<Evidence> {
    const { readId, ofStatement } = run;
    if (readId === null) return this.ask(run, at, signal);
    if (ofStatement) return { readId, walletsReadId: null };
    // As of then: all that the run has seen that the listing was read for, and nothing of what the upstream says now.
    const cause = await this.earlier.causeOf(readId);
    const seen = async (source: string, subject: string | null) =>
      cause === null ? undefined : this.earlier.ofCause(cause, source, subject);
    const confirm = async (asked: Unlisted[]) => {
      const found = await Promise.all(asked.map(({ source, subject }) => seen(source, subject)));
      return found.filter((id) => id !== undefined);
    };
    return { readId, walletsReadId: (await seen('wallets', null)) ?? null, confirm };
  }

  private async ask(run: Run, at: Progress, signal: AbortSignal): Promise<Evidence> {
    const window = withMargin(run.from, run.to, run.settings);
    const wallets = await this.read(run, 'wallets', null, signal, (cause) => this.sources.wallets(cause));
    const walletsReadId = wholeOr(wallets, 'wallets'); // first, for it is the shorter answer
    const onRows = (rows: number) => at('sources', rows, null);
    const transactions = await this.read(run, 'transactions', null, signal, (cause) =>
      this.sources.transactions(cause, window, { onRows, signal, keepsOldest: true }),
    );
    return {
      readId: wholeOr(transactions, 'transactions'),
      walletsReadId,
      confirm: (asked) => this.confirm(run, asked, at, signal),
    };
  }

  /** Asks one by one for what the listing did not have. What cannot be had stays missing. */
  private async confirm(run: Run, asked: Unlisted[], at: Progress, signal: AbortSignal): Promise<string[]> {
    const found: string[] = [];
    for (const [place, { source, subject }] of asked.entries()) {
      at('confirm', place, asked.length);
      const result = await this.read(run, source, subject, signal, (cause) => this.sources[source](cause, subject));
      if (result.complete) found.push(result.readId);
    }
    return found;
  }

  /** Asks a source, unless this run has before it was cut off, and again while it does not answer whole. */
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
    const isSingle = subject !== null; // of a hundred questions, one that fails is not worth the wait
    for (const wait of isSingle ? [] : SOURCE_RETRIES_MS) {
      const result = await ask({ causedBy: id, by });
      signal.throwIfAborted();
      if (result.complete) return result;
      await sleep(wait, undefined, { signal });
    }
    return ask({ causedBy: id, by });
  }
}

type Progress = (step: string, done: number, of: number | null) => void;

function wholeOr(
  { readId, complete, failure }: Pick<ReadResult, 'readId' | 'complete' | 'failure'>,
  what: string,
): string {
  if (complete) return readId;
  const why = failure ?? 'cut off';
  throw new RunFailure(
    `The upstream's ${what} could not be read completely (${why}), so nothing was compared. Check that the upstream responds, then start the run again.`,
    readId,
  );
}
