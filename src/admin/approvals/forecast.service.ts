import { Injectable } from '@nestjs/common';
import { Decimal } from 'decimal.js';
import { recordedOwner } from '../../access/auth/owner';
import { Caller } from '../../access/callers/caller';
import { forecastOf, obstacleProblem } from '../../gateway/may-pay/obstacle-problem';
import { BrokenRule } from '../../gateway/may-pay/obstacles';
import { brokenRule, registerRulesOf } from '../../gateway/waiting/broken-rule';
import { readRecordedItems } from '../../gateway/waiting/recorded-items';
import { readRequesters } from '../../gateway/waiting/requesters';
import { CallRecord, RecordApproval } from '../../history/records/record.dto';
import { readRegister, recipientsOf } from '../../journal/admission/recipients';
import { TransactionOwners } from '../../journal/lookups/transaction-owners';
import { namedObjectOf, OperationName, operationNamed } from '../../operations/catalogue/catalogue';
import { Item } from '../../operations/items/item';
import { SidePrisma } from '../../platform/database/pools/side-prisma';
import { Problem } from '../../platform/errors/problem';
import { PayerUsage, SpendingService } from '../../policy/spending.service';
import { CapDto, toCap, toUsage, UsageDto } from '../limits/cap';
import { CapAfterDto, CapsAfterDto, NotAllowedDto } from './approvals.dto';

/** Returns the error for deciding a call that is no longer pending. */
export function notPending(status: RecordApproval['status'] | undefined): Problem {
  return obstacleProblem({ kind: status === 'expired' ? 'expired' : 'decided' }, 'approver');
}

/**
 * Throws the error of a failed decision. The commit may have succeeded despite the failure. Then the call is
 * approved and in doubt, but was not sent.
 */
export function decisionFailed(cause: unknown): never {
  const text =
    'The database of the proxy failed during the decision. Nothing was sent. Read the approval again ' +
    'before you decide.';
  throw new Problem('database_unavailable', { text, cause });
}

/** Effect of an approval now. Both fields are null for a decided or expired call. */
interface Forecast {
  caps: CapsAfterDto | null;
  not_allowed: NotAllowedDto | null;
}

/** Forecasts approvals: their effect on the requester's caps, and whether the call is still allowed. */
@Injectable()
export class ForecastService {
  constructor(
    private readonly prisma: SidePrisma,
    private readonly spending: SpendingService,
  ) {}

  /**
   * Forecasts each call independently, because held calls reserve nothing. The total of a payment counts, as
   * in `approveHeldCall` of the journal.
   */
  async forecast<Call extends CallRecord>(calls: Call[]): Promise<(Call & Forecast)[]> {
    const pending = calls.filter(isPending);
    if (pending.length === 0) return calls.map((call) => ({ ...call, caps: null, not_allowed: null }));
    const [usages, payers, broken] = await Promise.all([
      this.usages(pending),
      this.spending.ofPayers([...new Set(pending.flatMap(payersOf))]),
      this.brokenRules(pending),
    ]);
    return calls.map((call) => {
      const usage = isPending(call) && usages.get(call.client.id);
      const rule = broken.get(call.id);
      const [person, key] = [payers.get(call.person_id ?? ''), payers.get(call.ephemeral_key_id ?? '')];
      return {
        ...call,
        caps: usage ? capsAfter({ client: usage, person, key }, reservedBy(call)) : null,
        not_allowed: rule ? forecastOf(rule, operationNamed(call.operation)) : null,
      };
    });
  }

  /** Reads the usage of the clients by ID. */
  private async usages(pending: CallRecord[]): Promise<Map<string, UsageDto>> {
    const [clients, spending] = await Promise.all([
      this.prisma.client.findMany({ where: { id: { in: pending.map(({ client }) => client.id) } } }),
      this.spending.spentByAll(),
    ]);
    return new Map(
      clients.flatMap(({ id, dailyCapUsd, monthlyCapUsd }) => {
        const spent = spending.get(id);
        const caps = { daily: dailyCapUsd?.toFixed() ?? null, monthly: monthlyCapUsd?.toFixed() ?? null };
        return spent ? [[id, toUsage(caps, spent)] as const] : [];
      }),
    );
  }

  /** Returns the broken rules by call ID. Omits calls that are still allowed. */
  private async brokenRules(pending: CallRecord[]): Promise<Map<string, BrokenRule>> {
    const ids = pending.map(({ id }) => id);
    const [requesters, items] = await Promise.all([
      readRequesters(this.prisma, ids),
      readRecordedItems(this.prisma, ids), // listed records have only the first hundred items
    ]);
    const foreign = await this.foreignCalls(pending, requesters);
    const held = pending.map((call) => {
      const { id, operation: name, recovered } = call;
      const caller = requesters.get(id);
      const operation = operationNamed(name);
      const own = items.get(id) ?? [];
      const isOwn = !foreign.has(id);
      const rule: BrokenRule | undefined = recovered
        ? { kind: 'content_lost' }
        : brokenRule(caller, operation, own, isOwn);
      return { id, caller, operation, items: own, rule };
    });
    const allowed = held.flatMap(({ rule, caller, ...call }) =>
      rule || !caller ? [] : [{ ...call, caller }],
    );
    const broken = held.flatMap(({ id, rule }) => (rule ? [[id, rule] as const] : []));
    return new Map([...broken, ...(await readForbidden(this.prisma, allowed))]);
  }

  /** Returns the calls with a foreign transaction in their records. The approval checks the rest. */
  private async foreignCalls(pending: CallRecord[], requesters: Map<string, Caller>): Promise<Set<string>> {
    const foreign = new Set<string>();
    for (const call of pending) {
      const { id, client, person_id: personId, actor_source: actorSource, operation, items } = call;
      const caller = requesters.get(id);
      const refs = items.flatMap(({ upstream_ref }) => upstream_ref ?? []);
      if (!caller || refs.length === 0 || !namedObjectOf(operationNamed(operation))) continue;
      const owner = recordedOwner({ clientId: client.id, personId, actorSource });
      const owners = await TransactionOwners.read(this.prisma, owner, refs);
      if (refs.some((upstreamRef) => owners.isForeign({ upstreamRef }))) foreign.add(id);
    }
    return foreign;
  }
}

function isPending({ approval }: CallRecord): boolean {
  return approval?.status === 'pending';
}

/** Returns the reservation of an approval: the amount of a call, and the fees expected at its request. */
function reservedBy({ total_usd: usd, expected_fee_usd: fee }: CallRecord): string | null {
  return usd === null ? null : new Decimal(usd).plus(fee ?? 0).toFixed();
}

function payersOf({ person_id: person, ephemeral_key_id: key }: CallRecord): string[] {
  return [person, key].filter((id) => id !== null);
}

/** Usage of all caps of a call. Undefined for a person or a key without a row. */
interface Usages {
  client: UsageDto;
  person: PayerUsage | undefined;
  key: PayerUsage | undefined;
}

function capsAfter({ client, person, key }: Usages, usd: string | null): CapsAfterDto {
  const own = person && toUsage({ daily: person.dailyCapUsd, monthly: person.monthlyCapUsd }, person);
  const after = {
    daily: capAfter(client.daily, usd),
    monthly: capAfter(client.monthly, usd),
    person_daily: own ? capAfter(own.daily, usd) : null,
    person_monthly: own ? capAfter(own.monthly, usd) : null,
    ephemeral_key: key?.total ? capAfter(toCap(key.totalCapUsd, key.total), usd) : null,
  };
  // A call without an amount counts against no cap, even if nothing is left.
  const fits = usd === null || Object.values(after).every((cap) => cap === null || isWithin(cap));
  return { ...after, fits };
}

function capAfter(cap: CapDto, usd: string | null): CapAfterDto {
  const after = new Decimal(cap.spent_usd).plus(usd ?? 0);
  const left = cap.cap_usd === null ? null : Decimal.max(new Decimal(cap.cap_usd).minus(after), 0);
  return { ...cap, after_usd: after.toFixed(), left_after_usd: left?.toFixed() ?? null };
}

function isWithin({ cap_usd: cap, after_usd: after }: CapAfterDto): boolean {
  return cap === null || new Decimal(after).lessThanOrEqualTo(cap);
}

/** A held call to check against its client's register. */
interface HeldPayment {
  id: string;
  operation: OperationName;
  caller: Caller;
  items: Item[];
}

/** Reads the held calls with recipients that the register now forbids, by call ID. */
async function readForbidden(prisma: SidePrisma, held: HeldPayment[]): Promise<Map<string, BrokenRule>> {
  const rules = new Map(held.map(({ caller }) => [caller.clientId, registerRulesOf(caller)]));
  const payments = held.map(({ id, operation, caller: { clientId }, items }) => ({
    id,
    operation,
    clientId,
    recipients: recipientsOf(clientId, operation, items),
  }));
  const register = await readRegister(prisma, payments, rules);
  return new Map(
    payments.flatMap(({ id, clientId, recipients }) => {
      const own = rules.get(clientId);
      const forbidden = own && register.forbidden(recipients, own);
      return forbidden ? [[id, { kind: 'recipient_not_allowed' as const, ...forbidden }] as const] : [];
    }),
  );
}
