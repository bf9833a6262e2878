import { Inject, Injectable, Logger } from '@nestjs/common';
import { OperationCall } from '../../../access/auth/call';
import { Coverage } from '../../../journal/records/records';
import { rowOf } from '../../../operations/catalogue/catalogue';
import { CoverageList } from '../../../operations/catalogue/row';
import { Item } from '../../../operations/items/item';
import { pointerIn } from '../../../operations/items/items';
import { RunningConfig, SETTINGS } from '../../../platform/config/config';
import { waitAtMost } from '../../../platform/database/pools/timeouts';
import { Problem } from '../../../platform/errors/problem';
import { parseJson } from '../../upstream/answers/answer';
import { toOutgoing } from '../../upstream/transport/outgoing';
import { UpstreamService } from '../../upstream/upstream.service';
import { InternalReadsService } from '../ownership/internal-reads.service';
import { AnswerCache, answerKey } from './answer-cache';
import { Destinations } from './destinations';

/** Longest wait of a payout for a list, in ms. After it, the payout is sent unchecked. */
const TIMEOUT_MS = 3_000;

/** Pause between two attempts to read a failed list, in ms. No payout waits meanwhile. */
const RETRY_AFTER_MS = 5_000;

/** The reader of each list. */
const LISTS: Record<CoverageList, (envelope: unknown) => Destinations | undefined> = {
  'GET /info/airtime-countries': (envelope) => Destinations.airtime(envelope),
  'GET /info/mobile-money-codes': (envelope) => Destinations.mobileMoney(envelope),
};

/** Rejects payouts to countries and networks that the upstream does not serve, before money moves. */
@Injectable()
export class CoverageService {
  private readonly logger = new Logger('Coverage');
  private readonly pending = new Map<string, Promise<Destinations | undefined>>();
  /** The lists that could not be read, and the time of the next attempt, on the monotonic clock. */
  private readonly missing = new Map<string, number>();
  /** By account and list. */
  private readonly keys = new Map<string, string>();
  /** Each answer is parsed once for many calls. */
  private readonly parsed = new WeakMap<Buffer, Destinations | false>();

  constructor(
    private readonly reads: InternalReadsService,
    private readonly cache: AnswerCache,
    private readonly upstream: UpstreamService,
    @Inject(SETTINGS) private readonly settings: RunningConfig,
  ) {}

  /**
   * Checks the destinations of a request.
   * @returns null for an operation without a list, `unchecked` if the list could not be read.
   * @throws Problem `not_served` with the items and the valid values.
   */
  async check(call: OperationCall, items: Item[]): Promise<Coverage | null> {
    const served = await this.listFor(call);
    if (!(served instanceof Destinations)) return served;
    const faults = served.faultsIn(items, pointerIn(call.operation));
    if (faults.length > 0) throw new Problem('not_served', { faults });
    return 'checked';
  }

  /** Returns the destinations of an operation. Null without a list, `unchecked` if the list is unreadable. */
  async listFor(call: OperationCall): Promise<Destinations | 'unchecked' | null> {
    const row = rowOf(call.operation);
    if (row.effect === 'read' || row.coverage === 'none') return null;
    if (!this.settings.checkCoverage) return 'unchecked';
    const kept = this.cache.peek(this.keyOf(call, row.coverage));
    const served = kept ? this.parse(kept, row.coverage) : await this.fetchList(call, row.coverage);
    return served ?? 'unchecked';
  }

  private async fetchList(call: OperationCall, list: CoverageList): Promise<Destinations | undefined> {
    const key = this.keyOf(call, list);
    const retryAt = this.missing.get(key);
    if (retryAt !== undefined && performance.now() < retryAt) return undefined;
    const answer = this.pending.get(key) ?? this.requestList(call, list, key);
    this.pending.set(key, answer);
    return retryAt === undefined ? answer : undefined;
  }

  /** Requests a list once for all waiting payouts. Each waits for a limited time. A late answer is cached. */
  private async requestList(
    call: OperationCall,
    list: CoverageList,
    key: string,
  ): Promise<Destinations | undefined> {
    const body = await waitAtMost(this.reads.read(call, list), TIMEOUT_MS);
    const served = body && this.parse(body, list);
    this.pending.delete(key);
    if (served) {
      this.missing.delete(key);
    } else {
      this.missing.set(key, performance.now() + RETRY_AFTER_MS);
      const line = { call_id: call.id, operation: list };
      this.logger.warn(line, 'coverage list not available, payouts are sent unchecked');
    }
    return served;
  }

  /** Returns the cache key of a list, the same for every payout of an account. */
  private keyOf({ caller: { account } }: OperationCall, list: CoverageList): string {
    const name = `${account} ${list}`;
    const known = this.keys.get(name);
    if (known !== undefined) return known;
    const key = answerKey(toOutgoing(this.upstream.of(account), list, undefined));
    this.keys.set(name, key);
    return key;
  }

  private parse(body: Buffer, list: CoverageList): Destinations | undefined {
    const known = this.parsed.get(body) ?? LISTS[list](parseJson(body)) ?? false;
    this.parsed.set(body, known);
    return known || undefined;
  }
}
