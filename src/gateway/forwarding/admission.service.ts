import { Injectable } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { setTimeout as sleep } from 'node:timers/promises';
import { Call, Caller } from '../../access/auth/call';
import { Loaded } from '../../platform/config/config.module';
import { databaseUnavailable, Problem } from '../../platform/errors/problem';
import { Ruling } from '../../journal/admissions';
import { JournalService } from '../../journal/journal.service';
import { Coverage, NewAdmission } from '../../journal/records';
import { Release } from '../../journal/release';
import { Item, phonesOf } from '../../operations/item';
import { Outgoing } from '../upstream/upstream.service';
import { CoverageService } from './coverage.service';
import { readAllowDuplicateOf } from '../../http/validation/allow-duplicate-of';
import { readIdempotencyKey } from '../../http/validation/idempotency-key';
import { MovedValueService } from './moved-value.service';
import { consider, limitProblems, toProblem } from './asking';
import { OperationName } from '../../operations/catalogue';
import { ReplayService } from './replay.service';
import { pendingReply, Reply } from './reply';

/** A request that pays or makes something, before it is known whether it may. */
export interface Asked {
  outgoing: Outgoing;
  items: Item[];
  input: object | undefined;
}

interface Look {
  /** With the amounts that the request itself does not name. */
  items: Item[];
  coverage: Coverage | null;
  objection?: Problem;
}

/** What was found out about it before the journal is asked. */
interface Found {
  key: string | null;
  allowDuplicateOf: string | null;
  coverage: Coverage | null;
  barred: boolean;
}

/** A twin waits this long for the first one's answer, which is nicer than to be told to ask again. */
const TWIN_PATIENCE_MS = 1_000;
const TWIN_WAIT_MS = 50;

/** Decides whether a request that pays or makes something may be sent, and records that it will be. */
@Injectable()
export class AdmissionService {
  private readonly approvalExpiresAfterMs: number;

  constructor(
    private readonly coverage: CoverageService,
    private readonly values: MovedValueService,
    private readonly journal: JournalService,
    private readonly replays: ReplayService,
    config: ConfigService<Loaded, true>,
  ) {
    this.approvalExpiresAfterMs = config.get('settings', { infer: true }).approvalExpiresAfterSeconds * 1_000;
  }

  /**
   * @returns what the app gets instead of it being sent; or its release, if it is open and is to be sent now.
   * @throws Problem if it may not.
   */
  async admit(call: Call, asked: Asked): Promise<Reply | Release> {
    const { limits } = call.caller as Caller;
    const key = readIdempotencyKey(call.idempotencyKey, phonesOf(asked.items));
    if (key === null && limits.requireIdempotencyKey) throw new Problem('idempotency_key_required');
    const allowDuplicateOf = readAllowDuplicateOf(call.allowDuplicateOf);
    const { items, coverage, objection } = await this.look(call, asked);
    // Rules may have changed since: what was carried out before is answered as it was, whatever they are now.
    if (objection && key === null) throw objection;
    const found = { key, allowDuplicateOf, coverage, barred: objection !== undefined };
    const asking = this.toAsking(call, { ...asked, items }, found);
    const patienceEnds = performance.now() + TWIN_PATIENCE_MS;
    for (;;) {
      const verdict = await this.decide(call, asking);
      if (verdict.kind === 'released') return verdict.release;
      if (verdict.kind === 'held') return pendingReply(call.id);
      if (verdict.kind === 'barred') throw objection as Problem;
      if (verdict.kind !== 'repeated') throw toProblem(verdict);
      const reply = await this.replays.answer(call, verdict.firstCallId, performance.now() > patienceEnds);
      if (reply) return reply;
      await sleep(TWIN_WAIT_MS);
    }
  }

  /** What the request moves, and what it breaks by itself, whatever else happens. */
  private async look(call: Call, asked: Asked): Promise<Look> {
    let { items } = asked;
    try {
      items = await this.values.fill(call, items);
      const [objection] = limitProblems(call.caller as Caller, call.operation as OperationName, items);
      if (objection) throw objection;
      return { items, coverage: await this.coverage.check(call, items) };
    } catch (objection) {
      if (objection instanceof Problem) return { items, coverage: null, objection };
      throw objection;
    }
  }

  private toAsking(
    call: Call,
    { outgoing, items, input }: Asked,
    { key, allowDuplicateOf, coverage, barred }: Found,
  ): NewAdmission {
    const { id, requestId, traceparent, clientAddress, receivedAt, actor, operation, causedBy } = call;
    const { content, usd, heldFor } = consider(call, { items, input, key, allowDuplicateOf });
    // Named one by one: to spread two objects of every request into a third takes longer than to decide about it.
    return {
      id,
      requestId,
      traceparent,
      clientAddress,
      receivedAt,
      caller: call.caller as Caller,
      actor,
      operation,
      query: null,
      body: outgoing.body,
      items,
      coverage,
      causedBy,
      idempotencyKey: key,
      allowDuplicateOf,
      content,
      barred,
      usd,
      heldFor,
      expiresAt: new Date(receivedAt.getTime() + this.approvalExpiresAfterMs),
    };
  }

  private async decide(call: Call, asking: NewAdmission): Promise<Ruling> {
    const started = performance.now();
    try {
      const verdict = await this.journal.admit(asking).catch(databaseUnavailable);
      call.opened = verdict.kind === 'released' || verdict.kind === 'held';
      if (verdict.kind === 'held') call.outcome = 'pending_approval';
      return verdict;
    } finally {
      call.timings.journal = (call.timings.journal ?? 0) + performance.now() - started;
    }
  }
}
