import { Inject, Injectable, Logger } from '@nestjs/common';
import { Decimal } from 'decimal.js';
import { Counter } from 'prom-client';
import { HeartbeatService } from '../../continuity/heartbeat/heartbeat.service';
import { MetricsService } from '../../http/metrics/metrics.service';
import { configuredRules, FeeRule, feeOf, feesOf, ruleFor } from '../../operations/items/fees';
import {
  CallFee,
  CALLS_TO_LEARN,
  LearnedFee,
  learnedFees,
  ruleOfLearned,
  sizeOf,
} from '../../operations/items/learned-fees';
import { settlesItems } from '../../operations/lifecycle/settlement';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { accountsOf, MAIN_ACCOUNT } from '../../platform/config/upstream/upstream-accounts';
import { clock } from '../../platform/database/clock';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { AdmissionRequest } from '../../policy/admission';
import { CallFeeRow, insertCallFees, readCallFees } from './call-fees';

/** Days for which a charged fee is expected again. */
const EXPECTED_DAYS = 30;

/** An upstream that splits the fee of a batch rounds each part. */
const ROUNDING_USD = new Decimal('0.000002');

/** A fee charged by the upstream for a payout. */
export interface ChargedFee {
  amountUsd: Decimal | null;
  feeUsd: Decimal;
}

/** The call of a charged fee, and the rule of its reservation. */
export interface ChargedCall {
  id: string;
  account: string;
  operation: string;
  rule: FeeRule | null;
}

/** An operation of an account, with the fees that are expected of it: by a rule, or else the learned ones. */
export interface OperationFees {
  account: string;
  operation: string;
  rule: FeeRule | null;
  learned: LearnedFee[];
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
  /** Learned rules and their day, by account and operation. */
  private readonly rules = new Map<string, { day: string; rule: FeeRule | null }>();
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
    const rule = this.configuredFor(account, operation) ?? this.learnedFor(account, operation);
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
      this.rules.delete(keyOf(row.account, row.operation));
    }
  }

  /**
   * Notes fees that the upstream has charged. Resolves once they are durable. They are expected from the next
   * admission on. If the write fails, the fees of later calls are learned.
   */
  async observe(call: ChargedCall, fees: readonly ChargedFee[]): Promise<void> {
    for (const fee of fees) this.warn(call, fee);
    const { id, account, operation } = call;
    if (this.configuredFor(account, operation)) return;
    const today = clock.today();
    const known = this.charged.of(account, operation).filter(({ day }) => day === today);
    const missing = largestBySize(fees).filter(({ sizeUsd, usd }) => {
      const same = known.filter((fee) => fee.sizeUsd.eq(sizeUsd) && fee.usd.plus(ROUNDING_USD).gte(usd));
      return same.length < CALLS_TO_LEARN;
    });
    if (missing.length === 0) return;
    try {
      await insertCallFees(this.prisma, { id, account, operation, day: today }, missing);
    } catch (err) {
      this.logger.error({ err, operation }, 'fee not recorded, the next one will be');
    }
  }

  /** Returns the operations with fees, by account and name. */
  async list(): Promise<OperationFees[]> {
    const charged = new ChargedFees();
    for (const row of await readCallFees(this.prisma)) charged.learn(row);
    const configured = [...this.configured].flatMap(([account, rules]) =>
      [...rules].map(([operation, rule]) => ({ account, operation, rule, learned: [] })),
    );
    const learned = charged.operations().flatMap(({ account, operation }) => {
      const fees = learnedFees(charged.of(account, operation));
      const isExpected = fees.length > 0 && !this.configuredFor(account, operation);
      return isExpected ? [{ account, operation, rule: null, learned: fees }] : [];
    });
    const order = ({ account, operation }: OperationFees) => `${account} ${operation}`;
    return [...configured, ...learned].sort((one, other) => (order(one) < order(other) ? -1 : 1));
  }

  private configuredFor(account: string, operation: string): FeeRule | undefined {
    return (this.configured.get(account) ?? this.configured.get(MAIN_ACCOUNT))?.get(operation);
  }

  private learnedFor(account: string, operation: string): FeeRule | null {
    const [key, day] = [keyOf(account, operation), clock.today()];
    const known = this.rules.get(key);
    if (known?.day === day) return known.rule;
    const fees = learnedFees(this.charged.of(account, operation));
    const rule = fees.length === 0 ? null : ruleOfLearned(fees);
    this.rules.set(key, { day, rule });
    return rule;
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
    this.rules.clear();
  }
}

/** The charged fees of the last days that a process knows. */
class ChargedFees {
  /** By account and operation, then by size and call. */
  private readonly fees = new Map<string, Map<string, CallFee>>();

  learn({ account, operation, callId, size, day, usd, forgotten }: CallFeeRow): void {
    const key = keyOf(account, operation);
    const fees = this.fees.get(key) ?? new Map<string, CallFee>();
    if (forgotten) fees.delete(`${size} ${callId}`);
    else fees.set(`${size} ${callId}`, { callId, sizeUsd: new Decimal(size), usd: new Decimal(usd), day });
    this.fees.set(key, fees);
  }

  of(account: string, operation: string): CallFee[] {
    const oldest = clock.daysAgo(EXPECTED_DAYS);
    return [...(this.fees.get(keyOf(account, operation))?.values() ?? [])].filter(({ day }) => day >= oldest);
  }

  operations(): { account: string; operation: string }[] {
    return [...this.fees.keys()].map((key) => {
      const [account = '', operation = ''] = key.split('\n');
      return { account, operation };
    });
  }

  clear(): void {
    this.fees.clear();
  }
}

function keyOf(account: string, operation: string): string {
  return `${account}\n${operation}`;
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
