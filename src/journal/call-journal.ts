import { setTimeout as sleep } from 'node:timers/promises';
import { Inject, Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import { EpochService } from '../continuity/fence/epoch.service';
import { ProcessService } from '../continuity/fence/process.service';
import { RunningConfig, SETTINGS } from '../platform/config/config';
import { OUTCOME_TIMEOUT_MS } from '../platform/config/upstream/upstream-timeouts';
import { GroupCommit } from '../platform/database/pools/group-commit';
import { PrismaService } from '../platform/database/pools/prisma.service';
import { REQUEST_TIMEOUT_MS } from '../platform/database/pools/timeouts';
import { Admission, AdmissionResult, guardWindows } from './admission/admission-rules';
import { admit } from './admission/admissions';
import { ExpectedFees } from './admission/expected-fees';
import { LocalCopies } from './copies/local-copies';
import { insertOutcomes, insertOutcomesAgain } from './outcomes/outcomes';
import { RefusalWriter } from './outcomes/refusals';
import { insertIntents } from './records/intents';
import { NewIntent, NewOutcome } from './records/records';
import { SpooledOutcomes } from './recovery/spooled-outcomes';

/** Rows per statement, including items. Larger batches do not lower the time per row. */
const MAX_BATCH_ROWS = 5_000;

/** Body bytes that count as one row. Sixty-four bodies of 8 MiB would exceed the longest string. */
const BYTES_PER_ROW = 1_024;

/** Waits between attempts to write an outcome, in ms. Their sum exceeds a Postgres restart. */
const OUTCOME_RETRIES_MS = [100, 400, 1_500, 3_000];

/** The results of admitted calls. */
const OPENED: readonly AdmissionResult['kind'][] = ['released', 'held', 'queued'];

/** An outcome that is being written. */
interface OutcomeWrite {
  outcome: NewOutcome;
  /** Whether it is spooled to disk if the write fails. */
  isSpooled: boolean;
  isKept: boolean;
}

/**
 * Records the intents, outcomes and refusals of calls. Concurrent calls share statements and commits. Each
 * other kind of record has a file of its own, named after it.
 */
@Injectable()
export class CallJournal implements OnApplicationShutdown {
  private readonly logger = new Logger('Journal');
  private readonly intents: GroupCommit<NewIntent>;
  private readonly admissions: GroupCommit<Admission, AdmissionResult>;
  /**
   * Admissions that depend on earlier payments, or that meet an open circuit. They take longer, so the others
   * do not wait for them.
   */
  private readonly lookUps: GroupCommit<Admission, AdmissionResult>;
  private readonly outcomes: GroupCommit<OutcomeWrite, string>;
  private readonly relaxed: boolean;
  /** Outcomes that are written after their apps were answered (OUTCOMES=relaxed). */
  private readonly unwritten = new Set<Promise<void>>();

  constructor(
    prisma: PrismaService,
    processes: ProcessService,
    private readonly spooled: SpooledOutcomes,
    private readonly copies: LocalCopies,
    fees: ExpectedFees,
    epoch: EpochService,
    readonly refusals: RefusalWriter,
    @Inject(SETTINGS) settings: RunningConfig,
  ) {
    const windows = guardWindows(settings);
    this.relaxed = settings.outcomes === 'relaxed';
    const confirm = () => prisma.confirm();
    // Confirms replication of rows that a retry found. Without its standby, a found row may still be lost.
    const confirmRetry = (again: boolean) => (again ? confirm() : undefined);
    const insert = (batch: NewIntent[]) =>
      insertIntents(
        prisma,
        batch.map((intent) => ({ process: processes.number, ...intent })),
      );
    const limits = { timeoutMs: REQUEST_TIMEOUT_MS };
    this.intents = new GroupCommit(insert, weightOf, MAX_BATCH_ROWS, { ...limits, confirm });
    const newAdmissions = () =>
      new GroupCommit<Admission, AdmissionResult>(
        async (batch, again, isAwaited) => {
          const { results, opened } = await admit(prisma, processes.number, batch, { windows, fees }, again);
          await confirmRetry(again);
          const place = results.findIndex(({ kind }) => OPENED.includes(kind));
          if (place >= 0) epoch.remember('admitted', batch[place]!.request.id);
          // A call that was answered 503 is never sent. Its refusal has no copy, so a copied intent would
          // come back in doubt.
          const refused = batch.flatMap(({ request }, at) => (isAwaited(at) ? [] : [request.id]));
          for (const row of opened) if (!refused.includes(row.intent.id)) copies.addIntent(row);
          if (place >= 0 && opened.length === 0 && isAwaited(place))
            await copies.copyIntent(batch[place]!.request);
          return results;
        },
        ({ intent }) => weightOf(intent),
        MAX_BATCH_ROWS,
        limits,
      );
    this.admissions = newAdmissions();
    this.lookUps = newAdmissions();
    // No time limit: the answer of the upstream must be written.
    this.outcomes = new GroupCommit<OutcomeWrite, string>(
      async (batch, again) => {
        const outcomes = batch.map(({ outcome }) => outcome);
        const writing = again
          ? insertOutcomesAgain(prisma, outcomes, settings)
          : insertOutcomes(prisma, outcomes);
        const records = await writing;
        await confirmRetry(again);
        epoch.remember('answered', outcomes[0]!.intentId);
        return records;
      },
      ({ outcome }) => weightOf(outcome),
      MAX_BATCH_ROWS,
      { beforeRetry: (closing) => this.keep(closing) },
    );
  }

  /**
   * Resolves once the intent of a read is durable. Send the read only then.
   * @throws DatabaseTooSlow after `timeoutMs`.
   */
  open(intent: NewIntent, timeoutMs?: number): Promise<void> {
    return this.intents.add(intent, timeoutMs);
  }

  /**
   * Decides about a call that pays or writes. Resolves once the result is durable. Send the call only if it
   * is `released`: its key is then claimed, its amount reserved and its intent recorded, as if `queued`.
   * @throws DatabaseTooSlow after `timeoutMs`. The refusal of the call undoes a later admission.
   */
  admit(admission: Admission, timeoutMs: number): Promise<AdmissionResult> {
    const { payments, sendableInSeconds } = admission.request;
    const needsLookUp = payments !== null || sendableInSeconds !== null;
    return (needsLookUp ? this.lookUps : this.admissions).add(admission, timeoutMs);
  }

  /**
   * Resolves when the app may be answered: once the outcome is durable, or immediately with OUTCOMES=relaxed.
   * Gives up an outcome that cannot be written for a while. Its intent is then in doubt, as after a crash.
   * @param isSpooled whether a failed write is spooled to disk and repeated once the database is back.
   */
  async close(outcome: NewOutcome, isSpooled: boolean): Promise<void> {
    if (!this.relaxed) return this.write(outcome, isSpooled);
    const written = this.write(outcome, isSpooled)
      .catch((err: unknown) => {
        const { intentId, kind } = outcome;
        this.logger.error(
          { err, call_id: intentId, outcome: kind },
          'outcome not recorded, call is in doubt',
        );
      })
      .finally(() => this.unwritten.delete(written));
    this.unwritten.add(written);
  }

  /** Runs after the last response, to record every answered outcome. */
  async onApplicationShutdown(): Promise<void> {
    await Promise.all(this.unwritten);
    await this.copies.onApplicationShutdown(); // Nest runs it concurrently with this one.
  }

  private async write(outcome: NewOutcome, isSpooled: boolean): Promise<void> {
    const deadline = performance.now() + OUTCOME_TIMEOUT_MS;
    const closing: OutcomeWrite = { outcome, isSpooled, isKept: false };
    let isWritten = false;
    try {
      const record = await this.outcomes
        .add(closing)
        .catch((error: unknown) => this.writeAgain(closing, error, deadline));
      isWritten = true;
      if (isSpooled) this.copies.addOutcome(record);
    } finally {
      if (closing.isKept) await this.spooled.release(outcome.intentId, isWritten);
    }
  }

  /** Spools an outcome before its retry. Many may wait, for minutes if the database does not answer. */
  private async keep(closing: OutcomeWrite): Promise<void> {
    if (!closing.isSpooled) return;
    closing.isKept = true;
    await this.spooled.keep(closing.outcome);
  }

  private async writeAgain(closing: OutcomeWrite, error: unknown, deadline: number): Promise<string> {
    const { outcome } = closing;
    let last = error;
    for (const wait of OUTCOME_RETRIES_MS) {
      if (performance.now() > deadline) break; // Settlements rely on this limit.
      this.logger.warn(
        { call_id: outcome.intentId, outcome: outcome.kind },
        'outcome not recorded, will retry',
      );
      await sleep(wait);
      try {
        return await this.outcomes.add(closing);
      } catch (again) {
        last = again;
      }
    }
    throw last;
  }
}

/** Returns the weight of a row against the limit of a statement: itself, its items and its body bytes. */
function weightOf({ items, body }: { items: unknown[]; body: Buffer | null }): number {
  return 1 + items.length + (body?.length ?? 0) / BYTES_PER_ROW;
}
