import { ClientsService } from '../src/access/clients/clients.service';
import { ACTOR_SOURCES } from '../src/access/people/person';
import { newId } from '../src/platform/database/ids';
import { Approving, startApproving } from './support/approving';
import { AIRTIME } from './support/paying';

/** Four eyes are two people's: by their clients, their keys, and their names where these are known. */
describe('an approval by another person', () => {
  let approving: Approving;
  beforeAll(async () => (approving = await startApproving()));
  afterAll(() => approving.close());

  /** @returns a key of the approver for this person. */
  const issueKey = async (person: string) =>
    (await approving.proxy.app.get(ClientsService, { strict: false }).issueKey('approver', { person })).key;

  /** @returns the ID of a new person of the app's client. */
  const addPerson = async () => {
    const id = newId();
    await approving.query(
      "INSERT INTO person (id, client_id, sha256, name, salt) VALUES ($1, $2, sha256($3), $4, sha256('salt'))",
      [id, approving.clientId, Buffer.from(id), `person-${id}`],
    );
    return id;
  };

  it.each(['approve', 'reject'] as const)(
    'is required, with their own key, to %s what a person requested',
    async (decision) => {
      const [ada, grace] = [await issueKey('ada.l'), await issueKey('grace')];
      const asked = await approving.hold({ actor: 'Ada.L' });
      const refused = async (key: string | undefined, actor: string) => {
        const { body } = await approving.decide(decision, asked, {}, key).set('X-Actor', actor).expect(403);
        expect(body.code).toBe('own_approval');
        return body.detail;
      };
      for (const actor of ['ada.l', 'ADA.L']) await refused(undefined, actor);
      for (const actor of ['grace', '']) {
        expect(await refused(undefined, actor)).toContain('keys issue --client approver --person');
      }
      for (const actor of ['', 'grace']) await refused(ada, actor);
      const { body } = await approving.decide(decision, asked, {}, grace).set('X-Actor', 'alan').expect(200);
      expect(body.approval?.decided_by?.actor).toBe('grace');
    },
  );

  it('is impossible once the requesting key was revoked, but a rejection is not', async () => {
    const [asked, kept] = [await approving.hold(), await approving.hold()];
    const key = await approving.query(
      "UPDATE api_key SET revoked_at = now() WHERE id = (SELECT (record::json ->> 'key_id')::uuid FROM intent WHERE id = $1) RETURNING id",
      [asked],
    );
    const { body } = await approving.decide('approve', asked).expect(409);
    expect(body.code).toBe('key_revoked');
    await approving.decide('reject', asked).expect(200);
    await approving.query('UPDATE api_key SET revoked_at = NULL WHERE id = $1', [key[0]?.id]);
    await approving.decide('approve', kept).expect(200);
  });

  it.each(ACTOR_SOURCES)('ends with a revocation of the requester if the credential was theirs: %s', async (source) => {
    const isTheirs = source !== 'key' && source !== 'claimed';
    const person = { person_id: await addPerson(), actor_source: source };
    const asked = await approving.hold(person);
    await approving.query(
      'UPDATE person SET revoked_at = (SELECT recorded_at FROM intent WHERE id = $2) WHERE id = $1',
      [person.person_id, asked],
    );
    const later = await approving.hold({ ...person, recorded_at: new Date() });
    const grace = await issueKey('grace');
    const { body: shown } = await approving.proxy.get(grace, `/v1/approvals/${asked}` as const).expect(200);
    expect(shown.not_allowed?.code).toBe(isTheirs ? 'key_revoked' : undefined);
    await approving.decide('approve', asked, {}, grace).expect(isTheirs ? 409 : 200);
    await approving.decide('approve', later, {}, grace).expect(200);
  });

  it('is not replaced by an invalid X-Actor, which is rejected and not recorded', async () => {
    for (const actor of ['bob@corp.example', 'bob smith', '+2348012345678', 'b'.repeat(129)]) {
      const { body } = await approving.proxy
        .post(approving.app, '/payouts/airtime', AIRTIME)
        .set('X-Actor', actor)
        .expect(400);
      expect(body.code).toBe('invalid_actor');
    }
    const rows = await approving.query("SELECT DISTINCT actor FROM refusal WHERE code = 'invalid_actor'");
    expect(rows).toEqual([{ actor: null }]);
  });

  it.each(['approve', 'reject'] as const)('never takes the person who decides from X-Actor: %s', async (decision) => {
    const { body } = await approving
      .decide(decision, await approving.hold())
      .set('X-Actor', 'grace')
      .expect(200);
    expect(body.approval?.decided_by).toMatchObject({ client: { name: 'approver' }, actor: null });
  });
});
