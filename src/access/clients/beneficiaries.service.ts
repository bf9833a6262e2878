import { Injectable } from '@nestjs/common';
import { newId } from '../../platform/database/ids';
import { Prisma } from '../../platform/database/generated/client';
import { SidePrisma } from '../../platform/database/side-prisma';
import { Beneficiary, beneficiaryKey, maskBeneficiary, RegisterList } from './beneficiary';
import { ChangeAuthor, ChangeRecords, ClientChange } from './changes';
import { ClientsService, PATIENCE } from './clients.service';

/** The most recipients that one change adds. Each gets a record. */
export const MAX_AT_ONCE = 500;

/** An entry of a register, with the names of the API. */
export interface ListedBeneficiary {
  id: string;
  list: RegisterList;
  /** Masked. Null if the recipient was erased. */
  recipient: string | null;
  registered_at: Date;
}

/** What is changed in one list of a register. */
export interface RegisterChange {
  list: RegisterList;
  add: Beneficiary[];
  /** Recipients, or IDs of entries. */
  remove: (Beneficiary | string)[];
}

/** The entries of the added recipients, and those that are gone. */
export interface RegisterChanged {
  added: ListedBeneficiary[];
  removed: ListedBeneficiary[];
}

type Row = Prisma.BeneficiaryGetPayload<object>;
type Target = NonNullable<ClientChange['client']> & { id: string };

/**
 * Manages whom clients may pay. Every change locks the client, as admission does, so a call that is admitted after the change
 * obeys it. Every change is recorded in the transaction that makes it. Recipients are stored as hashes and masks.
 */
@Injectable()
export class BeneficiariesService {
  constructor(
    private readonly prisma: SidePrisma,
    private readonly clients: ClientsService,
    private readonly changes: ChangeRecords,
  ) {}

  /**
   * Removes recipients from a list, then adds others. Those that are not on it, or are on it already, stay as they are.
   * @throws ClientError
   */
  async change(name: string, change: RegisterChange, by: ChangeAuthor): Promise<RegisterChanged> {
    const client = await this.clients.find(name);
    return this.prisma.$transaction(async (tx) => {
      await tx.$executeRaw`SELECT FROM client WHERE id = ${client.id}::uuid FOR NO KEY UPDATE`;
      const removed = await remove(tx, client, change);
      const { entries, created } = await add(tx, client, change);
      await keepFlag(tx, client);
      const acts = [...removed.map((row) => removalOf(client, row)), ...created.map((row) => additionOf(client, row))];
      await this.changes.record(tx, acts, by);
      return { added: entries.map(listed), removed: removed.map(listed) };
    }, PATIENCE);
  }

  /**
   * Lists a register, oldest entries first.
   * @param after the ID of the last entry of the page before.
   */
  async list(
    name: string,
    { list, after, limit }: { list?: RegisterList | undefined; after?: string | undefined; limit: number },
  ): Promise<ListedBeneficiary[]> {
    const client = await this.clients.find(name);
    const where = { clientId: client.id, ...(list && { list }), ...(after && { id: { gt: after } }) };
    const entries = await this.prisma.beneficiary.findMany({ where, orderBy: { id: 'asc' }, take: limit });
    return entries.map(listed);
  }
}

async function remove(
  tx: Prisma.TransactionClient,
  { id: clientId }: Target,
  { list, remove: gone }: RegisterChange,
): Promise<Row[]> {
  const ids = gone.filter((one) => typeof one === 'string');
  const named = gone.filter((one) => typeof one !== 'string');
  const recipients = named.map((one) => new Uint8Array(beneficiaryKey(clientId, one)));
  const where = { clientId, list, OR: [{ id: { in: ids } }, { recipient: { in: recipients } }] };
  const entries = await tx.beneficiary.findMany({ where, orderBy: { id: 'asc' } });
  await tx.beneficiary.deleteMany({ where });
  return entries;
}

/** @returns the entries of all recipients, and those of them that were created. */
async function add(
  tx: Prisma.TransactionClient,
  { id: clientId }: Target,
  { list, add: recipients }: RegisterChange,
): Promise<{ entries: Row[]; created: Row[] }> {
  const data = recipients.map((one) => ({
    id: newId(),
    clientId,
    list,
    kind: one.kind,
    recipient: new Uint8Array(beneficiaryKey(clientId, one)),
    masked: maskBeneficiary(one),
  }));
  await tx.beneficiary.createMany({ data, skipDuplicates: true });
  const where = { list, recipient: { in: data.map(({ recipient }) => recipient) } };
  const entries = await tx.beneficiary.findMany({ where, orderBy: { id: 'asc' } });
  const ids = new Set(data.map(({ id }) => id));
  return { entries, created: entries.filter(({ id }) => ids.has(id)) };
}

/** Keeps the column that says whether the client has blocked recipients. */
async function keepFlag(tx: Prisma.TransactionClient, { id }: Target): Promise<void> {
  await tx.$executeRaw`
    UPDATE client SET blocks_recipients = NOT blocks_recipients WHERE id = ${id}::uuid AND blocks_recipients <> EXISTS (
      SELECT FROM beneficiary b WHERE b.client_id = client.id AND b.list = 'blocked')`;
}

function additionOf(client: Target, entry: Pick<Row, 'id' | 'list' | 'masked'>): ClientChange {
  return { action: 'beneficiary_added', ...targetOf(client), before: null, after: stateOf(entry) };
}

/** The state after a removal names the entry, because the act of an addition does, too. */
function removalOf(client: Target, entry: Row): ClientChange {
  const after = { beneficiary_id: entry.id };
  return { action: 'beneficiary_removed', ...targetOf(client), before: stateOf(entry), after };
}

function targetOf({ id, name }: Target): Pick<ClientChange, 'client' | 'keyId'> {
  return { client: { id, name }, keyId: null };
}

function stateOf({ id, list, masked }: Pick<Row, 'id' | 'list' | 'masked'>): object {
  return { beneficiary_id: id, list, ...(masked !== null && { recipient: masked }) };
}

function listed({ id, list, masked, registeredAt }: Row): ListedBeneficiary {
  return { id, list: list as RegisterList, recipient: masked, registered_at: registeredAt };
}
