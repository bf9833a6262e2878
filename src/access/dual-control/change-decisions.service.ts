import { Inject, Injectable } from '@nestjs/common';
import { Scope } from '../../operations/catalogue/scopes';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { Prisma } from '../../platform/database/generated/client';
import { SidePrisma } from '../../platform/database/pools/side-prisma';
import { isUuid } from '../../platform/database/uuid';
import { Problem } from '../../platform/errors/problem';
import { ChangeAuthor, ChangeRecords } from '../clients/changes';
import { TRANSACTION_LIMITS } from '../clients/clients.service';
import { OPENS } from '../clients/key';
import { writeMerge } from '../people/merges';
import { readOwnChanges } from '../people/same-person';
import { ChangeApplication } from './change-application';
import { FeeRemovals, StopLifts } from './change-document';
import { ChangeStatus } from './change-status';
import { PayoutSettlements, TransactionAttributions } from './payout-changes';
import {
  ChangeKind,
  decisionOf,
  closeChange,
  isOfClient,
  kindsFor,
  lockChanges,
  PendingChange,
  readPending,
  scopeOf,
  withStatus,
} from './pending-changes';

/** An applied change. */
export interface ApprovedChange {
  change: PendingChange;
  /** The code with which the person of a new key claims it. Available only once. */
  claimCode?: string | undefined;
}

/** The object of a change has changed since the request. */
const SUPERSEDED = Symbol('superseded');

/** Lists pending changes, and decides about them. */
@Injectable()
export class ChangeDecisionsService {
  private readonly application: ChangeApplication;

  constructor(
    private readonly prisma: SidePrisma,
    private readonly records: ChangeRecords,
    private readonly stops: StopLifts,
    private readonly fees: FeeRemovals,
    private readonly settlements: PayoutSettlements,
    private readonly attributions: TransactionAttributions,
    @Inject(SETTINGS) settings: RunningConfig,
  ) {
    const { approvalExpiresAfterSeconds } = settings;
    this.application = new ChangeApplication(records, approvalExpiresAfterSeconds * 1_000);
  }

  /**
   * Lists the changes with a status that the scopes show, newest first.
   * @param before lists only changes with lower IDs.
   */
  list(
    scopes: ReadonlySet<Scope>,
    status: ChangeStatus,
    limit: number,
    before?: string,
  ): Promise<PendingChange[]> {
    const id = before === undefined ? {} : { id: { lt: before } };
    const kind = { in: kindsFor(scopes) };
    return readPending(this.prisma, { ...withStatus(status), kind, ...id }, limit);
  }

  /** Returns the changes that the owner of a key must not decide. */
  ownOf(changes: PendingChange[], keyId: string): Promise<ReadonlySet<string>> {
    const ids = changes.map(({ id }) => id);
    return readOwnChanges(this.prisma, ids, keyId);
  }

  /** Returns the names of the requesting and deciding clients by ID. */
  async namesFor(changes: PendingChange[]): Promise<ReadonlyMap<string, string>> {
    const ids = new Set(
      changes.flatMap(({ clientId, deciderClientId }) => [clientId, deciderClientId ?? []].flat()),
    );
    const clients = await this.prisma.client.findMany({
      where: { id: { in: [...ids] } },
      select: { id: true, name: true },
    });
    return new Map(clients.map(({ id, name }) => [id, name]));
  }

  /**
   * Applies a pending change. If the client, the holders of its keys or the rights of the requester have
   * changed since the request, the change is superseded and must be requested again.
   * @throws Problem
   */
  async approve(id: string, author: ChangeAuthor): Promise<ApprovedChange> {
    const result = await this.decide(id, author, async (tx, change) => {
      const applied = (await mayDecide(tx, change.keyId, change.kind))
        ? await this.applyIn(tx, change, author)
        : SUPERSEDED;
      await closeChange(tx, id, applied === SUPERSEDED ? 'superseded' : 'approved', author);
      return applied;
    });
    if (result === SUPERSEDED) throw new Problem('change_superseded');
    return { change: await this.one(id), ...result };
  }

  /** Applies a change with its records, unless it is superseded. */
  private async applyIn(
    tx: Prisma.TransactionClient,
    change: PendingChange,
    author: ChangeAuthor,
  ): Promise<Pick<ApprovedChange, 'claimCode'> | typeof SUPERSEDED> {
    const asApproved = { ...author, reason: `change ${change.id}` };
    if (!isOfClient(change)) {
      if (!(await this.applyWithoutClient(tx, change, asApproved))) return SUPERSEDED;
      await this.records.record(tx, [decisionOf(change, null, 'change_approved')], author);
      return {};
    }
    const client = await this.application.currentClient(tx, change);
    if (client === undefined) return SUPERSEDED;
    await this.records.record(tx, [decisionOf(change, client?.id ?? null, 'change_approved')], author);
    return { claimCode: await this.application.apply(tx, change, asApproved) };
  }

  /** Returns whether the object of the change was still as requested. */
  private async applyWithoutClient(
    tx: Prisma.TransactionClient,
    { id, change, clientId, keyId, person, reason }: PendingChange,
    asApproved: ChangeAuthor,
  ): Promise<boolean> {
    const { stop, merge, fees, settlement, attribution } = change;
    const requester = { clientId, keyId, actor: person, reason: `${reason ?? ''} (change ${id})` };
    const applied =
      (stop && (await this.stops.liftIn(tx, stop, asApproved))) ||
      (merge && (await writeMerge(tx, this.records, merge, asApproved))) ||
      (fees && (await this.fees.forgetIn(tx, fees, asApproved))) ||
      (settlement && (await this.settlements.settleIn(tx, settlement, requester))) ||
      (attribution && (await this.attributions.attributeIn(tx, attribution, requester, asApproved)));
    return Boolean(applied);
  }

  /** Rejects a pending change. @throws Problem */
  async reject(id: string, author: ChangeAuthor): Promise<PendingChange> {
    await this.decide(id, author, async (tx, change) => {
      const { client: name } = change;
      const client =
        name === null ? null : await tx.client.findUnique({ where: { name }, select: { id: true } });
      await this.records.record(tx, [decisionOf(change, client?.id ?? null, 'change_rejected')], author);
      await closeChange(tx, id, 'rejected', author);
    });
    return this.one(id);
  }

  private async one(id: string): Promise<PendingChange> {
    const [change] = isUuid(id) ? await readPending(this.prisma, { id }, 1) : [];
    if (!change) throw new Problem('change_not_found');
    return change;
  }

  private async decide<Result>(
    id: string,
    author: ChangeAuthor,
    work: (tx: Prisma.TransactionClient, change: PendingChange) => Promise<Result>,
  ): Promise<Result> {
    const { kind } = await this.one(id);
    if (!(await mayDecide(this.prisma, author.keyId, kind))) throw new Problem('change_not_found');
    await requireSecondPerson(this.prisma, { id, kind }, author);
    return this.prisma.$transaction(async (tx) => {
      await lockChanges(tx);
      const [change] = await readPending(tx, { id }, 1);
      if (change?.status !== 'pending') throw new Problem('change_decided');
      // The decider's own rights may have ended since the request was received.
      if (!(await mayDecide(tx, author.keyId, change.kind))) throw new Problem('invalid_key');
      return work(tx, change);
    }, TRANSACTION_LIMITS);
  }
}

/**
 * Requires a decider other than the requester, with another key. Neither may have requested or claimed the
 * key of the other.
 * @throws Problem
 */
async function requireSecondPerson(
  prisma: SidePrisma,
  { id, kind }: Pick<PendingChange, 'id' | 'kind'>,
  author: ChangeAuthor,
): Promise<void> {
  if (author.actor === null) throw new Problem('personal_key_required');
  if (!(await readOwnChanges(prisma, [id], author.keyId)).has(id)) return;
  throw new Problem('own_approval', {
    text:
      `You requested this ${kind === 'lift_stop' ? 'lift' : 'change'}, it merges you or settles your call, ` +
      'or your key was requested or claimed by its requester. Another person must decide, with a key of ' +
      'their own.',
  });
}

/** Returns whether a key is valid and has the scope for a kind of changes. */
async function mayDecide(
  tx: Pick<Prisma.TransactionClient, '$queryRaw'>,
  keyId: string | null,
  kind: ChangeKind,
): Promise<boolean> {
  const found = await tx.$queryRaw<unknown[]>`
    SELECT 1 FROM api_key k JOIN client c ON c.id = k.client_id
    WHERE k.id = ${keyId}::uuid AND ${scopeOf(kind)} = ANY (c.scopes) AND ${Prisma.raw(OPENS)}
    FOR SHARE OF k, c`;
  return found.length > 0;
}
