import { Inject, Injectable, Logger } from '@nestjs/common';
import { Decimal } from 'decimal.js';
import { Counter } from 'prom-client';
import { HeartbeatService } from '../../continuity/heartbeat/heartbeat.service';
import { MetricsService } from '../../http/metrics/metrics.service';
import {
  configuredRules,
  FEE_OPERATIONS,
  FeeRule,
  feeOf,
  feesOf,
  ruleFor,
} from '../../operations/items/fees';
import {
  CallFee,
  CALLS_TO_LEARN,
  LearnedFee,
  ruleOfLearned,
  sizeOf,
} from '../../operations/items/learned-fees';
import { settlesItems } from '../../operations/lifecycle/settlement';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { accountsOf, MAIN_ACCOUNT } from '../../platform/config/upstream/upstream-accounts';
import { clock } from '../../platform/database/clock';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { AdmissionRequest } from '../../policy/admission';
import { CallFeeRow, ChargedFees, insertCallFees, NewCallFee, readChargedFees } from './call-fees';

/** An upstream that splits the fee of a batch rounds each part. */
const ROUNDING_USD = new Decimal('0.000002');

/** A fee charged by the upstream for a payout. */
export interface ChargedFee {
  amountUsd: Decimal | null;
  feeUsd: Decimal;
}

/** A call with the fees that the upstream charged for its payouts, and the rule of its reservation. */
export interface ChargedCall {
  id: string;
  account: string;
  operation: string;
  rule: FeeRule | null;
  fees: readonly ChargedFee[];
}

/** An operation of an account, with the fees that are expected of it: by a rule, or else the learned ones. */
export interface OperationFees {
  account: string;
  operation: string;
  rule: FeeRule | null;
  learned: LearnedFee[];
}

/** What an instance knows of the fees of an operation on a day. */
interface Learned {
  day: string;
  rule: FeeRule | null;
  /** The charged fees of the day. */
  known: CallFee[];
}

/**
 * Computes the fees that are reserved with payouts: the configured ones or, for an operation without any,
 * those that the upstream charged at least three calls in the last days. Every instance knows a fee, and
 * that it is to be forgotten, before its next admission, because no_conflict() of the migrations compares
 * the number of the newest row. See docs/internals/decisions/money/0064-fees-are-configured-or-learned-by-size.md.
 */
@Injectable()
export class ExpectedFees {
  private readonly logger = new Logger('Fees');
  private readonly configured: ReadonlyMap<string, ReadonlyMap<string, FeeRule>>;
  private readonly unexpected: Counter<'operation'>;
  private readonly charged = new ChargedFees();
  /** What was learned until today, by account and operation. */
  private readonly learned = new Map<string, Learned>();
  private newest = 0;
  /** Epoch of the database that numbered `known`. */
  private epoch: number | undefined;

  constructor(
    private readonly prisma: PrismaService,
    heartbeat: HeartbeatService,
    @Inject(SETTINGS) settings: RunningConfig,
    metrics: MetricsService,
  ) {
    this.configured = configuredRules(accountsOf(settings));
    this.unexpected = metrics.counter(
      'payout_proxy_unexpected_fees_total',
      'Fees of the upstream that were larger than the fee that was reserved, by operation. Set ' +
        'UPSTREAM_FEES.',
      ['operation'],
    );
    heartbeat.observe(({ epoch }) => {
      if (this.epoch !== undefined && this.epoch !== epoch) this.learnAnew();
      this.epoch = epoch;
    });
  }

  /** Number of the newest row that this process knows. */
  get known(): number {
    return this.newest;
  }

  /** Returns the rule to reserve with each payout of a call. Null if no fee is expected. */
  reservedWith({
    account,
    operation,
    usd,
    items,
  }: Pick<AdmissionRequest, 'account' | 'operation' | 'usd' | 'items'>): FeeRule | null {
    if (usd === null || !settlesItems(operation)) return null;
    const rule = this.configuredFor(account, operation) ?? this.learnedFor(account, operation).rule;
    return rule && ruleFor(items, rule);
  }

  /** Adds the fees to reserve to requests. */
  priced(requests: AdmissionRequest[]): AdmissionRequest[] {
    return requests.map((request) => {
      const feeUsd = feesOf(request.items, this.reservedWith(request));
      return feeUsd ? { ...request, feeUsd } : request;
    });
  }

  /** Adds fees from the database, and removes forgotten ones. */
  learn(rows: readonly CallFeeRow[]): void {
    for (const row of rows) {
      this.newest = Math.max(this.newest, row.number);
      this.charged.learn(row);
      this.learned.delete(`${row.account} ${row.operation}`);
    }
  }

  /**
   * Notes fees that the upstream has charged. Resolves once they are durable. They are expected from the next
   * admission on. If the write fails, the fees of later calls are learned.
   */
  async observe(calls: readonly ChargedCall[]): Promise<void> {
    for (const call of calls) for (const fee of call.fees) this.warn(call, fee);
    const unknown = calls.flatMap((call) => this.unknownOf(call));
    if (unknown.length === 0) return;
    try {
      await insertCallFees(this.prisma, unknown);
    } catch (err) {
      const operations = [...new Set(calls.map(({ operation }) => operation))];
      this.logger.error({ err, operations }, 'fees not recorded, the next ones will be');
    }
  }

  /** Returns the fees of a call to learn, one for each size: those that too few calls of the day had. */
  private unknownOf({ id, account, operation, fees }: ChargedCall): NewCallFee[] {
    if (!FEE_OPERATIONS.includes(operation) || this.configuredFor(account, operation)) return [];
    const { day, known } = this.learnedFor(account, operation);
    const unknown = largestBySize(fees).filter(({ sizeUsd, usd }) => {
      const same = known.filter((fee) => fee.sizeUsd.eq(sizeUsd) && fee.usd.plus(ROUNDING_USD).gte(usd));
      return same.length < CALLS_TO_LEARN;
    });
    return unknown.map((fee) => ({ account, operation, callId: id, day, ...fee }));
  }

  /** Returns the operations with fees, by account and name. */
  async list(): Promise<OperationFees[]> {
    const charged = await readChargedFees(this.prisma);
    const configured = [...this.configured].flatMap(([account, rules]) =>
      [...rules].map(([operation, rule]) => ({ account, operation, rule, learned: [] })),
    );
    const learned = charged.operations().flatMap(({ account, operation }) => {
      const fees = charged.learned(account, operation);
      const isExpected = fees.length > 0 && !this.configuredFor(account, operation);
      return isExpected ? [{ account, operation, rule: null, learned: fees }] : [];
    });
    const order = ({ account, operation }: OperationFees) => `${account} ${operation}`;
    return [...configured, ...learned].sort((one, other) => (order(one) < order(other) ? -1 : 1));
  }

  private configuredFor(account: string, operation: string): FeeRule | undefined {
    return (this.configured.get(account) ?? this.configured.get(MAIN_ACCOUNT))?.get(operation);
  }

  private learnedFor(account: string, operation: string): Learned {
    const [key, day] = [`${account} ${operation}`, clock.today()];
    const before = this.learned.get(key);
    if (before?.day === day) return before;
    const fees = this.charged.learned(account, operation);
    const known = this.charged.of(account, operation).filter((fee) => fee.day === day);
    const learned = { day, rule: fees.length === 0 ? null : ruleOfLearned(fees), known };
    this.learned.set(key, learned);
    return learned;
  }

  private warn({ operation, rule }: ChargedCall, { amountUsd, feeUsd }: ChargedFee): void {
    if (!amountUsd?.greaterThan(0)) return;
    const reservedUsd = rule ? feeOf(amountUsd, rule) : new Decimal(0);
    if (feeUsd.minus(reservedUsd).lte(ROUNDING_USD)) return;
    this.unexpected.inc({ operation });
    const amounts = { fee_usd: feeUsd.toFixed(), reserved_usd: reservedUsd.toFixed() };
    this.logger.warn({ operation, ...amounts }, 'fee is larger than the reserved one');
  }

  /** Rereads all fees after a recovery: a recovered database reuses the numbers of the rows that it lost. */
  private learnAnew(): void {
    this.newest = 0;
    this.charged.clear();
    this.learned.clear();
  }
}

/** Returns the largest fee of each size, at most the payout itself. Rounding is no fee. */
function largestBySize(fees: readonly ChargedFee[]): Pick<CallFee, 'sizeUsd' | 'usd'>[] {
  const bySize = new Map<string, Pick<CallFee, 'sizeUsd' | 'usd'>>();
  for (const { amountUsd, feeUsd } of fees) {
    const sizeUsd = amountUsd && sizeOf(amountUsd)?.fromUsd;
    if (!sizeUsd || feeUsd.lte(ROUNDING_USD)) continue;
    const usd = Decimal.min(feeUsd, amountUsd).toDecimalPlaces(6, Decimal.ROUND_DOWN);
    const known = bySize.get(sizeUsd.toFixed());
    if (!known?.usd.gte(usd)) bySize.set(sizeUsd.toFixed(), { sizeUsd, usd });
  }
  return [...bySize.values()];
}
