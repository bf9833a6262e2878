import { Injectable } from '@nestjs/common';
import { Counter } from 'prom-client';
import { runInTurns, TaskRunner } from '../../platform/cooperative-task';
import { Problem } from '../../platform/errors/problem';
import { MetricsService } from '../metrics/metrics.service';
import { EndTurn, FairQueue } from './fair-queue';
import { LONGEST_WAIT_MS, Quota, QuotaName, QUOTAS } from './quotas';

/** Interval in which one refusal of a key is recorded, so that a flood cannot fill the records. */
const RECORDED_EVERY_MS = 60_000;

/** Time after a payment in which more are expected, in ms. */
const PAYING_FOR_MS = 1_000;

/** Rest of heavy work, as a multiple of its working time. It then has a sixth of the time (decision 0042). */
const RESTS_PER_TURN = 5;

/** Longest rest. Much shorter than a search waits for its turn, so that each search gets one. */
const LONGEST_REST_MS = 3_000;

/** Above this size, the map is cleared. */
const MAX_REMEMBERED = 10_000;

/** Limits the concurrent work of one key. Counts on this instance only. */
@Injectable()
export class QuotasService {
  private readonly ofAll = new Map<QuotaName, number>();
  /** By quota and key. */
  private readonly ofKeys = new Map<string, number>();
  private readonly queues = new Map<QuotaName, FairQueue>();
  /** When a refusal of a key was last recorded, by quota and key. Monotonic. */
  private readonly recordedAt = new Map<string, number>();
  /** When a payment last arrived. Monotonic. */
  private paidAt = -Infinity;
  private readonly refused: Counter<'quota'>;

  constructor(metrics: MetricsService) {
    for (const [name, quota] of quotas) {
      if (quota.atWork === undefined) continue;
      this.queues.set(
        name,
        new FairQueue(quota.atWork, quota.rests ? (workedMs) => this.restFor(workedMs) : undefined),
      );
    }
    this.refused = metrics.counter(
      'payout_proxy_quota_refusals_total',
      'Requests refused because a key, or all keys, had too many of a kind at once.',
      ['quota'],
    );
    const watch = (name: string, help: string, valueOf: (quota: QuotaName) => number) => {
      const measure = () => quotas.map(([quota]) => ({ labels: { quota }, value: valueOf(quota) }));
      metrics.watch(name, help, measure, ['quota']);
    };
    watch(
      'payout_proxy_quota_in_use',
      'Requests of a kind that are in progress or wait for their turn.',
      (name) => this.inUse(name),
    );
    watch(
      'payout_proxy_quota_waiting',
      'Requests of a kind that wait for their turn.',
      (name) => this.queues.get(name)?.length ?? 0,
    );
  }

  /**
   * Takes a slot.
   * @returns a function that gives it back.
   * @throws Problem `too_many_at_once` if the key uses all of its slots, `readers_busy` if all are taken.
   */
  take(name: QuotaName, keyId: string): () => void {
    const quota: Quota = QUOTAS[name];
    const slot = `${name} ${keyId}`;
    const [all, own] = [this.inUse(name), this.ofKeys.get(slot) ?? 0];
    if (own >= quota.ofKey) {
      const text =
        `Your key has ${quota.ofKey} concurrent ${quota.name} on this instance, the maximum. Wait for one ` +
        'to end, and try again.';
      throw this.refusal(
        name,
        slot,
        new Problem('too_many_at_once', {
          text,
          retryAfter: quota.retryAfter,
          recorded: this.isFirst(slot),
        }),
      );
    }
    if (all >= (quota.ofAll ?? Infinity)) throw this.refusal(name, slot, this.busy(quota, slot));
    this.ofAll.set(name, all + 1);
    this.ofKeys.set(slot, own + 1);
    let isGiven = false;
    return () => {
      if (isGiven) return;
      isGiven = true;
      this.ofAll.set(name, this.inUse(name) - 1);
      const left = (this.ofKeys.get(slot) ?? 1) - 1;
      if (left === 0) this.ofKeys.delete(slot);
      else this.ofKeys.set(slot, left);
    };
  }

  /**
   * Takes a slot, and waits for a turn.
   * @param gone aborted when the caller hangs up.
   * @throws Problem as `take` does, and if the turn does not come in time. CallerDisconnected.
   */
  async takeTurn(name: QuotaName, keyId: string, gone: AbortSignal): Promise<EndTurn> {
    const give = this.take(name, keyId);
    try {
      const signal = AbortSignal.any([gone, AbortSignal.timeout(LONGEST_WAIT_MS)]);
      const end = await this.turn(name, keyId, signal);
      return (how) => {
        end(how);
        give();
      };
    } catch {
      give();
      gone.throwIfAborted();
      throw this.refusal(name, `${name} ${keyId}`, this.busy(QUOTAS[name], `${name} ${keyId}`));
    }
  }

  /** Waits for a turn, for as long as that takes. @throws the reason of the signal. */
  async turn(name: QuotaName, keyId: string, signal?: AbortSignal): Promise<EndTurn> {
    return (await this.queues.get(name)?.turn(keyId, signal)) ?? (() => undefined);
  }

  /** Returns the number of requests in progress or waiting, of all keys. */
  inUse(name: QuotaName): number {
    return this.ofAll.get(name) ?? 0;
  }

  /** Notes the arrival of a payment. While payments arrive, heavy work gets a sixth of the time. */
  notePayment(): void {
    this.paidAt = performance.now();
  }

  /** Whether payments arrive. */
  get isPaying(): boolean {
    return performance.now() - this.paidAt < PAYING_FOR_MS;
  }

  /**
   * Returns the runner of a request's work in steps. If its turns are followed by a rest, it rests after each
   * step, too. A payment needs the event loop some ten times, and would otherwise wait for a step each time.
   */
  paceOf(call: { restedMs?: number }): TaskRunner {
    if (call.restedMs === undefined) return runInTurns;
    return (work) =>
      runInTurns(work, (workedMs) => {
        const restMs = this.restFor(workedMs);
        call.restedMs = (call.restedMs ?? 0) + restMs;
        return restMs;
      });
  }

  /** Returns the rest of heavy work after work of this length. */
  private restFor(workedMs: number): number {
    return this.isPaying ? Math.min(RESTS_PER_TURN * workedMs, LONGEST_REST_MS) : 0;
  }

  private busy(quota: Quota, slot: string): Problem {
    const text = `This instance has too many concurrent ${quota.name}. Try again later.`;
    return new Problem('readers_busy', { text, retryAfter: quota.retryAfter, recorded: this.isFirst(slot) });
  }

  private refusal(name: QuotaName, slot: string, problem: Problem): Problem {
    this.refused.inc({ quota: name });
    if (problem.recorded) this.recordedAt.set(slot, performance.now());
    return problem;
  }

  private isFirst(slot: string): boolean {
    if (this.recordedAt.size >= MAX_REMEMBERED) this.recordedAt.clear();
    return performance.now() - (this.recordedAt.get(slot) ?? -Infinity) > RECORDED_EVERY_MS;
  }
}

const quotas = Object.entries(QUOTAS) as [QuotaName, Quota][];
