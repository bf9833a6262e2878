import { Injectable } from '@nestjs/common';
import { reachesWholeAccount } from '../../access/auth/owner';
import { Caller } from '../../access/callers/caller';
import { readRegister } from '../../journal/admission/recipients';
import { QueueRuling } from '../../journal/queue/releases';
import { readUnexplained } from '../../journal/reconciliation/unexplained-payments';
import { Screened } from '../../journal/records/records';
import { readStops } from '../../journal/stops/stops';
import { movesValue, operationNamed } from '../../operations/catalogue/catalogue';
import { totalOf } from '../../operations/items/item';
import { clock } from '../../platform/database/clock';
import { Prisma } from '../../platform/database/generated/client';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { Problem } from '../../platform/errors/problem';
import { Register } from '../../policy/limits/beneficiaries';
import { Stop, stopFor } from '../../policy/limits/stops';
import { OwnershipService } from '../forwarding/ownership/ownership.service';
import { MayPay } from '../may-pay/may-pay.service';
import { obstacleProblem } from '../may-pay/obstacle-problem';
import { BrokenRule } from '../may-pay/obstacles';
import { ScreeningService } from '../screening/screening.service';
import { brokenRule, registerRulesOf } from '../waiting/broken-rule';
import { readRequesters } from '../waiting/requesters';
import { changeOf, namedTransaction, ownerOfWaiting } from '../waiting/waiting-call';
import { ClaimedCall } from './claimed-call';

/** What other services say about a claimed call, before its transaction. */
export interface Checked {
  call: ClaimedCall;
  /** Whether it names no object of others. */
  isOwn: boolean;
  screening: Screened | null;
  /** The ruling, if it is certain already. */
  ruling?: QueueRuling;
}

/** The records that a ruling depends on. Valid only while the clients are locked. */
interface Facts {
  requesters: Map<string, Caller>;
  stops: Stop[];
  register: Register;
  /** The transactions of recovery gaps that may have paid a call, by its ID. */
  unexplained: Map<string, string>;
}

const POSTPONED: QueueRuling = { kind: 'wait', postponed: true };

/**
 * Decides what happens to queued calls in their turn. Checks what the approval of a held call checks, except
 * for caps, which the admission has reserved.
 */
@Injectable()
export class QueueRules {
  constructor(
    private readonly prisma: PrismaService,
    private readonly ownership: OwnershipService,
    private readonly screening: ScreeningService,
    private readonly mayPay: MayPay,
  ) {}

  /** Asks other services about a call. They change while it waits. */
  async check(call: ClaimedCall): Promise<Checked> {
    const checked: Checked = { call, isOwn: true, screening: null };
    if (clock.nowMs() >= Date.parse(call.intent.expires_at ?? '')) return end(checked, 'queue_expired');
    const change = changeOf(call);
    if (change) return end(checked, change);
    const named = namedTransaction(call);
    if (named === undefined && !this.screening.isEnabled) return checked;
    const { id } = call.intent;
    const requester = (await readRequesters(this.prisma, [id])).get(id);
    if (!requester) return checked; // the transaction ends it
    try {
      checked.isOwn =
        named === undefined ||
        reachesWholeAccount(requester) ||
        (await this.ownership.owns(call.as(requester), ownerOfWaiting(call), named));
      const subject = { id, caller: requester, operation: operationNamed(call.intent.operation) };
      checked.screening = await this.screening.check(subject, call.items);
      // A review needs a person. It was admitted without one.
      return checked.screening === 'review' ? end(checked, 'screening_review') : checked;
    } catch (refusal) {
      if (!(refusal instanceof Problem)) throw refusal;
      return refusal.code === 'screening_denied'
        ? end(checked, refusal.code)
        : { ...checked, ruling: POSTPONED };
    }
  }

  /** Decides about the calls, by the records as of now. */
  async rule(
    tx: Prisma.TransactionClient,
    checked: Checked[],
    queued: ReadonlySet<string>,
  ): Promise<Map<string, QueueRuling>> {
    const calls = checked.filter(({ call }) => queued.has(call.intent.id));
    if (calls.length === 0) return new Map();
    const facts = await readFacts(
      tx,
      calls.map(({ call }) => call),
    );
    const isOld = this.mayBeOld(facts);
    const ruling = (one: Checked): QueueRuling =>
      isOld ? { kind: 'wait' } : (one.ruling ?? rulingOn(one, facts));
    return new Map(calls.map((one) => [one.call.intent.id, ruling(one)]));
  }

  /**
   * Returns whether the database may lack the record that a call was sent. Such a call must not end, because
   * that would free its key. An instance that knows of a loss is fenced, and stops the others.
   */
  private mayBeOld({ stops }: Facts): boolean {
    return (
      this.mayPay.obstacleTo('settle') !== undefined || stops.some(({ cause }) => cause === 'database_behind')
    );
  }
}

function rulingOn({ call, isOwn, screening }: Checked, facts: Facts): QueueRuling {
  const { id, client_id: clientId } = call.intent;
  const operation = operationNamed(call.intent.operation);
  if (stopFor(facts.stops, { clientId, operation })) return { kind: 'wait' };
  // It may repeat a payment of a recovery gap. A person decides about that payment first.
  if (facts.unexplained.has(id)) return POSTPONED;
  const requester = facts.requesters.get(id);
  call.requester = requester;
  const broken = brokenRule(requester, operation, call.items, isOwn) ?? forbiddenTo(requester, call, facts);
  if (!broken) return { kind: 'send', screening };
  return { kind: 'end', failure: obstacleProblem(broken, 'app', { operation }).code };
}

function forbiddenTo(
  requester: Caller | undefined,
  { recipients }: ClaimedCall,
  { register }: Facts,
): BrokenRule | undefined {
  const forbidden = requester && register.forbidden(recipients, registerRulesOf(requester));
  return forbidden && { kind: 'recipient_not_allowed', ...forbidden };
}

async function readFacts(tx: Prisma.TransactionClient, calls: ClaimedCall[]): Promise<Facts> {
  const requesters = await readRequesters(
    tx,
    calls.map(({ intent }) => intent.id),
  );
  const payments = calls.map(({ intent, items, recipients }) => {
    const usd = movesValue(operationNamed(intent.operation)) ? totalOf(items) : null;
    return { id: intent.id, clientId: intent.client_id, items, recipients, usd };
  });
  const callers = [...requesters.values()];
  const rules = new Map(callers.map((caller) => [caller.clientId, registerRulesOf(caller)]));
  return {
    requesters,
    stops: await readStops(tx),
    register: await readRegister(tx, payments, rules),
    unexplained: await readUnexplained(tx, payments),
  };
}

function end(checked: Checked, failure: string): Checked {
  return { ...checked, ruling: { kind: 'end', failure } };
}
