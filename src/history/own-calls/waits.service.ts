import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, OnModuleDestroy, Inject } from '@nestjs/common';
import { AuthenticatedCall, holderOf } from '../../access/auth/call';
import { CredentialRecheckService } from '../../access/auth/credential-recheck.service';
import { endOf } from '../../access/callers/caller';
import { QuotasService } from '../../http/quotas/quotas.service';
import { OPEN } from '../../operations/lifecycle/lifecycle';
import { callsWith, STATE_COLUMNS, stateNowSql } from '../../operations/lifecycle/lifecycle-sql';
import { NEXT_STEPS, NextStep } from '../../operations/lifecycle/settlement';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { givenUpAfterMs } from '../../platform/config/upstream/upstream-timeouts';
import { Prisma } from '../../platform/database/generated/client';
import { ReaderPrisma } from '../../platform/database/pools/reader-prisma';
import { Problem } from '../../platform/errors/problem';
import { FullCallRecord } from '../records/record.dto';

/** Interval between polls of the versions of calls, in ms. */
const POLL_MS = 500;

/** Interval while payments need the database. */
const POLL_MS_WHILE_PAYING = 2_000;

/** One query for all requests before its start. */
interface Poll {
  ids: Set<string>;
  versions: Promise<Map<string, string>>;
}

/**
 * Polls the versions of calls. A version changes with the state of the call, and with each of its
 * settlements. All waiting requests share one short query. Without them, nothing is polled.
 */
@Injectable()
export class CallVersionsService {
  private next: Poll | undefined;

  constructor(
    private readonly prisma: ReaderPrisma,
    private readonly quotas: QuotasService,
    @Inject(SETTINGS) private readonly settings: RunningConfig,
  ) {}

  /** Returns the version of a call at the next poll. Undefined if the database does not answer. */
  async poll(id: string): Promise<string | undefined> {
    this.next ??= this.newPoll();
    this.next.ids.add(id);
    return (await this.next.versions).get(id);
  }

  private newPoll(): Poll {
    const ids = new Set<string>();
    const versions = sleep(this.quotas.isPaying ? POLL_MS_WHILE_PAYING : POLL_MS).then(() => {
      this.next = undefined;
      // A brief outage of the database must not fail waiting requests.
      return this.read([...ids]).catch(() => new Map<string, string>());
    });
    return { ids, versions };
  }

  private async read(ids: string[]): Promise<Map<string, string>> {
    const rows = await this.prisma.readLong<{ id: string; version: string }>(Prisma.sql`
      SELECT id::text, ${stateNowSql(givenUpAfterMs(this.settings))} || ' ' || settlements AS version
      FROM (SELECT i.id, ${STATE_COLUMNS}, coalesce(s.number, 0) AS settlements
        FROM ${callsWith(ids)}) AS call`);
    return new Map(rows.map(({ id, version }) => [id, version]));
  }
}

/** Returns the version of a shown call. */
function versionOf({ outcome, settlements }: FullCallRecord): string {
  return `${outcome} ${settlements.length}`;
}

const NO_LONGER_ALLOWED =
  'Your key or session was revoked, or its rights have changed, while this request waited. Send it again ' +
  'with a valid key.';

/** Next steps of payouts that may change without a request. */
const CHANGING_STEPS: readonly (NextStep | null)[] = [NEXT_STEPS.held, NEXT_STEPS.reserved];

/** State of a call when the wait began. */
interface CallSnapshot {
  id: string;
  version: string;
  states: string;
}

/** Lets apps wait for changes of their calls. A waiting request holds no database connection. */
@Injectable()
export class WaitsService implements OnModuleDestroy {
  private readonly stopping = new AbortController();

  constructor(
    private readonly versions: CallVersionsService,
    private readonly rechecks: CredentialRecheckService,
    private readonly quotas: QuotasService,
  ) {}

  /**
   * Returns a call once it has changed, if it may still change without a request. After some seconds, or at a
   * shutdown, returns the call as it is.
   * @param read reads the call.
   * @param gone aborted when the caller has left.
   * @throws Problem if the key has too many waiting requests, or is revoked. The reason of `gone`.
   */
  async changeOf(
    call: AuthenticatedCall,
    { seconds, gone }: { seconds: number; gone: AbortSignal },
    read: () => Promise<FullCallRecord>,
  ): Promise<FullCallRecord> {
    const record = await read();
    if (isSettled(record) || seconds === 0) return record;
    const seen = { id: record.id, version: versionOf(record), states: statesOf(record) };
    // Not awaited, because an await would retain the record, which may be large.
    return this.wait(call, seen, { seconds, gone }, read);
  }

  /** Ends all waits. Their callers repeat the request, which reaches another instance. */
  onModuleDestroy(): void {
    this.stopping.abort();
  }

  private async wait(
    call: AuthenticatedCall,
    seen: CallSnapshot,
    { seconds, gone }: { seconds: number; gone: AbortSignal },
    read: () => Promise<FullCallRecord>,
  ): Promise<FullCallRecord> {
    const release = this.quotas.take('waits', holderOf(call));
    try {
      const signal = AbortSignal.any([this.stopping.signal, gone, AbortSignal.timeout(seconds * 1_000)]);
      const changed = await this.change(
        requireValidCredential(call, this.rechecks.watch(call)),
        seen,
        read,
        signal,
      );
      gone.throwIfAborted();
      return changed ?? (await read());
    } finally {
      release();
    }
  }

  /** @returns undefined once the signal is aborted. */
  private async change(
    requireValidCredential: () => Promise<void>,
    { id, version: first, states }: CallSnapshot,
    read: () => Promise<FullCallRecord>,
    signal: AbortSignal,
  ): Promise<FullCallRecord | undefined> {
    const ended = aborted(signal);
    for (let known = first; ;) {
      const version = await Promise.race([this.versions.poll(id), ended]);
      if (signal.aborted) return undefined;
      await requireValidCredential();
      if (version === undefined || version === known) continue;
      known = version;
      const record = await read();
      if (isSettled(record) || statesOf(record) !== states) return record;
    }
  }
}

function requireValidCredential(
  { caller }: AuthenticatedCall,
  holds: () => Promise<boolean>,
): () => Promise<void> {
  return async () => {
    if (!(await holds())) throw new Problem(endOf(caller), { text: NO_LONGER_ALLOWED });
  };
}

/** Resolves once a signal is aborted. */
function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
}

/** Returns whether a call will not change without a request. */
function isSettled({ outcome, items }: FullCallRecord): boolean {
  return !OPEN.includes(outcome) && !items.some(({ next }) => CHANGING_STEPS.includes(next));
}

/** Returns the state of a call and of each of its payouts. */
function statesOf({ outcome, items }: FullCallRecord): string {
  return [outcome, ...items.map(({ state }) => state)].join();
}
