import supertest from '../http/supertest';

/** Requests of administrators under dual control, each with a key. */
export function changeRequests(url: () => string) {
  const web = () => supertest(url());
  return {
    create: (key: string, body: object) => web().post('/v1/clients').set('X-API-Key', key).send(body),
    change: (key: string, name: string, body: object) =>
      web().patch(`/v1/clients/${name}`).set('X-API-Key', key).send(body),
    issue: (key: string, name: string, body: object = {}) =>
      web().post(`/v1/clients/${name}/keys`).set('X-API-Key', key).send(body),
    decide: (key: string, id: string, decision: 'approve' | 'reject' = 'approve') =>
      web()
        .post(`/v1/changes/${id}/${decision}` as `/v1/changes/{id}/approve`)
        .set('X-API-Key', key)
        .send({ reason: 'agreed' }),
  };
}

/** Returns the ID of a pending change from its response. */
export const changeIdOf = ({ body }: { body: object }) => (body as { change_id: string }).change_id;
