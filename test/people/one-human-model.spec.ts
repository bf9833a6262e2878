import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { newId } from '../../src/platform/database/ids';
import { createTestDatabase, TestDatabase } from '../support/databases/test-database';
import { runs } from '../support/examples/runs';

const NAMES = ['ada', 'Bob', 'carol', 'dora'];
const SUBJECTS = ['s1', 's2', 'ada', 'BOB'];
const ISSUERS = ['https://one.example', 'https://two.example'];

type Act =
  | { act: 'key'; name: string }
  | { act: 'sign_in'; name: string; issuer: string; subject: string }
  | { act: 'user'; name: string; issuer: string | null }
  | { act: 'merge'; kept: number; merged: number };

const name = fc.constantFrom(...NAMES, ...NAMES.map((each) => each.toUpperCase()));
const issuer = fc.constantFrom(...ISSUERS);
const acts: fc.Arbitrary<Act> = fc.oneof(
  fc.record({ act: fc.constant('key' as const), name }),
  fc.record({ act: fc.constant('sign_in' as const), name, issuer, subject: fc.constantFrom(...SUBJECTS) }),
  fc.record({
    act: fc.constant('user' as const),
    name: fc.constantFrom(...NAMES, ...SUBJECTS),
    issuer: fc.option(issuer),
  }),
  fc.record({ act: fc.constant('merge' as const), kept: fc.nat(20), merged: fc.nat(20) }),
);

/** A model of humans without the database: joined sets of names, subjects and users. */
class Humans {
  private readonly parents = new Map<string, string>();

  has = (node: string) => this.parents.has(node);

  add(node: string): string {
    if (!this.has(node)) this.parents.set(node, node);
    return node;
  }

  rootOf(node: string): string {
    const parent = this.parents.get(node) ?? node;
    return parent === node ? node : this.rootOf(parent);
  }

  join(node: string, other: string): void {
    this.parents.set(this.rootOf(node), this.rootOf(other));
  }
}

interface User {
  id: string;
  name: string;
  issuer: string | null;
}

describe('the identities of one human', () => {
  let database: TestDatabase;
  const client = newId();

  beforeAll(async () => {
    database = await createTestDatabase();
    await database.query("INSERT INTO client (id, name, scopes) VALUES ($1, 'app', '{pay}')", [client]);
  });
  afterAll(() => database.close());

  const addKey = async (person: string, signIn?: { issuer: string; subject: string }) => {
    const id = newId();
    const { issuer: at = null, subject = null } = signIn ?? {};
    await database.query(
      `INSERT INTO api_key (id, client_id, sha256, hint, person, kind, issuer, subject, revoked_at)
       VALUES ($1::uuid, $2, sha256(uuid_send($1::uuid)), '', $3, $4, $5, $6, $7)`,
      [id, client, person, signIn ? 'sign_in' : 'secret', at, subject, signIn ? new Date() : null],
    );
    return id;
  };
  const addUser = async ({ name: called, issuer: at }: Omit<User, 'id'>) => {
    const sha256 = createHash('sha256')
      .update(JSON.stringify([at, called]))
      .digest();
    const [row] = await database.query<{ id: string }>(
      `INSERT INTO person (id, client_id, sha256, issuer, name, salt) VALUES ($1, $2, $3, $4, $5, 'salt')
       ON CONFLICT (sha256) DO UPDATE SET name = EXCLUDED.name RETURNING id`,
      [newId(), client, sha256, at, called],
    );
    return row?.id ?? '';
  };

  it('agree with a model, in any order of discovery', async () => {
    const world = async (all: Act[]) => {
      await database.query('DELETE FROM api_key');
      await database.query('DELETE FROM person');
      const model = new Humans();
      const [keys, users, people] = [
        new Map<string, string>(),
        new Map<string, User>(),
        new Map<string, string>(),
      ];
      for (const act of all) {
        if (act.act === 'user') {
          const id = await addUser(act);
          users.set(model.add(`user ${id}`), { ...act, id });
          people.set(`user ${id}`, id);
        } else if (act.act === 'merge') {
          const known = [...people];
          const [first, second] = [known[act.kept % known.length], known[act.merged % known.length]];
          if (!first || !second) continue;
          await database.query('SELECT merge_people($1, $2)', [first[1], second[1]]);
          model.join(first[0], second[0]);
        } else {
          const node = model.add(`name ${act.name.toLowerCase()}`);
          const id = await addKey(act.name, act.act === 'sign_in' ? act : undefined);
          keys.set(node, id);
          const [key] = await database.query<{ person_id: string }>(
            'SELECT person_id FROM api_key WHERE id = $1',
            [id],
          );
          people.set(node, key?.person_id ?? '');
          if (act.act === 'sign_in') model.join(node, model.add(`subject ${act.issuer} ${act.subject}`));
        }
      }
      for (const [node, user] of users) {
        const expected = [...keys].filter(([key]) => mayBe(model, { node, key, users })).map(([key]) => key);
        const found = await database.query<{ key: string }>(
          `SELECT key FROM unnest($1::text[], $2::uuid[]) AS k(key, id)
           WHERE humans_behind(ARRAY[$3::uuid], '{}', '{}') && humans_behind('{}', '{}', ARRAY[id])`,
          [[...keys.keys()], [...keys.values()], user.id],
        );
        expect(found.map(({ key }) => key)).toEqual(expected);
      }
      for (const [node, id] of keys)
        for (const [other, otherId] of keys) {
          const [row] = await database.query<{ same: boolean }>(
            `SELECT humans_behind('{}', '{}', ARRAY[$1::uuid])
               && humans_behind('{}', '{}', ARRAY[$2::uuid]) AS same`,
            [id, otherId],
          );
          const isSame = model.rootOf(node) === model.rootOf(other);
          expect([node, other, row?.same]).toEqual([node, other, isSame]);
        }
    };
    await fc.assert(fc.asyncProperty(fc.array(acts, { minLength: 2, maxLength: 14 }), world), {
      numRuns: runs(25),
    });
  });
});

/** Returns whether a user, or a person merged with the user, has the name or the subject of a key. */
function mayBe(
  model: Humans,
  { node, key, users }: { node: string; key: string; users: Map<string, User> },
): boolean {
  const alike = [...users]
    .filter(([other]) => model.rootOf(other) === model.rootOf(node))
    .map(([, user]) => user);
  const nodes = alike.flatMap((user) => [
    `name ${user.name.toLowerCase()}`,
    ...(user.issuer === null ? [] : [`subject ${user.issuer} ${user.name}`]),
  ]);
  const counted = [node, ...nodes.filter(model.has)];
  return counted.some((each) => model.rootOf(each) === model.rootOf(key));
}
