import { editPeople } from '../../support/records/documents';
import { leafOf, makeSealedScene, receivedAt, SealedScene } from '../../support/records/sealed-scene';

let scene: SealedScene;
let call: string;
let place: object;

beforeAll(async () => {
  scene = await makeSealedScene();
  call = scene.calls[2]!;
  place = { record_id: call, received_at: receivedAt(call) };
});
afterAll(() => scene.close());

/** The records of a call are texts. Columns repeat some members, and related rows open the commitments. */
describe('a manipulated call', () => {
  it.each([
    [
      'a byte of a body was changed',
      'people_changed',
      'intent',
      `UPDATE intent_body SET body = set_byte(body, 10, 33) WHERE`,
    ],
    [
      'a byte of an answer was changed',
      'people_changed',
      'outcome',
      `UPDATE outcome_body SET body = set_byte(body, 10, 33) WHERE`,
    ],
    [
      'a recipient was changed',
      'people_changed',
      'intent',
      `UPDATE intent_body SET people = replace(people, 'bob@example.com', 'eve@example.com') WHERE`,
    ],
    [
      'a recipient was taken away',
      'people_changed',
      'intent',
      `UPDATE intent_body SET people = replace(people, '"email":"bob@example.com",', '') WHERE`,
    ],
    [
      'a recipient was added',
      'people_changed',
      'intent',
      `UPDATE intent_body SET people = replace(people, ']',
        ',{"position":2}]') WHERE`,
    ],
    [
      'a recipient was added at a position that has one',
      'people_changed',
      'intent',
      `UPDATE intent_body SET people = replace(people, ']',
        ',{"position":1}]') WHERE`,
    ],
    [
      'recipients were swapped',
      'people_changed',
      'intent',
      `UPDATE intent_body SET people = translate(regexp_replace(people, '"position":(\\d)',
        '"position":<\\1>', 'g'), '01<>', '10') WHERE`,
    ],
    ['the row beside it was deleted', 'people_missing', 'intent', `DELETE FROM intent_body WHERE`],
    [
      'its body was deleted',
      'people_missing',
      'intent',
      `UPDATE intent_body SET salt = NULL, body = NULL WHERE`,
    ],
    ['its recipients were deleted', 'people_missing', 'intent', `UPDATE intent_body SET people = NULL WHERE`],
    [
      'its list of recipients was emptied',
      'people_missing',
      'intent',
      `UPDATE intent_body SET people = '[]' WHERE`,
    ],
    [
      'the body of another call was put in its place',
      'people_changed',
      'intent',
      `UPDATE intent_body b SET salt = o.salt, body = o.body FROM intent_body o
        WHERE o.intent_id <> b.intent_id AND b.`,
    ],
    [
      'the answer of another call was put in its place',
      'people_changed',
      'outcome',
      `UPDATE outcome_body b SET salt = o.salt, body = o.body FROM outcome_body o
        WHERE o.intent_id <> b.intent_id AND b.`,
    ],
    [
      'an item was added to its answer',
      'record_changed',
      'outcome',
      `UPDATE outcome SET record = replace(record, '"items":[', '"items":[{"upstream_ref":"chi-2"},') WHERE`,
    ],
    [
      'the text of its outcome is no JSON',
      'record_changed',
      'outcome',
      `UPDATE outcome SET record = 'x' WHERE`,
    ],
    ['its outcome was changed', 'record_changed', 'outcome', `UPDATE outcome SET kind = 'rejected' WHERE`],
    [
      'the duration of its outcome was changed',
      'record_changed',
      'outcome',
      `UPDATE outcome SET upstream_ms = 7 WHERE`,
    ],
    [
      'the duration of its outcome was removed',
      'record_changed',
      'outcome',
      `UPDATE outcome SET upstream_ms = NULL WHERE`,
    ],
    ['its outcome was deleted', 'record_missing', 'outcome', `DELETE FROM outcome WHERE`],
  ])('is named if %s', async (_what, code, kind, sql) => {
    const { fault } = await scene.verifyAfter(
      `${sql} intent_id = '${call}'`.replace('b. intent_id', 'b.intent_id'),
    );
    expect(fault).toMatchObject({ code, kind, leaf: await leafOf(scene, kind, call), ...place });
  });

  it.each([
    ['an amount was changed', `record = replace(record, '"amount_usd":"2.5"', '"amount_usd":"2.51"')`],
    ['an item was deleted', `record = regexp_replace(record, '"items":\\[\\{[^}]*\\},', '"items":[')`],
    ['its text was written in another way', `record = replace(record, '"table":', ' "table":')`],
    ['its total was changed beside its text', `total_usd = 3.76`],
    ['its total was removed beside its text', `total_usd = NULL`],
    ['its operation was changed beside its text', `operation = 'POST /send'`],
    ['its client was changed beside its text', `client_id = id`],
    ['its number of items was changed beside its text', `item_count = 3`],
    ['its day was changed beside its text', `reserved_on = reserved_on + 1`],
    ['its process was changed beside its text', `process = -1`],
    ['it was made a held one beside its text', `held_for = 'over_threshold'`],
    ['its expiry was added beside its text', `expires_at = '2099-01-01'`],
    ['its time was changed beside its text', `recorded_at = recorded_at + interval '1 microsecond'`],
  ])('is named if %s', async (_what, change) => {
    const { fault } = await scene.verifyAfter(`UPDATE intent SET ${change} WHERE id = '${call}'`);
    expect(fault).toMatchObject({
      code: 'record_changed',
      kind: 'intent',
      leaf: await leafOf(scene, 'intent', call),
      ...place,
    });
  });

  it.each([
    ['removed', 'NULL'],
    ['changed', `set_byte(people_salt, 3, get_byte(people_salt, 3) # 1)`],
    ['longer', `people_salt || '\\x00'`],
    ['shorter', `substr(people_salt, 2)`],
  ])('is named if the salt of its people was %s', async (_what, salt) => {
    const { fault } = await scene.verifyAfter(
      `UPDATE intent_body SET people_salt = ${salt} WHERE intent_id = '${call}'`,
    );
    expect(fault).toMatchObject({ code: 'people_changed', kind: 'intent', ...place });
  });

  it.each([
    ['no JSON', `'x'`],
    ['JSON that is no list', `'{}'`],
    ['JSON null', `'null'`],
    ['a list with null', `replace(people, ']', ',null]')`],
    ['a list of texts', `'["x"]'`],
    ['a number for an email', `replace(people, '"bob@example.com"', '5')`],
    ['null for an email', `replace(people, '"bob@example.com"', 'null')`],
    ['an email twice', `replace(people, '"email":"bob', '"email":"eve@example.com","email":"bob')`],
    ['an email in another form', `replace(people, '"bob@', '"\\u0062ob@')`],
    ['a position with a zero before it', `replace(people, '"position":1', '"position":01')`],
    ['a list with a space', `replace(people, '},{', '}, {')`],
    ['text behind its list', `people || '[]'`],
    ['a member that nothing commits to', `replace(people, '"email":"bob', '"about":"Bob","email":"bob')`],
    ['a position as text', `replace(people, '"position":1', '"position":"1"')`],
    ['a position with a fraction', `replace(people, '"position":1', '"position":1.5')`],
    ['a position before the first', `replace(people, '"position":1', '"position":-1')`],
    ['a salt beside that of the list', `replace(people, '}', ',"salt":"' || repeat('ab', 16) || '"}')`],
    [
      'a commitment in place of a name',
      `replace(people, '"email":"bob@example.com"',
        '"email_commitment":"' || repeat('ab', 32) || '"')`,
    ],
  ])('is named if its people became %s', async (_what, people) => {
    const { fault } = await scene.verifyAfter(editPeople(call, people));
    expect(fault).toMatchObject({ kind: 'intent', leaf: await leafOf(scene, 'intent', call), ...place });
    expect(fault?.code).toMatch(/^people_(changed|added)$/);
  });
});
