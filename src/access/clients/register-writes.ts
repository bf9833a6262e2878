import { hash } from 'node:crypto';
import { Prisma } from '../../platform/database/generated/client';
import { newId } from '../../platform/database/ids';
import { maskEmail, maskHandle, maskPhone } from '../../platform/privacy/contacts';
import { RecipientKind } from '../../recipients/recipient';
import { ChangeAuthor, ChangeRecords, ClientChange, recordChanges } from './changes';
import { RegisterList } from './register-lists';

/** A recipient of a register. */
export interface Beneficiary {
  kind: RecipientKind;
  /** Its canonical key. */
  key: string;
}

/** Returns the hash of a recipient in a register. It includes the client, so registers are incomparable. */
export function beneficiaryHash(clientId: string, key: string): Buffer {
  return hash('sha256', JSON.stringify(['beneficiary', clientId, key]), 'buffer');
}

/** A recipient as a register stores it. */
interface StoredRecipient {
  kind: string;
  recipient: Uint8Array<ArrayBuffer>;
  masked: string | null;
}

function storedRecipient(clientId: string, { kind, key }: Beneficiary): StoredRecipient {
  return { kind, recipient: new Uint8Array(beneficiaryHash(clientId, key)), masked: MASKS[kind](key) };
}

/** Masks of recipients, recognizable only to people who know them. IDs of sub-accounts are not masked. */
const MASKS: Record<RecipientKind, (key: string) => string> = {
  email: maskEmail,
  phone: maskPhone,
  handle: maskHandle,
  receiver: (id) => id,
};

/** An entry of a register in the API. */
export interface ListedBeneficiary {
  id: string;
  list: RegisterList;
  /** Masked. Null if the recipient was erased. */
  recipient: string | null;
  registered_at: Date;
}

/** A change of one list of a register. */
export interface RegisterChange {
  list: RegisterList;
  add: Beneficiary[];
  /** Recipients, or IDs of entries. */
  remove: (Beneficiary | string)[];
}

/** A register change in its stored form. */
export interface RegisterWrite {
  list: RegisterList;
  add: StoredRecipient[];
  remove: { ids: string[]; recipients: StoredRecipient['recipient'][] };
}

/** The entries of added recipients, and the removed entries. */
export interface RegisterChangeResult {
  added: ListedBeneficiary[];
  removed: ListedBeneficiary[];
}

type Row = Prisma.BeneficiaryGetPayload<object>;
type Target = NonNullable<ClientChange['client']> & { id: string };

/** Writes registers with their records. The caller owns the transaction and has locked the client. */
export class RegisterWrites {
  constructor(private readonly records: ChangeRecords) {}

  /** Removes recipients from a list, then adds others. Ignores absent removals and present additions. */
  async change(
    tx: Prisma.TransactionClient,
    { id, name }: Target,
    write: RegisterWrite,
    author: ChangeAuthor,
  ): Promise<RegisterChangeResult> {
    const client = { id, name };
    const removed = await remove(tx, id, write);
    const { entries, created } = await add(tx, id, write);
    await updateFlag(tx, id);
    const acts = [
      ...removed.map((row) => removalOf(client, row)),
      ...created.map((row) => additionOf(client, row)),
    ];
    await recordChanges(this.records, tx, acts, author);
    return { added: entries.map(listed), removed: removed.map(listed) };
  }
}

export function toWrite(
  clientId: string,
  { list, add: added, remove: removed }: RegisterChange,
): RegisterWrite {
  const recipients = removed
    .filter((entry) => typeof entry !== 'string')
    .map((recipient) => storedRecipient(clientId, recipient).recipient);
  return {
    list,
    add: added.map((recipient) => storedRecipient(clientId, recipient)),
    remove: { ids: removed.filter((entry) => typeof entry === 'string'), recipients },
  };
}

/** Returns the entries that a change removes. */
export function entriesToRemove(
  tx: Prisma.TransactionClient,
  clientId: string,
  { list, remove: { ids, recipients } }: RegisterWrite,
): Promise<Row[]> {
  const where = { clientId, list, OR: [{ id: { in: ids } }, { recipient: { in: recipients } }] };
  return tx.beneficiary.findMany({ where, orderBy: { id: 'asc' } });
}

/** Returns the existing entries of the recipients that a change adds. */
export function entriesOfAdded(
  tx: Prisma.TransactionClient,
  { list, add: added }: RegisterWrite,
): Promise<Row[]> {
  const where = { list, recipient: { in: added.map(({ recipient }) => recipient) } };
  return tx.beneficiary.findMany({ where, orderBy: { id: 'asc' } });
}

export function listed({ id, list, masked, registeredAt }: Row): ListedBeneficiary {
  return { id, list: list as RegisterList, recipient: masked, registered_at: registeredAt };
}

async function remove(tx: Prisma.TransactionClient, clientId: string, write: RegisterWrite): Promise<Row[]> {
  const entries = await entriesToRemove(tx, clientId, write);
  await tx.beneficiary.deleteMany({ where: { id: { in: entries.map(({ id }) => id) } } });
  return entries;
}

/** @returns the entries of all recipients, and the created ones. */
async function add(
  tx: Prisma.TransactionClient,
  clientId: string,
  write: RegisterWrite,
): Promise<{ entries: Row[]; created: Row[] }> {
  const data = write.add.map((recipient) => ({ id: newId(), clientId, list: write.list, ...recipient }));
  await tx.beneficiary.createMany({ data, skipDuplicates: true });
  const entries = await entriesOfAdded(tx, write);
  const ids = new Set(data.map(({ id }) => id));
  return { entries, created: entries.filter(({ id }) => ids.has(id)) };
}

/** Updates the column for whether the client has blocked recipients. */
async function updateFlag(tx: Prisma.TransactionClient, clientId: string): Promise<void> {
  await tx.$executeRaw`
    UPDATE client SET blocks_recipients = NOT blocks_recipients
    WHERE id = ${clientId}::uuid AND blocks_recipients <> EXISTS (
      SELECT FROM beneficiary b WHERE b.client_id = client.id AND b.list = 'blocked')`;
}

function additionOf(client: Target, entry: Row): ClientChange {
  return { action: 'beneficiary_added', client, keyId: null, before: null, after: stateOf(entry) };
}

/** Returns the record of a removal. Its `after` names the entry, like the record of an addition. */
function removalOf(client: Target, entry: Row): ClientChange {
  const after = { beneficiary_id: entry.id };
  return { action: 'beneficiary_removed', client, keyId: null, before: stateOf(entry), after };
}

function stateOf({ id, list, masked }: Row): object {
  return { beneficiary_id: id, list, ...(masked !== null && { recipient: masked }) };
}
