import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { newId } from '../../platform/database/ids';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { SidePrisma } from '../../platform/database/pools/side-prisma';
import { withTimeout } from '../../platform/database/pools/timeouts';
import { commitment, newSalt } from '../../platform/privacy/commitment';
import { limitColumns, LimitsRow, OwnLimitKey } from '../clients/limits/limits';
import { OWN_LIMIT_KEYS, Person, personHash, PersonLimits, personLimitsOf } from './person';

/** Cache size: tens of megabytes. The least recently seen persons are evicted. */
const MAX_KNOWN = 50_000;

interface PersonRow extends LimitsRow<OwnLimitKey> {
  id: string;
  salt: Uint8Array | null;
}

const COLUMNS = `id::text, salt, ${limitColumns(OWN_LIMIT_KEYS, 'person')}`;

const FIND = `SELECT ${COLUMNS} FROM person WHERE sha256 = $1::bytea`;

/**
 * Adds a person, or restores the name of an erased one. The values are the ID, the client's ID, the hash, the
 * issuer, the name and a salt. The hash identifies the person.
 *
 * Of concurrent first requests, one adds the row. An erased person gets a new salt, so earlier records cannot
 * be linked to the name. A person restored by a recovery also gets the issuer.
 */
export const ADD_PERSON = `
  INSERT INTO person (id, client_id, sha256, issuer, name, salt)
    VALUES ($1::uuid, $2::uuid, $3::bytea, $4, $5, $6::bytea)
  ON CONFLICT (sha256) DO UPDATE SET
    name = coalesce(person.name, EXCLUDED.name), salt = coalesce(person.salt, EXCLUDED.salt),
    issuer = EXCLUDED.issuer, forget_after = NULL
  RETURNING ${COLUMNS}`;

/** The client of a person. */
interface PersonClient {
  clientId: string;
  /** The version of the client's row. It changes with the limits of its people. */
  rights: string;
  /** The limits of the client. */
  limits: PersonLimits;
}

/** Finds the persons that clients act for, and adds new ones. */
@Injectable()
export class PersonsService {
  /** Persons by the version of the client's row, so cached limits are never stale. */
  private readonly known = new LRUCache<string, Person>({ max: MAX_KNOWN });

  constructor(
    private readonly prisma: PrismaService,
    private readonly side: SidePrisma,
  ) {}

  /**
   * Finds a person of a client, or adds one. The row is committed on return, for admission.
   * @param issuer the issuer of the person's tokens. Null if the client names the person.
   * @param isPayment whether the request passes admission. Others never hold up a payment.
   * @throws DatabaseTooSlow
   */
  async find(
    { clientId, rights, limits }: PersonClient,
    { issuer, name }: { issuer: string | null; name: string },
    { timeoutMs, isPayment }: { timeoutMs: number; isPayment: boolean },
  ): Promise<Person> {
    const sha256 = personHash(clientId, issuer, name);
    const key = cacheKey({ rights, sha256 });
    const known = this.known.get(key);
    if (known) return known;
    const values = [newId(), clientId, sha256, issuer, name];
    const query = read(isPayment ? this.prisma : this.side, sha256, values);
    const { id, salt, ...own } = await withTimeout(query, timeoutMs);
    const personLimits = personLimitsOf(own, limits);
    const person = { id, sha256, name, salt, commitment: commitment(salt, name), limits: personLimits };
    this.known.set(key, person);
    return person;
  }

  /** Evicts a person that the database lacks. The next request adds the person. */
  forget({ rights }: Pick<PersonClient, 'rights'>, { sha256 }: Pick<Person, 'sha256'>): void {
    this.known.delete(cacheKey({ rights, sha256 }));
  }
}

function cacheKey({ rights, sha256 }: Pick<PersonClient, 'rights'> & Pick<Person, 'sha256'>): string {
  return `${rights} ${sha256.toString('base64')}`;
}

async function read(
  prisma: PrismaService,
  sha256: Buffer,
  values: unknown[],
): Promise<PersonRow & { salt: Buffer }> {
  const [found] = await prisma.prepared<PersonRow>('find_person', FIND, [sha256]);
  const [row] = found?.salt
    ? [found]
    : await prisma.prepared<PersonRow>('add_person', ADD_PERSON, [...values, newSalt()]);
  if (!row?.salt) throw new Error('the upsert returned no row');
  return { ...row, salt: Buffer.from(row.salt) };
}
