import { Injectable } from '@nestjs/common';
import { Prisma } from '../../platform/database/generated/client';
import { newId } from '../../platform/database/ids';
import { SidePrisma } from '../../platform/database/pools/side-prisma';
import { isUuid } from '../../platform/database/uuid';
import { newSalt } from '../../platform/privacy/commitment';
import { ChangeAuthor, ChangeRecords, ClientChange, recordChanges } from '../clients/changes';
import { ClientError } from '../clients/client-error';
import { findClient, lockClient } from '../clients/client-writes';
import { TRANSACTION_LIMITS } from '../clients/clients.service';
import { checkGrants, toAssignments, toPermissions } from '../clients/grants';
import {
  limitColumns,
  LimitsDocument,
  LimitsRow,
  OwnLimitKey,
  readLimits,
  toLimitsDocument,
} from '../clients/limits/limits';
import { ListedClient } from '../clients/listed';
import { isPersonId } from '../clients/sign-ins';
import { OWN_LIMIT_KEYS, OwnLimits, personHash } from './person';
import { ADD_PERSON } from './persons.service';

/** A person in the API for operators, with their own limits. Null applies the client's limit. */
export interface ListedPerson extends PersonFacts, LimitsDocument<OwnLimitKey> {}

interface PersonFacts {
  id: string;
  /** Null if erased. */
  name: string | null;
  issuer: string | null;
  first_seen_at: Date;
  revoked_at: Date | null;
}

const OWN_COLUMNS = Prisma.raw(limitColumns(OWN_LIMIT_KEYS, 'p'));

/** Lists the people of clients, and sets their own limits without dual control. */
@Injectable()
export class PersonExceptionsService {
  private readonly writes: PersonExceptionWrites;

  constructor(
    private readonly prisma: SidePrisma,
    records: ChangeRecords,
  ) {
    this.writes = new PersonExceptionWrites(records);
  }

  /**
   * Lists people, newest first.
   * @param before lists only people with lower IDs.
   * @param name lists only people with this name, given by the client or by its providers (subject).
   */
  async list(
    clientName: string,
    { before, name, limit }: { before?: string | undefined; name?: string | undefined; limit: number },
  ): Promise<ListedPerson[]> {
    const client = await findClient(this.prisma, clientName);
    const hashes = [null, client.token_issuer, client.page_issuer].map((issuer) =>
      personHash(client.id, issuer, name ?? ''),
    );
    const named = name === undefined ? Prisma.empty : Prisma.sql`AND p.sha256 = ANY (${hashes}::bytea[])`;
    const older = before === undefined ? Prisma.empty : Prisma.sql`AND p.id < ${before}::uuid`;
    return this.read(
      Prisma.sql`p.client_id = ${client.id}::uuid ${named} ${older} ORDER BY p.id DESC LIMIT ${limit}`,
    );
  }

  /** Reads one person. @throws ClientError */
  async one(clientName: string, id: string): Promise<ListedPerson> {
    const client = await findClient(this.prisma, clientName);
    const where = Prisma.sql`p.client_id = ${client.id}::uuid AND p.id = ${id}::uuid`;
    const [person] = isUuid(id) ? await this.read(where) : [];
    if (!person) throw new ClientError(`no person of the client has the ID ${id}`, 'person_not_found');
    return person;
  }

  /** Adds a person. Idempotent. @returns the ID of the person. @throws ClientError */
  add(clientName: string, person: PersonName, author: ChangeAuthor): Promise<string> {
    return this.prisma.$transaction(
      async (tx) => this.writes.add(tx, await lockClient(tx, clientName), person, author),
      TRANSACTION_LIMITS,
    );
  }

  /** Changes the limits of a person. @throws ClientError */
  async limit(
    clientName: string,
    id: string,
    change: Partial<OwnLimits>,
    author: ChangeAuthor,
  ): Promise<undefined> {
    checkGrants(change);
    return this.prisma.$transaction(async (tx) => {
      const client = await lockClient(tx, clientName);
      const before = await readOwnLimits(tx, client.id, id);
      return this.writes.limit(tx, client, { id, before, change }, author);
    }, TRANSACTION_LIMITS);
  }

  private async read(where: Prisma.Sql): Promise<ListedPerson[]> {
    const rows = await this.prisma.$queryRaw<(PersonFacts & LimitsRow<OwnLimitKey>)[]>`
      SELECT p.id::text, p.name, p.issuer, p.first_seen_at, p.revoked_at, ${OWN_COLUMNS}
      FROM person p WHERE ${where}`;
    return rows.map((row) => {
      const { id, name, issuer, first_seen_at, revoked_at } = row;
      const limits = toLimitsDocument(readLimits(row, OWN_LIMIT_KEYS), OWN_LIMIT_KEYS);
      return { id, name, issuer, first_seen_at, revoked_at, ...limits };
    });
  }
}

/** Own limits by their names in the API. */
export type OwnLimitsDocument = Record<string, unknown>;

/** A person as named by the client or its provider. */
interface PersonName {
  name: string;
  /** The issuer of the person's tokens or page sign-ins. Null if the client names the person. */
  issuer: string | null;
}

const MAX_SUBJECT = 255;

type Client = Pick<ListedClient, 'id' | 'name' | 'token_issuer' | 'page_issuer'>;

/** Reads the limits of a person of a client. @throws ClientError */
export async function readOwnLimits(
  tx: Prisma.TransactionClient,
  clientId: string,
  id: string,
): Promise<OwnLimits> {
  const person = isUuid(id) ? await tx.person.findUnique({ where: { id } }) : null;
  if (person?.clientId !== clientId) {
    throw new ClientError(`no person of the client has the ID ${id}`, 'person_not_found');
  }
  return readLimits(person, OWN_LIMIT_KEYS);
}

/**
 * Writes own limits with their records, which name persons by ID. The caller has locked the client in its
 * transaction.
 */
export class PersonExceptionWrites {
  constructor(private readonly records: ChangeRecords) {}

  /** Adds a person. Idempotent. @returns the ID of the person. @throws ClientError */
  async add(
    tx: Prisma.TransactionClient,
    client: Client,
    person: PersonName,
    author: ChangeAuthor,
  ): Promise<string> {
    const { name, issuer } = checkedPerson(client, person);
    const id = newId();
    const values = [id, client.id, personHash(client.id, issuer, name), issuer, name, newSalt()];
    const [row] = await tx.$queryRawUnsafe<{ id: string }[]>(ADD_PERSON, ...values);
    if (!row) throw new Error('the upsert returned no row');
    if (row.id === id)
      await recordChanges(this.records, tx, [actOf(client, 'person_added', null, { person_id: id })], author);
    return row.id;
  }

  /**
   * Changes the limits of a person. A new version of the client's row evicts the old limits on every
   * instance.
   */
  async limit(
    tx: Prisma.TransactionClient,
    client: Client,
    { id, before, change }: { id: string; before: OwnLimits; change: Partial<OwnLimits> },
    author: ChangeAuthor,
  ): Promise<undefined> {
    const [old, requested] = [toPermissions(before), toPermissions(change)];
    const changed = Object.keys(requested).filter((name) => requested[name] !== old[name]);
    if (changed.length === 0) return undefined;
    await tx.$executeRaw`UPDATE person SET ${Prisma.join(toAssignments(change))} WHERE id = ${id}::uuid`;
    await tx.$executeRaw`UPDATE client SET name = name WHERE id = ${client.id}::uuid`;
    const stateOf = (state: object) => ({
      person_id: id,
      ...Object.fromEntries(Object.entries(state).filter(([name]) => changed.includes(name))),
    });
    const act = actOf(client, 'person_limits_changed', stateOf(old), stateOf(requested));
    await recordChanges(this.records, tx, [act], author);
    return undefined;
  }
}

/** @throws ClientError if no call of the client can have this person. */
function checkedPerson(client: Client, { name, issuer }: PersonName): PersonName {
  const issuers = [client.token_issuer, client.page_issuer];
  const faults = [
    issuer !== null &&
      !issuers.includes(issuer) && {
        pointer: '/issuer',
        detail: 'must be the token_issuer or the page_issuer of the client',
      },
    !(issuer === null ? isPersonId(name) : isSubject(name)) && {
      pointer: '/name',
      detail:
        'must be the subject at a provider, with its issuer, or an ID without an issuer: ' +
        '1 to 128 letters, digits, and the characters _ . : = / -, and no email address or phone number',
    },
  ].filter((fault) => fault !== false);
  if (faults.length === 0) return { name, issuer };
  throw new ClientError(
    faults.map(({ pointer, detail }) => `the ${pointer.slice(1)} ${detail}`).join('; '),
    undefined,
    faults,
  );
}

function isSubject(name: string): boolean {
  return name.length >= 1 && name.length <= MAX_SUBJECT && !/[\p{Cc}\p{Surrogate}]/u.test(name);
}

function actOf(
  { id, name }: Client,
  action: 'person_added' | 'person_limits_changed',
  before: object | null,
  after: object,
): ClientChange {
  return { action, client: { id, name }, keyId: null, before, after };
}
