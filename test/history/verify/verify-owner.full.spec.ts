import { PersonDocument, recipientsText, saltedPeople } from '../../../src/journal/records/recipients';
import { makeSealedScene, SealedScene } from '../../support/records/sealed-scene';

let scene: SealedScene;

beforeAll(async () => {
  scene = await makeSealedScene();
});
afterAll(() => scene.close());

describe('verification of changes by the owner of the tables', () => {
  it.each([
    [
      'a body’s beginning was moved to its salt',
      'people_changed',
      'intent',
      `UPDATE intent_body SET salt = salt || substr(body, 1, 9), body = substr(body, 10) WHERE`,
    ],
    [
      'an instant was moved to the same year before Christ',
      'record_changed',
      'outcome',
      `UPDATE outcome SET sent_at = (to_char(sent_at AT TIME ZONE 'UTC',
        'YYYY-MM-DD HH24:MI:SS.US') || '+00 BC')::timestamptz WHERE`,
    ],
  ])('detects that %s', async (_what, code, kind, sql) => {
    const { fault } = await scene.verifyAfter(`${sql} intent_id = '${scene.calls[2]}'`);
    expect(fault).toMatchObject({ code, kind, record_id: scene.calls[2] });
  });

  it('detects that a recipient’s first letter was moved to the salt', async () => {
    const [row] = await scene.database.query<{ people: string; peopleSalt: Buffer }>(
      'SELECT people, people_salt AS "peopleSalt" FROM intent_body WHERE intent_id = $1',
      [scene.calls[2]],
    );
    const stored = { ...row!, people: JSON.parse(row!.people) as PersonDocument[] };
    // The names of a recipient share its salt, so this one has only an email.
    const moved = saltedPeople(stored).map(({ email = '', salt = '', ...person }) =>
      'handle' in person
        ? { ...person, email, salt }
        : { email: email.slice(1), ...person, salt: salt + Buffer.from(email.slice(0, 1)).toString('hex') },
    );
    const change = 'UPDATE intent_body SET people = $1, people_salt = NULL WHERE intent_id = $2';
    const { fault } = await scene.verifyAfter([change, [JSON.stringify(moved), scene.calls[2]]]);
    expect(moved).not.toEqual(saltedPeople(stored));
    expect(recipientsText({ people: moved, peopleSalt: null })).toBe(recipientsText(stored));
    expect(fault).toMatchObject({ code: 'people_changed', kind: 'intent', record_id: scene.calls[2] });
  });

  it.each([
    ['outcome', `kind = 'rejected'`],
    ['intent_body', `body = 'x'`],
  ])('detects a second %s next to the sealed one', async (table, change) => {
    const { fault } = await scene.verifyAfter(
      `ALTER TABLE ${table} DROP CONSTRAINT ${table}_pkey CASCADE`,
      `CREATE TEMP TABLE true_one ON COMMIT DROP AS SELECT * FROM ${table}
        WHERE intent_id = '${scene.calls[2]}'`,
      `UPDATE ${table} SET ${change} WHERE intent_id = '${scene.calls[2]}'`,
      `INSERT INTO ${table} SELECT * FROM true_one`,
    );
    expect(fault).toMatchObject({ code: 'record_twice', record_id: scene.calls[2] });
  });
});
