import { Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { setTimeout as sleep } from 'node:timers/promises';
import { Loaded } from '../platform/config/config.module';
import { OUTCOME_PATIENCE_MS } from '../platform/config/upstream-timeouts';
import { GroupCommit } from '../platform/database/group-commit';
import { DATABASE_PATIENCE_MS } from '../platform/database/patience';
import { PrismaService } from '../platform/database/prisma.service';
import { ProcessService } from '../platform/database/process.service';
import { admit, Admission, AdmissionResult } from './admissions';
import { guardWindows } from './guard-windows';
import { insertIntents } from './intents';
import { insertOutcomes } from './outcomes';
import { NewIntent, NewOutcome, NewRefusal } from './records';
import { RefusalWriter } from './refusal-writer';

/** Rows of one statement, items included: past this, Postgres' time per row no longer falls. */
const MAX_BATCH_ROWS = 5_000;

/** Bodies that weigh as much as a row: sixty-four of 8 MiB in one statement would be more than a string can hold. */
const BYTES_PER_ROW = 1_024;

/** Waits before an outcome is tried again: longer, together, than a Postgres takes to restart. */
const OUTCOME_RETRIES_MS = [100, 400, 1_500, 3_000];

/**
 * Records calls: their intents, outcomes and refusals. Concurrent calls share statements and commits. Every other record is
 * written by a function of the file that is named after it.
 */
@Injectable()
export class CallJournal implements OnApplicationShutdown {
  private readonly logger = new Logger('Journal');
  private readonly intents: GroupCommit<NewIntent>;
  private readonly admissions: GroupCommit<Admission, AdmissionResult>;
  private readonly outcomes: GroupCommit<NewOutcome>;
  private readonly refusals: RefusalWriter;
  private readonly relaxed: boolean;
  /** With OUTCOMES=relaxed, the outcomes that are still being written after their apps were answered. */
  private readonly unwritten = new Set<Promise<void>>();

  constructor(prisma: PrismaService, processes: ProcessService, config: ConfigService<Loaded, true>) {
    const settings = config.get('settings', { infer: true });
    const windows = guardWindows(settings);
    this.relaxed = settings.outcomes === 'relaxed';
    const patience = { patienceMs: DATABASE_PATIENCE_MS };
    this.intents = new GroupCommit<NewIntent>(
      (batch) =>
        insertIntents(
          prisma,
          batch.map((intent) => ({ ...intent, process: processes.number })),
        ),
      weightOf,
      MAX_BATCH_ROWS,
      patience,
    );
    this.admissions = new GroupCommit<Admission, AdmissionResult>(
      (batch, again) => admit(prisma, processes.number, batch, windows, again),
      ({ intent }) => weightOf(intent),
      MAX_BATCH_ROWS,
      patience,
    );
    // Without such a limit: what the upstream has answered is written however long that takes.
    this.outcomes = new GroupCommit<NewOutcome>((batch) => insertOutcomes(prisma, batch), weightOf, MAX_BATCH_ROWS);
    this.refusals = new RefusalWriter(prisma);
  }

  /** Resolves once the intent of a read is durable: only then may it be sent. */
  open(intent: NewIntent): Promise<void> {
    return this.intents.add(intent);
  }

  /**
   * Decides about a call that pays or makes something. Resolves once what follows is durable: it may be sent only if it is
   * `released`, and then its key is claimed, its amount reserved and its intent recorded.
   * @throws DatabaseTooSlow if that takes too long. What was admitted after that is undone by the call's refusal (`refuse`).
   */
  admit(admission: Admission): Promise<AdmissionResult> {
    return this.admissions.add(admission);
  }

  /**
   * Resolves when the app may be answered: once the outcome is durable, or at once with OUTCOMES=relaxed. An outcome that
   * cannot be written even after a while is given up, which leaves its intent in doubt; so does a process that ends before.
   */
  async close(outcome: NewOutcome): Promise<void> {
    if (!this.relaxed) return this.write(outcome);
    const written = this.write(outcome)
      .catch((err: unknown) => {
        const { intentId, kind } = outcome;
        this.logger.error({ err, call_id: intentId, outcome: kind }, 'outcome not recorded, call is in doubt');
      })
      .finally(() => this.unwritten.delete(written));
    this.unwritten.add(written);
  }

  /** Once the last app is answered: what was answered is recorded, too. */
  async onApplicationShutdown(): Promise<void> {
    await Promise.all(this.unwritten);
  }

  private async write(outcome: NewOutcome): Promise<void> {
    const patienceEnds = performance.now() + OUTCOME_PATIENCE_MS;
    for (const wait of OUTCOME_RETRIES_MS) {
      try {
        return await this.outcomes.add(outcome);
      } catch (error) {
        if (performance.now() > patienceEnds) throw error; // whoever settles calls by hand counts on it
        this.logger.warn({ call_id: outcome.intentId, outcome: outcome.kind }, 'outcome not recorded, will retry');
        await sleep(wait);
      }
    }
    await this.outcomes.add(outcome);
  }

  /** Resolves once the refusal is durable. */
  refuse(refusal: NewRefusal): Promise<void> {
    return this.refusals.record(refusal);
  }

  /** Records a refusal whose app is about to be answered; waits for that for a moment only. @returns whether it is durable. */
  refuseSoon(refusal: NewRefusal): Promise<boolean> {
    return this.refusals.recordSoon(refusal);
  }
}

/** What a row counts towards the limit of one statement: itself, its items, and its body's bytes. */
function weightOf({ items, body }: { items: unknown[]; body: Buffer | null }): number {
  return 1 + items.length + (body?.length ?? 0) / BYTES_PER_ROW;
}
