import { Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { setTimeout as sleep } from 'node:timers/promises';
import { NIL } from 'uuid';
import { Loaded } from '../platform/config/config.module';
import { OUTCOME_PATIENCE_MS } from '../platform/config/upstream-timeouts';
import { Prisma } from '../platform/database/generated/client';
import { GroupCommit } from '../platform/database/group-commit';
import { DATABASE_PATIENCE_MS, withPatience } from '../platform/database/patience';
import { PrismaService } from '../platform/database/prisma.service';
import { ProcessService } from '../platform/database/process.service';
import { Item } from '../operations/item';
import { admit, Ruling } from './admissions';
import { approve, HeldCall, reject } from './decisions';
import { FirstCall, readFirstCall } from './first-call';
import { DryRun, readForesight } from './dry-run';
import { insertIntents } from './intents';
import { insertOutcomes } from './outcomes';
import {
  Considered,
  NewAdmission,
  NewDecision,
  NewIntent,
  NewOutcome,
  NewRefusal,
  NewResolution,
  NewShape,
  NewUpstreamEvent,
  NewVerdict,
} from './records';
import { RefusalWriter } from './refusal-writer';
import { readSamePayments, SamePayment } from './same-payments';
import { insertResolution, SettledAfter, settledAfter } from './resolutions';
import { insertShape, readShapes, StoredShape } from './shapes';
import { GuardWindows, guardWindows } from './guard-windows';
import { isStopped } from './stops';
import { insertUpstreamEvent } from './upstream-events';
import { insertVerdict } from './verdicts';

/** Rows of one statement, items included: past this, Postgres' time per row no longer falls. */
const MAX_BATCH_ROWS = 5_000;

/** Bodies that weigh as much as a row: sixty-four of 8 MiB in one statement would be more than a string can hold. */
const BYTES_PER_ROW = 1_024;

/** Waits before an outcome is tried again: longer, together, than a Postgres takes to restart. */
const OUTCOME_RETRIES_MS = [100, 400, 1_500, 3_000];

/**
 * How far back an item's like is looked for. Wages and prizes are paid weekly at most, and a list that is uploaded a second
 * time is mostly noticed within days; further back, payments that are meant to recur would be most of what is found.
 */
const EARLIER_DAYS = 7;

/** The only writer of records. */
@Injectable()
export class JournalService implements OnApplicationShutdown {
  private readonly logger = new Logger('Journal');
  private readonly intents: GroupCommit<NewIntent>;
  private readonly admissions: GroupCommit<NewAdmission, Ruling>;
  private readonly outcomes: GroupCommit<NewOutcome>;
  private readonly refusals: RefusalWriter;
  private readonly windows: GuardWindows;
  private readonly relaxed: boolean;
  /** Outcomes on their way whose apps are answered. */
  private readonly late = new Set<Promise<void>>();
  private readonly settledAfter: SettledAfter;

  constructor(
    private readonly prisma: PrismaService,
    processes: ProcessService,
    config: ConfigService<Loaded, true>,
  ) {
    const settings = config.get('settings', { infer: true });
    this.windows = guardWindows(settings);
    this.relaxed = settings.outcomes === 'relaxed';
    this.settledAfter = settledAfter(settings);
    const mine = (intent: NewIntent) => ({ ...intent, process: processes.number });
    const patience = { patienceMs: DATABASE_PATIENCE_MS };
    this.intents = new GroupCommit<NewIntent>(
      (batch) => insertIntents(prisma, batch.map(mine)),
      rowsOf,
      MAX_BATCH_ROWS,
      patience,
    );
    this.admissions = new GroupCommit<NewAdmission, Ruling>(
      (batch, again) => admit(prisma, processes.number, batch, this.windows, again),
      rowsOf,
      MAX_BATCH_ROWS,
      patience,
    );
    // Without such a limit: what the upstream has answered is written however long that takes.
    this.outcomes = new GroupCommit<NewOutcome>((batch) => insertOutcomes(prisma, batch), rowsOf, MAX_BATCH_ROWS);
    this.refusals = new RefusalWriter(prisma);
  }

  /** Resolves once the intent of a read is durable: only then may it be sent. */
  async open(intent: NewIntent): Promise<void> {
    await this.intents.add(intent);
  }

  /**
   * Decides about a call that pays or makes something. Resolves once what follows is durable: it may be sent only if it is
   * `released`, and then its key is claimed, its amount reserved and its intent recorded.
   * @throws DatabaseTooSlow if that takes too long. What was admitted after that is undone by the call's refusal (`refuse`).
   */
  async admit(asking: NewAdmission): Promise<Ruling> {
    return this.admissions.add(asking);
  }

  /** What `admit` would say now; nothing is claimed, reserved or recorded. */
  async dryRun(asking: Considered): Promise<DryRun> {
    return readForesight(this.prisma, asking, this.windows);
  }

  /** Which of the items the client has paid already within the last days. */
  async earlierPayments(clientId: string, items: { position: number; item: Item }[]): Promise<SamePayment[]> {
    const wanted = items.map((one) => ({ ...one, callId: NIL, clientId }));
    return readSamePayments(this.prisma, wanted, 'own', EARLIER_DAYS * 86_400_000);
  }

  /** What became of the call that another one repeats. */
  async firstCall(id: string): Promise<FirstCall | undefined> {
    return withPatience(readFirstCall(this.prisma, id, this.windows.inFlightSeconds));
  }

  /**
   * Resolves when the app may be answered: once the outcome is durable, or at once with OUTCOMES=relaxed. An outcome that
   * cannot be written even after a while is given up, which leaves its intent in doubt; so does a process that ends before.
   */
  async close(outcome: NewOutcome): Promise<void> {
    if (!this.relaxed) return this.write(outcome);
    const late = this.write(outcome)
      .catch((err: unknown) => {
        const { intentId, kind } = outcome;
        this.logger.error({ err, call_id: intentId, outcome: kind }, 'an outcome was given up; its call is in doubt');
      })
      .finally(() => this.late.delete(late));
    this.late.add(late);
  }

  /** Once the last app is answered: what was answered is recorded, too. */
  async onApplicationShutdown(): Promise<void> {
    await Promise.all(this.late);
  }

  private async write(outcome: NewOutcome): Promise<void> {
    const patienceEnds = performance.now() + OUTCOME_PATIENCE_MS;
    for (const wait of OUTCOME_RETRIES_MS) {
      try {
        return await this.outcomes.add(outcome);
      } catch (error) {
        if (performance.now() > patienceEnds) throw error; // whoever settles calls by hand counts on it
        this.logger.warn(
          { call_id: outcome.intentId, outcome: outcome.kind },
          'an outcome could not be written; again soon',
        );
        await sleep(wait);
      }
    }
    await this.outcomes.add(outcome);
  }

  /** Whether a stop holds now for a call whose intent is recorded. */
  async isStopped(callId: string): Promise<boolean> {
    return withPatience(isStopped(this.prisma, callId));
  }

  /** Resolves once the refusal is durable. */
  async refuse(refusal: NewRefusal): Promise<void> {
    await this.refusals.record(refusal);
  }

  /** Records a refusal whose app is about to be answered; waits for that for a moment only. @returns whether it is durable. */
  async refuseSoon(refusal: NewRefusal): Promise<boolean> {
    return this.refusals.recordSoon(refusal);
  }

  /** Resolves once the approval is durable: only then may the call be sent. */
  approve<Why>(
    decision: NewDecision,
    held: HeldCall,
    forbidden: (tx: Prisma.TransactionClient) => Promise<Why | undefined>,
  ) {
    return approve(this.prisma, decision, held, forbidden);
  }

  /** Resolves once the rejection is durable. @returns false if it was decided, or had expired, before. */
  async reject(decision: NewDecision): Promise<boolean> {
    return reject(this.prisma, decision);
  }

  /** Resolves once the resolution is durable. @returns whether it was written: false if another one holds by now. */
  async resolve(resolution: NewResolution): Promise<boolean> {
    return insertResolution(this.prisma, resolution, this.settledAfter);
  }

  /**
   * Resolves once what the upstream's lists say of a call in doubt is durable, and, unless it is ambiguous, the call settled.
   * @returns false if nothing was written: it is in doubt no more, or that was said before.
   */
  async judge(verdict: NewVerdict): Promise<boolean> {
    return insertVerdict(this.prisma, verdict, this.settledAfter);
  }

  /** Resolves once the upstream's event is durable. @returns false if it came before. */
  async noteEvent(event: NewUpstreamEvent): Promise<boolean> {
    return insertUpstreamEvent(this.prisma, event);
  }

  /** Resolves once the shape is durable. @returns whether it was not there before. */
  async noteShape(shape: NewShape): Promise<boolean> {
    return insertShape(this.prisma, shape);
  }

  /** The shapes of an operation that were noted so far, by any instance. */
  async shapesOf(operation: string): Promise<StoredShape[]> {
    return readShapes(this.prisma, operation);
  }
}

function rowsOf({ items, body }: { items: unknown[]; body: Buffer | null }): number {
  return 1 + items.length + (body?.length ?? 0) / BYTES_PER_ROW;
}
