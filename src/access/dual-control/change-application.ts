import { MAIN_ACCOUNT } from '../../platform/config/upstream/upstream-accounts';
import { clock } from '../../platform/database/clock';
import { Prisma } from '../../platform/database/generated/client';
import { ChangeAuthor, ChangeRecords, permissionsOf } from '../clients/changes';
import { ClientWrites, Holder, holdersOf, isTaken, lockClient } from '../clients/client-writes';
import { fromPermissions, toPermissions } from '../clients/grants';
import { KeyRow, unclaimed } from '../clients/key-rows';
import { RegisterWrites } from '../clients/register-writes';
import { isSignIn } from '../clients/sign-ins';
import { PersonExceptionWrites, readOwnLimits } from '../people/person-exceptions';
import { fromKeyDocument, fromRegisterDocument } from './change-document';
import { PendingClientChange } from './pending-changes';
import { requireSeparationOfDuties } from './separation-of-duties';

/** Applies approved changes of clients and keys, in the transaction of the decision. */
export class ChangeApplication {
  private readonly writes: ClientWrites;
  private readonly register: RegisterWrites;
  private readonly exceptions: PersonExceptionWrites;

  /** @param claimsForMs the time to claim a personal key, in ms. */
  constructor(
    records: ChangeRecords,
    private readonly claimsForMs: number,
  ) {
    this.writes = new ClientWrites(records);
    this.register = new RegisterWrites(records);
    this.exceptions = new PersonExceptionWrites(records);
  }

  /** Returns the client to change, null for a new one, or undefined if it has changed since the request. */
  async currentClient(
    tx: Prisma.TransactionClient,
    { kind, client: name, before, change: { person } }: PendingClientChange,
  ): Promise<{ id: string } | null | undefined> {
    if (before === null) return (await isTaken(tx, name)) ? undefined : null;
    const client = await lockClient(tx, name);
    if (JSON.stringify(permissionsOf(client)) !== JSON.stringify(before.permissions)) return undefined;
    if (person) {
      const limits = toPermissions(await readOwnLimits(tx, client.id, person.id));
      return JSON.stringify(limits) === JSON.stringify(before.person) ? client : undefined;
    }
    // Refuse if a key was issued since: nobody approved the change for it.
    const known = new Set(before.holders.map(({ key_id }) => key_id));
    const isKnown = ({ key_id }: Holder) => known.has(key_id);
    return kind === 'issue_key' || (await holdersOf(tx, client.id)).every(isKnown) ? client : undefined;
  }

  /**
   * Applies a change.
   * @returns the claim code of a personal key, which is available only once.
   * @throws Problem
   */
  async apply(
    tx: Prisma.TransactionClient,
    { id: changeId, client: name, before, change }: PendingClientChange,
    author: ChangeAuthor,
  ): Promise<string | undefined> {
    const permissions = fromPermissions(change.permissions);
    const { row, code } = change.key ? this.toKey(name, fromKeyDocument(change.key), changeId) : {};
    if (before === null) {
      const scopes = permissions.scopes ?? [];
      await requireSeparationOfDuties(tx, name, { scopes, owners: [row ?? {}] });
      const { account = MAIN_ACCOUNT, kind = 'server' } = change;
      await this.writes.create(tx, { ...permissions, name, account, kind, scopes }, row, author);
      return code;
    }
    const client = await lockClient(tx, name);
    if (row) {
      await requireSeparationOfDuties(tx, name, { scopes: client.scopes, owners: [row] });
      await this.writes.issueKey(tx, client, row, author);
      return code;
    }
    if (change.register) {
      await this.register.change(tx, client, fromRegisterDocument(change.register), author);
      return undefined;
    }
    if (change.person) {
      const { id, limits } = change.person;
      const ofPerson = {
        id,
        before: await readOwnLimits(tx, client.id, id),
        change: fromPermissions(limits),
      };
      await this.exceptions.limit(tx, client, ofPerson, author);
      return undefined;
    }
    if (permissions.scopes) {
      await requireSeparationOfDuties(tx, name, {
        scopes: permissions.scopes,
        owners: await holdersOf(tx, client.id),
      });
    }
    await this.writes.update(tx, client, permissions, author);
    return undefined;
  }

  /** Returns the stored key. A personal key gets its secret at its claim. A sign-in has none. */
  private toKey(client: string, row: KeyRow, changeId: string): { row: KeyRow; code?: string } {
    if (row.person === null || isSignIn(row)) return { row };
    const claimUntil = new Date(clock.now().getTime() + this.claimsForMs);
    return unclaimed(client, row, { changeId, claimUntil });
  }
}
