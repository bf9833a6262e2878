import { setTimeout as sleep } from 'node:timers/promises';
import {
  BeforeApplicationShutdown,
  Injectable,
  Logger,
  OnApplicationBootstrap,
  OnModuleDestroy,
} from '@nestjs/common';
import { ProcessService } from '../../continuity/fence/process.service';
import { claimExpired, claimQueued, queuedClients, QueueShare } from '../../journal/queue/queue';
import { CHANGING_OPERATIONS } from '../../operations/items/effects';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { LoadShedderService } from '../admission-control/load-shedder.service';
import { Permit } from '../admission-control/permit';
import { QueueService } from '../forwarding/queue.service';
import { MayPay } from '../may-pay/may-pay.service';
import { UpstreamAccount } from '../upstream/upstream-account';
import { UpstreamService } from '../upstream/upstream.service';
import { BatchRelease } from './batch-release';

/** Interval between looks into the queue for calls of other instances, in ms. */
const POLL_MS = 1_000;

/** Pause between batches. Meanwhile, more places become free, and the next batch is larger. */
const PAUSE_MS = 25;

/** Pause between single calls while the upstream takes none, in ms. Each of them ends as not sent. */
const UNREACHABLE_MS = 1_000;

/** Longest wait for a place while requests use all of them, in ms. */
const NO_ROOM_MS = 100;

const EXPIRED_AT_ONCE = 100;

/** A batch for one account: what each client gets, and the places to send it. */
interface Batch {
  shares: QueueShare[];
  permits: Permit[];
}

/**
 * Sends queued calls when the upstream has room for them. Every instance takes the oldest calls of each
 * client in turn. Requests of apps come first. See docs/internals/decisions/money/0070-queued-calls.md.
 */
@Injectable()
export class Dispatcher implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown {
  private readonly logger = new Logger('Queue');
  /** The clients of each account, the one longest without a turn first. */
  private readonly turns = new Map<string, string[]>();
  private readonly stopping = new AbortController();
  private loops: Promise<void>[] = [];
  private isFailing = false;

  constructor(
    private readonly prisma: PrismaService,
    private readonly process: ProcessService,
    private readonly queue: QueueService,
    private readonly batches: BatchRelease,
    private readonly shedder: LoadShedderService,
    private readonly upstream: UpstreamService,
    private readonly mayPay: MayPay,
  ) {}

  onApplicationBootstrap(): void {
    this.loops = this.upstream.all().map((account) => this.run(account));
  }

  /** Takes no more calls. */
  onModuleDestroy(): void {
    this.stopping.abort();
  }

  /** Records the answers of the calls in flight. */
  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all(this.loops);
    await this.batches.idle();
  }

  private async run(account: UpstreamAccount): Promise<void> {
    const { signal } = this.stopping;
    let idle = new AbortController();
    const wake = () => idle.abort();
    signal.addEventListener('abort', wake);
    this.queue.onOpened(wake);
    while (!signal.aborted) {
      idle = new AbortController(); // before the round, which may miss a call that is opened meanwhile
      const pauseMs = await this.round(account).catch((err: unknown) => this.failed(err));
      const end = pauseMs === POLL_MS ? idle.signal : signal;
      await sleep(pauseMs, undefined, { signal: end, ref: false }).catch(() => undefined);
    }
  }

  private failed(err: unknown): number {
    if (!this.isFailing) this.logger.warn({ err }, 'the queue cannot be read or written, will retry');
    this.isFailing = true;
    return POLL_MS;
  }

  /** Takes one batch. @returns the time until the next, in ms. */
  private async round(account: UpstreamAccount): Promise<number> {
    if (this.process.number === 0 || this.mayPay.obstacleTo('send')) return POLL_MS;
    await this.batches.reopen();
    const clients = await queuedClients(this.prisma, account.name);
    this.isFailing = false;
    if (clients.length === 0) return POLL_MS;
    const expired = await claimExpired(this.prisma, this.process.number, EXPIRED_AT_ONCE);
    if (expired.length > 0) await this.batches.run(account, expired, []);
    const open = await this.openShares(account, clients);
    const isUnreachable = this.batches.isUnreachable(account);
    const batch = this.newBatch(account.name, open, isUnreachable ? 1 : Infinity);
    if (batch.permits.length === 0) return open.length === 0 ? POLL_MS : NO_ROOM_MS;
    try {
      const ids = await claimQueued(
        this.prisma,
        this.process.number,
        account.name,
        batch.shares,
        this.batches.postponed,
      );
      if (ids.length === 0) return POLL_MS;
      await this.batches.run(account, ids, batch.permits);
      return isUnreachable ? UNREACHABLE_MS : PAUSE_MS;
    } finally {
      for (const permit of batch.permits) permit.release();
    }
  }

  /** Returns the clients whose calls may be sent now, each without the operations that may not. */
  private async openShares(account: UpstreamAccount, clients: string[]): Promise<QueueShare[]> {
    const withheld = await this.mayPay.withheld(clients, account, CHANGING_OPERATIONS);
    return clients.flatMap((clientId) => {
      const without = withheld.get(clientId) ?? [];
      return without.length === CHANGING_OPERATIONS.length ? [] : [{ clientId, atMost: 0, without }];
    });
  }

  /** Gives free places to the clients in turn, one by one. */
  private newBatch(account: string, open: QueueShare[], most: number): Batch {
    const shares = new Map(open.map((share) => [share.clientId, share]));
    const known = this.turns.get(account) ?? [];
    const turns = [...new Set([...known, ...shares.keys()])].filter((client) => shares.has(client));
    const permits: Permit[] = [];
    for (let left = turns; left.length > 0;) {
      left = left.filter((client) => {
        const permit = permits.length < most ? this.shedder.enterFromQueue(account, client) : undefined;
        if (permit) permits.push(permit);
        if (permit) shares.get(client)!.atMost += 1;
        return permit !== undefined;
      });
    }
    const had = (client: string) => shares.get(client)!.atMost > 0;
    this.turns.set(account, [...turns.filter((client) => !had(client)), ...turns.filter(had)]);
    return { shares: open.filter(({ atMost }) => atMost > 0), permits };
  }
}
