import { Injectable } from '@nestjs/common';
import { Prisma } from '../../platform/database/generated/client';
import { SidePrisma } from '../../platform/database/side-prisma';
import { isUuid } from '../../platform/database/uuid';
import { ChangeAuthor, ChangeRecords } from '../clients/changes';
import { ClientError } from '../clients/client-error';
import { findClient, lockClient } from '../clients/client-writes';
import { PATIENCE } from '../clients/clients.service';
import { OwnLimitKey } from '../clients/limit-keys';
import { limitColumns, LimitsDocument, LimitsRow, readLimits, toLimitsDocument } from '../clients/limits';
import { OWN_LIMIT_KEYS, OwnLimits } from './person';
import { checkOwnLimits, PersonExceptionWrites, PersonName, readOwnLimits } from './person-exceptions';
import { personHash } from './person-hash';

/** A person as operators see them, with the names of the API and the person's own limits. Null: the client's. */
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

/** Lists the people of clients, and gives them limits of their own without a second person. */
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
   * Lists people, those seen first last.
   * @param before lists only people with lower IDs.
   * @param name lists only the people with this name: the one whom the client names, and the subject at its providers.
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
    return this.read(Prisma.sql`p.client_id = ${client.id}::uuid ${named} ${older} ORDER BY p.id DESC LIMIT ${limit}`);
  }

  /** Reads one person. @throws ClientError */
  async one(clientName: string, id: string): Promise<ListedPerson> {
    const client = await findClient(this.prisma, clientName);
    const where = Prisma.sql`p.client_id = ${client.id}::uuid AND p.id = ${id}::uuid`;
    const [person] = isUuid(id) ? await this.read(where) : [];
    if (!person) throw new ClientError(`no person of the client has the ID ${id}`, 'person_not_found');
    return person;
  }

  /** Adds a person, unless the client has the person already. @returns the ID of the person. @throws ClientError */
  add(clientName: string, person: PersonName, by: ChangeAuthor): Promise<string> {
    return this.prisma.$transaction(
      async (tx) => this.writes.add(tx, await lockClient(tx, clientName), person, by),
      PATIENCE,
    );
  }

  /** Changes the limits of a person. @throws ClientError */
  async limit(clientName: string, id: string, change: Partial<OwnLimits>, by: ChangeAuthor): Promise<undefined> {
    checkOwnLimits(change);
    return this.prisma.$transaction(async (tx) => {
      const client = await lockClient(tx, clientName);
      const before = await readOwnLimits(tx, client.id, id);
      return this.writes.limit(tx, client, { id, before, change }, by);
    }, PATIENCE);
  }

  private async read(where: Prisma.Sql): Promise<ListedPerson[]> {
    const rows = await this.prisma.$queryRaw<(PersonFacts & LimitsRow<OwnLimitKey>)[]>`
      SELECT p.id::text, p.name, p.issuer, p.first_seen_at, p.revoked_at, ${OWN_COLUMNS} FROM person p WHERE ${where}`;
    return rows.map((row) => {
      const { id, name, issuer, first_seen_at, revoked_at } = row;
      const limits = toLimitsDocument(readLimits(row, OWN_LIMIT_KEYS), OWN_LIMIT_KEYS);
      return { id, name, issuer, first_seen_at, revoked_at, ...limits };
    });
  }
}
