import { Scope } from '../../operations/catalogue/scopes';
import { clock } from '../../platform/database/clock';
import { Prisma } from '../../platform/database/generated/client';
import { newId } from '../../platform/database/ids';
import { LOCKS } from '../../platform/database/locks';
import { Problem } from '../../platform/errors/problem';
import { proseAsRecorded } from '../../platform/privacy/recorded';
import { ChangeAuthor, ChangeRecords, ClientChange } from '../clients/changes';
import { BeforeDocument, ChangeDocument, recordedChange } from './change-document';
import { ChangeStatus } from './change-status';

/** Kinds of changes, with the scope of those who request and decide them. */
const SCOPE_OF_KIND = {
  create_client: 'admin',
  change_client: 'admin',
  issue_key: 'admin',
  lift_stop: 'admin',
  merge_people: 'admin',
  forget_fees: 'admin',
  settle_payouts: 'approve',
  attribute_transaction: 'approve',
} as const satisfies Record<string, Scope>;

export type ChangeKind = keyof typeof SCOPE_OF_KIND;

export const CHANGE_KINDS = Object.keys(SCOPE_OF_KIND) as ChangeKind[];

export const scopeOf = (kind: ChangeKind) => SCOPE_OF_KIND[kind];

/** Returns the kinds of changes that the scopes show. */
export function kindsFor(scopes: ReadonlySet<Scope>): ChangeKind[] {
  return CHANGE_KINDS.filter((kind) => scopes.has(SCOPE_OF_KIND[kind]));
}

export interface NewPendingChange {
  kind: ChangeKind;
  /** Null for a change of the installation or of payouts. */
  client: { id: string | null; name: string } | null;
  /** Fields that need a second person, by their names in the API. */
  expands: readonly string[];
  /** Null for a new client, or without a client. */
  before: BeforeDocument | null;
  change: ChangeDocument;
}

/** The row of a change, with its documents parsed. */
export type PendingChange = Omit<
  Prisma.PendingChangeGetPayload<object>,
  'kind' | 'before' | 'change' | 'status'
> &
  Pick<NewPendingChange, 'kind' | 'before' | 'change'> & { status: ChangeStatus };

/** A change of a client or of its keys. */
export type PendingClientChange = PendingChange & { client: string };

export function isOfClient(change: PendingChange): change is PendingClientChange {
  return change.client !== null;
}

/** A requested change, which waits for a second person. */
export interface RequestedChange {
  changeId: string;
  expiresAt: Date;
  /** The new shared key of the change. Invalid until the change is approved. */
  key: string | undefined;
}

export function isRequestedChange(result: object): result is RequestedChange {
  return 'changeId' in result;
}

export async function lockChanges(tx: Prisma.TransactionClient): Promise<void> {
  await tx.$queryRaw`SELECT pg_advisory_xact_lock(${LOCKS.change})::text`;
}

/**
 * Stores a pending change, and records the request.
 * @throws Problem `personal_key_required` if no person requests it.
 */
export async function insertPending(
  tx: Prisma.TransactionClient,
  records: ChangeRecords,
  { kind, client, expands, before, change }: NewPendingChange,
  author: ChangeAuthor,
  waitsForMs: number,
): Promise<RequestedChange> {
  const { clientId, keyId, actor: person, reason } = author;
  if (clientId === null || keyId === null || person === null) throw new Problem('personal_key_required');
  const [id, expiresAt] = [newId(), new Date(clock.now().getTime() + waitsForMs)];
  const documents = { before: before && JSON.stringify(before), change: JSON.stringify(change) };
  const row = { id, kind, client: client?.name ?? null, expands: [...expands], ...documents };
  await tx.pendingChange.create({
    data: { ...row, reason: proseAsRecorded(reason), clientId, keyId, person, expiresAt },
  });
  const after = {
    change_id: id,
    ...(before === null && client && { name: client.name }),
    ...recordedChange(client?.name ?? null, change),
  };
  const states = { before: before && shownBefore(before, change), after };
  const act = { action: 'change_requested', client, keyId: change.key?.id ?? null, ...states } as const;
  await records.record(tx, [act], author);
  return { changeId: id, expiresAt, key: undefined };
}

/** Returns the affected permissions at the time of the request. */
export function shownBefore({ permissions, person = {} }: BeforeDocument, change: ChangeDocument): object {
  if (change.person) return only(person, Object.keys(change.person.limits));
  return only(permissions, Object.keys(change.permissions));
}

function only(state: object, names: string[]): object {
  return Object.fromEntries(Object.entries(state).filter(([name]) => names.includes(name)));
}

export async function readPending(
  tx: Prisma.TransactionClient,
  where: Prisma.PendingChangeWhereInput,
  limit: number,
): Promise<PendingChange[]> {
  const rows = await tx.pendingChange.findMany({ where, orderBy: { id: 'desc' }, take: limit });
  const now = clock.now();
  return rows.map((row) => ({
    ...row,
    kind: row.kind as ChangeKind,
    before: row.before === null ? null : (JSON.parse(row.before) as BeforeDocument),
    change: JSON.parse(row.change) as ChangeDocument,
    status: row.status === 'pending' && row.expiresAt <= now ? 'expired' : (row.status as ChangeStatus),
  }));
}

/** Returns the condition for the changes with a status. */
export function withStatus(status: ChangeStatus): Prisma.PendingChangeWhereInput {
  const now = clock.now();
  if (status === 'expired') return { status: 'pending', expiresAt: { lte: now } };
  return status === 'pending' ? { status, expiresAt: { gt: now } } : { status };
}

/** Closes a pending change. The caller holds the lock and has found it pending. */
export async function closeChange(
  tx: Prisma.TransactionClient,
  id: string,
  status: 'approved' | 'rejected' | 'superseded',
  author: ChangeAuthor,
): Promise<void> {
  await tx.$executeRaw`
    UPDATE pending_change
    SET status = ${status}, decided_at = clock_timestamp(),
      decision_reason = ${proseAsRecorded(author.reason)},
      decider_client_id = ${author.clientId}::uuid, decider_key_id = ${author.keyId}::uuid,
      decider_person = ${author.actor}
    WHERE id = ${id}::uuid AND status = 'pending'`;
}

/** Returns the record of a decision. */
export function decisionOf(
  { id, client, change }: PendingChange,
  clientId: string | null,
  action: 'change_approved' | 'change_rejected',
): ClientChange {
  const target = client === null ? null : { id: clientId, name: client };
  return { action, client: target, keyId: change.key?.id ?? null, before: null, after: { change_id: id } };
}
