import { Prisma } from '../../platform/database/generated/client';
import { Problem } from '../../platform/errors/problem';
import { RegisterList } from '../clients/beneficiary';
import { entriesOfAdded, entriesToRemove, RegisterChange, RegisterWrite } from '../clients/register-writes';

/** A requested change of a register, as it is stored: additions to `allowed`, or removals from `blocked`. */
export interface RegisterDocument {
  list: RegisterList;
  recipients: RecipientDocument[];
}

interface RecipientDocument {
  /** The ID of the removed entry. Null for an addition. */
  id: string | null;
  kind: string;
  /** The hash of the register, in hexadecimal. Null if the recipient was erased. */
  recipient: string | null;
  masked: string | null;
}

/**
 * Returns what of a change lets a client pay more people. Undefined if nothing does. Removals name entries by their IDs, so
 * that a block that somebody sets meanwhile stays.
 */
export async function widenedRegister(
  tx: Prisma.TransactionClient,
  clientId: string,
  write: RegisterWrite,
): Promise<RegisterDocument | undefined> {
  const { list } = write;
  const recipients = await (list === 'allowed' ? additions(tx, write) : removals(tx, clientId, write));
  return recipients.length > 0 ? { list, recipients } : undefined;
}

/** Recipients that were erased meanwhile are not added. */
export function fromRegisterDocument({ list, recipients }: RegisterDocument): RegisterWrite {
  if (list === 'blocked') {
    return { list, add: [], remove: { ids: recipients.flatMap(({ id }) => id ?? []), recipients: [] } };
  }
  const add = recipients.flatMap(({ kind, recipient, masked }) =>
    recipient === null ? [] : [{ kind, recipient: new Uint8Array(Buffer.from(recipient, 'hex')), masked }],
  );
  return { list, add, remove: { ids: [], recipients: [] } };
}

/** Of additions and removals, one waits and the other applies at once. A change with both would be half made. */
export function requireOneDirection({ add, remove }: RegisterChange): void {
  if (add.length === 0 || remove.length === 0) return;
  const detail = 'must be sent in a request of its own, because one of add and remove waits for a second person';
  throw new Problem('invalid_request', { faults: ['/add', '/remove'].map((pointer) => ({ pointer, detail })) });
}

async function additions(tx: Prisma.TransactionClient, write: RegisterWrite): Promise<RecipientDocument[]> {
  const existing = new Set((await entriesOfAdded(tx, write)).map(({ recipient }) => hex(recipient)));
  const wanted = new Map(write.add.map((one) => [hex(one.recipient), one]));
  return [...wanted]
    .filter(([recipient]) => !existing.has(recipient))
    .map(([recipient, { kind, masked }]) => ({ id: null, kind, recipient, masked }));
}

async function removals(
  tx: Prisma.TransactionClient,
  clientId: string,
  write: RegisterWrite,
): Promise<RecipientDocument[]> {
  const entries = await entriesToRemove(tx, clientId, write);
  return entries.map(({ id, kind, recipient, masked }) => ({ id, kind, recipient: hex(recipient), masked }));
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
