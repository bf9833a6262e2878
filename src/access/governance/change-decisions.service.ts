import { Injectable } from '@nestjs/common';
import { MAIN_ACCOUNT } from '../../platform/config/upstream-accounts';
import { SidePrisma } from '../../platform/database/side-prisma';
import { Prisma } from '../../platform/database/generated/client';
import { isUuid } from '../../platform/database/uuid';
import { Problem } from '../../platform/errors/problem';
import { fromKeyDocument } from './change-document';
import { ChangeAuthor, ChangeRecords, permissionsOf } from '../clients/changes';
import { ClientWrites, Holder, holdersOf, isTaken, lockClient } from '../clients/client-writes';
import { PATIENCE } from '../clients/clients.service';
import { OPENS } from '../clients/key';
import { fromPermissions } from '../clients/permissions';
import {
  ChangeStatus,
  decisionOf,
  endWait,
  lockChanges,
  PendingChange,
  readPending,
  withStatus,
} from './pending-changes';
import { fromRegisterDocument } from './register-document';
import { RegisterWrites } from '../clients/register-writes';
import { fromDocument, PersonExceptionWrites, readOwnLimits, toDocument } from '../people/person-exceptions';
import { requireSeparateHands } from './separation';

/** Lists the changes that wait for a second person, and decides about them. */
@Injectable()
export class ChangeDecisionsService {
  private readonly writes: ClientWrites;
  private readonly register: RegisterWrites;
  private readonly exceptions: PersonExceptionWrites;

  constructor(
    private readonly prisma: SidePrisma,
    private readonly records: ChangeRecords,
  ) {
    this.writes = new ClientWrites(records);
    this.register = new RegisterWrites(records);
    this.exceptions = new PersonExceptionWrites(records);
  }

  /**
   * Lists changes with a status, newest first.
   * @param before lists only changes with lower IDs.
   */
  list(status: ChangeStatus, limit: number, before?: string): Promise<PendingChange[]> {
    const id = before === undefined ? {} : { id: { lt: before } };
    return readPending(this.prisma, { ...withStatus(status), ...id }, limit);
  }

  /** Returns the names of the clients whose keys asked for these changes or decided about them, by their IDs. */
  async namesFor(changes: PendingChange[]): Promise<ReadonlyMap<string, string>> {
    const ids = new Set(changes.flatMap(({ clientId, deciderClientId }) => [clientId, deciderClientId ?? []].flat()));
    const clients = await this.prisma.client.findMany({
      where: { id: { in: [...ids] } },
      select: { id: true, name: true },
    });
    return new Map(clients.map(({ id, name }) => [id, name]));
  }

  /**
   * Makes a change that waits. It is judged again by the state of now: if the client, the holders of its keys or the rights
   * of the requester are no longer those of the request, the change is superseded, and somebody must request it again.
   * @throws Problem
   */
  async approve(id: string, by: ChangeAuthor): Promise<PendingChange> {
    const done = await this.decide(id, by, async (tx, change) => {
      const client = await this.currentClient(tx, change);
      if (client === undefined || !(await isAdministrator(tx, change.keyId))) {
        await endWait(tx, id, 'superseded', by);
        return 'superseded' as const;
      }
      await this.records.record(tx, [decisionOf(change, client?.id ?? null, 'change_approved')], by);
      await this.apply(tx, change, { ...by, reason: `change ${id}` });
      await endWait(tx, id, 'approved', by);
      return 'approved' as const;
    });
    if (done === 'superseded') throw new Problem('change_superseded');
    return this.one(id);
  }

  /** Rejects a change that waits. @throws Problem */
  async reject(id: string, by: ChangeAuthor): Promise<PendingChange> {
    await this.decide(id, by, async (tx, change) => {
      const client = await tx.client.findUnique({ where: { name: change.client }, select: { id: true } });
      await this.records.record(tx, [decisionOf(change, client?.id ?? null, 'change_rejected')], by);
      await endWait(tx, id, 'rejected', by);
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
    by: ChangeAuthor,
    work: (tx: Prisma.TransactionClient, change: PendingChange) => Promise<Result>,
  ): Promise<Result> {
    requireSecondPerson(await this.one(id), by);
    return this.prisma.$transaction(async (tx) => {
      await lockChanges(tx);
      const [change] = await readPending(tx, { id }, 1);
      if (change?.status !== 'pending') throw new Problem('change_decided');
      // The decider's own rights may have ended since the request was received.
      if (!(await isAdministrator(tx, by.keyId))) throw new Problem('invalid_key');
      return work(tx, change);
    }, PATIENCE);
  }

  /** Returns the changed client, null for one that will be created, or undefined if it is no longer as it was. */
  private async currentClient(
    tx: Prisma.TransactionClient,
    { kind, client: name, before, change: { person } }: PendingChange,
  ): Promise<{ id: string } | null | undefined> {
    if (before === null) return (await isTaken(tx, name)) ? undefined : null;
    const client = await lockClient(tx, name);
    if (JSON.stringify(permissionsOf(client)) !== JSON.stringify(before.permissions)) return undefined;
    if (person) {
      const limits = toDocument(await readOwnLimits(tx, client.id, person.id));
      return JSON.stringify(limits) === JSON.stringify(before.person) ? client : undefined;
    }
    // A key that was issued since would take part in what the change grants, and nobody agreed to that.
    const known = new Set(before.holders.map(({ key_id }) => key_id));
    const isKnown = ({ key_id }: Holder) => known.has(key_id);
    return kind === 'issue_key' || (await holdersOf(tx, client.id)).every(isKnown) ? client : undefined;
  }

  private async apply(
    tx: Prisma.TransactionClient,
    { client: name, before, change }: PendingChange,
    by: ChangeAuthor,
  ): Promise<void> {
    const permissions = fromPermissions(change.permissions);
    const key = change.key && fromKeyDocument(change.key);
    if (before === null) {
      const scopes = permissions.scopes ?? [];
      await requireSeparateHands(tx, name, { scopes, persons: [key?.person ?? null] });
      const { account = MAIN_ACCOUNT, kind = 'server' } = change;
      await this.writes.create(tx, { ...permissions, name, account, kind, scopes }, key, by);
      return;
    }
    const client = await lockClient(tx, name);
    if (key) {
      await requireSeparateHands(tx, name, { scopes: client.scopes, persons: [key.person] });
      await this.writes.issueKey(tx, client, key, by);
      return;
    }
    if (change.register) {
      await this.register.change(tx, client, fromRegisterDocument(change.register), by);
      return;
    }
    if (change.person) {
      const { id, limits } = change.person;
      const ofPerson = { id, before: await readOwnLimits(tx, client.id, id), change: fromDocument(limits) };
      await this.exceptions.limit(tx, client, ofPerson, by);
      return;
    }
    if (permissions.scopes) {
      const persons = (await holdersOf(tx, client.id)).map(({ person }) => person);
      await requireSeparateHands(tx, name, { scopes: permissions.scopes, persons });
    }
    await this.writes.update(tx, client, permissions, by);
  }
}

/**
 * Requires that another person than the requester decides, with another key. Only the keys say who they are. Persons are
 * compared without regard to case.
 * @throws Problem
 */
function requireSecondPerson(change: PendingChange, by: ChangeAuthor): void {
  if (by.actor === null) throw new Problem('personal_key_required');
  if (by.keyId === change.keyId || by.actor.toLowerCase() === change.person.toLowerCase()) {
    throw new Problem('own_approval', {
      text: 'You requested this change. Another person must decide, with a key of their own.',
    });
  }
}

/** Whether a key is valid and may change clients. */
async function isAdministrator(tx: Prisma.TransactionClient, keyId: string | null): Promise<boolean> {
  const found = await tx.$queryRaw<unknown[]>`
    SELECT 1 FROM api_key k JOIN client c ON c.id = k.client_id
    WHERE k.id = ${keyId}::uuid AND 'admin' = ANY (c.scopes) AND ${Prisma.raw(OPENS)}
    FOR SHARE OF k, c`;
  return found.length > 0;
}
