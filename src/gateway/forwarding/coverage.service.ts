import { Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { setTimeout as sleep } from 'node:timers/promises';
import { Call, causedBy } from '../../access/auth/call';
import { Loaded } from '../../platform/config/config.module';
import { Problem } from '../../platform/errors/problem';
import { Coverage } from '../../journal/records';
import { Item } from '../../operations/item';
import { MetricsService } from '../../http/metrics/metrics.service';
import { parseJson } from '../upstream/answer';
import { Outgoing } from '../upstream/upstream.service';
import { AnswerCache } from './answer-cache';
import { Served } from './coverage';
import { ExchangeService } from './exchange.service';
import { pointerIn } from '../../operations/items';
import { OperationName, rowOf } from '../../operations/catalogue';
import { CoverageList } from '../../operations/row';
import { toOutgoing } from './outgoing';

/** A payout does not wait longer for a list: without one it goes out unchecked. */
const PATIENCE_MS = 3_000;

/** A list that could not be had is asked for again no sooner, and nobody waits for it until it was had again. */
const RETRY_AFTER_MS = 5_000;

/** How each list is asked for, and read. */
const LISTS: Record<CoverageList, { outgoing: Outgoing; read: (envelope: unknown) => Served | undefined }> = {
  'GET /info/airtime-countries': {
    outgoing: toOutgoing('GET /info/airtime-countries', undefined),
    read: (envelope) => Served.airtime(envelope),
  },
  'GET /info/mobile-money-codes': {
    outgoing: toOutgoing('GET /info/mobile-money-codes', undefined),
    read: (envelope) => Served.mobileMoney(envelope),
  },
};

/** Refuses payouts to countries and networks that the upstream does not serve, before money moves. */
@Injectable()
export class CoverageService implements OnApplicationShutdown {
  private readonly logger = new Logger('Coverage');
  private readonly enabled: boolean;
  private readonly asking = new Map<CoverageList, Promise<Served | undefined>>();
  private readonly unfinished = new Set<Promise<unknown>>();
  /** Lists that could not be had, and when they may be asked for again, on the monotonic clock. */
  private readonly missing = new Map<CoverageList, number>();
  /** Read once for each answer, which serves many calls. */
  private readonly readings = new WeakMap<Buffer, Served | false>();

  constructor(
    private readonly exchanges: ExchangeService,
    private readonly cache: AnswerCache,
    private readonly metrics: MetricsService,
    config: ConfigService<Loaded, true>,
  ) {
    this.enabled = config.get('settings', { infer: true }).checkCoverage;
  }

  /**
   * @returns null where there is nothing to look up, `unchecked` where the list could not be had.
   * @throws Problem `not_served` that names the items and the valid values.
   */
  async check(call: Call, items: Item[]): Promise<Coverage | null> {
    const served = await this.listFor(call);
    if (!(served instanceof Served)) return served;
    const faults = served.faultsIn(items, pointerIn(call.operation as OperationName));
    if (faults.length > 0) throw new Problem('not_served', { faults });
    return 'checked';
  }

  /** Where an operation's items may go; null where that is not said, `unchecked` where the list could not be had. */
  async listFor(call: Call): Promise<Served | 'unchecked' | null> {
    const row = rowOf(call.operation as OperationName);
    if (row.effect === 'read' || row.coverage === 'none') return null;
    return (this.enabled ? await this.served(call, row.coverage) : undefined) ?? 'unchecked';
  }

  /** A question that outlived its payout is finished and recorded. */
  async onApplicationShutdown(): Promise<void> {
    await Promise.all(this.unfinished);
  }

  private async served(call: Call, list: CoverageList): Promise<Served | undefined> {
    const kept = this.cache.peek(LISTS[list].outgoing.path);
    if (kept) return this.read(kept, list);
    const retryAt = this.missing.get(list);
    if (retryAt !== undefined && performance.now() < retryAt) return undefined;
    const asking = this.asking.get(list) ?? this.ask(call, list);
    this.asking.set(list, asking);
    return retryAt === undefined ? asking : undefined;
  }

  /** One question for all payouts that need the list meanwhile; none of them waits for longer than its patience. */
  private async ask(call: Call, list: CoverageList): Promise<Served | undefined> {
    const answer = this.fetch(call, list);
    this.unfinished.add(answer);
    void answer.finally(() => this.unfinished.delete(answer));
    const stop = new AbortController();
    const patience = sleep(PATIENCE_MS, undefined, { signal: stop.signal }).catch(() => undefined);
    const served = await Promise.race([answer, patience]);
    stop.abort();
    this.asking.delete(list);
    if (served) {
      this.missing.delete(list);
    } else {
      this.missing.set(list, performance.now() + RETRY_AFTER_MS);
      const line = { call_id: call.id, operation: list };
      this.logger.warn(line, 'a list could not be had; payouts go out unchecked until it can');
    }
    return served;
  }

  /** A call of our own, recorded like all else. Its answer is kept also when it comes too late for those who asked. */
  private async fetch(cause: Call, list: CoverageList): Promise<Served | undefined> {
    const call = causedBy(cause, list);
    const request = { outgoing: LISTS[list].outgoing, items: [], coverage: null };
    try {
      const { answer } = await this.exchanges.read(call, request);
      return answer.kind === 'succeeded' ? this.read(answer.body, list) : undefined;
    } catch (err) {
      this.logger.warn({ call_id: call.id, operation: list, err }, 'a list was not asked for, or not recorded');
      return undefined;
    } finally {
      this.metrics.count(call);
    }
  }

  private read(body: Buffer, list: CoverageList): Served | undefined {
    const known = this.readings.get(body) ?? LISTS[list].read(parseJson(body)) ?? false;
    this.readings.set(body, known);
    return known || undefined;
  }
}
