import { ClientsService } from '../../src/access/clients/clients.service';
import { ClientsApi, faultsOf, startClientsApi } from '../support/access/clients-api';
import supertest from '../support/http/supertest';
import { ApprovalScene, startApproving } from '../support/payments/approving';
import { PHONE } from '../support/payments/paying';

const NIGERIAN = '+2348012345678';

/** A client that may pay only to Kenya must not reach another country by writing "Kenya". */
describe('a client limited to one country', () => {
  let approving: ApprovalScene;

  beforeAll(async () => (approving = await startApproving()));
  afterAll(() => approving.close());
  beforeEach(async () => {
    await approving.reset();
    await change("countries = '{Kenya}', allow_foreign_numbers = FALSE, approval_over_usd = NULL");
  });

  const change = (assignment: string) =>
    approving.query(`UPDATE client SET ${assignment} WHERE id = $1`, [approving.clientId]);
  const airtimes = (...phones: string[]) => ({
    airtimes: phones.map((phoneNumber) => ({ countryToSend: 'Kenya', phoneNumber, valueInUSD: 1 })),
  });
  const momo = (phoneNumber: string) => ({
    momos: [{ countryToSend: 'Kenya', phoneNumber, valueInUSD: 1, momoCode: 'MPS', reference: 'r-1' }],
  });

  it.each([
    ['/payouts/airtime', airtimes(NIGERIAN), '/airtimes/0/phoneNumber'],
    ['/payouts/airtime', airtimes(PHONE, PHONE, NIGERIAN), '/airtimes/2/phoneNumber'],
    ['/payouts/mobile-money', momo(NIGERIAN), '/momos/0/phoneNumber'],
    ['/redeem/airtime', { chiRef: 'ref-1', countryToSend: 'Kenya', phoneNumber: NIGERIAN }, '/phoneNumber'],
  ])('cannot pay to a number of another country with %s', async (path, body, pointer) => {
    const refused = await approving.proxy.post(approving.app, path, body).expect(403);
    expect(refused.body).toMatchObject({
      code: 'country_not_allowed',
      errors: [{ pointer, detail: 'must be a number of a country that your client may pay to: Kenya' }],
    });
    expect(approving.upstream.received).toEqual([]);
    expect(await approving.spent()).toBeUndefined();
    const { body: preview } = await supertest(approving.proxy.url)
      .post(`/v1/preview${path}`)
      .set('X-API-Key', approving.app)
      .send(body)
      .expect(200);
    expect(preview).toMatchObject({ would: 'be_refused', refusal: { code: 'country_not_allowed' } });
    expect(preview.errors).toMatchObject([{ pointer }]);
  });

  it('pays to a number of its country', async () => {
    await approving.proxy.post(approving.app, '/payouts/airtime', airtimes(PHONE)).expect(200);
    expect(approving.upstream.received).toHaveLength(1);
  });

  it('cannot send a held call to a number of another country after the limit is set', async () => {
    await change("countries = '{}', allow_foreign_numbers = TRUE, approval_over_usd = 0.5");
    const asked = approving.proxy.post(approving.app, '/payouts/airtime', airtimes(NIGERIAN));
    const { call_id: id } = (await asked.expect(202)).body;
    await change("countries = '{Kenya}'");
    const { body: shown } = await approving.proxy
      .get(approving.approver.key, `/v1/approvals/${id}`)
      .expect(200);
    expect(shown.not_allowed).toMatchObject({ code: 'country_not_allowed' });
    const { body } = await approving.decide('approve', id).expect(409);
    expect(body).toMatchObject({
      code: 'no_longer_allowed',
      detail: expect.stringContaining('(country_not_allowed)'),
      errors: [{ pointer: '/airtimes/0/phoneNumber' }],
    });
    expect(approving.upstream.received).toEqual([]);
    await change("countries = '{Kenya,Nigeria}'");
    await approving.decide('approve', id).expect(200);
  });
});

describe('the countries of a client', () => {
  let api: ClientsApi;

  beforeAll(async () => (api = await startClientsApi()));
  afterAll(() => api.close());

  it('reject unknown countries of a new or changed client, and suggest the nearest name', async () => {
    const limited = { name: 'misspelt', scopes: ['read'], countries: ['KEN', 'Kenia', 'Guinée', 'Nowhere'] };
    const must = 'must be an English or French name of a country, or its ISO 3166-1 code';
    const faults = [
      { pointer: '/countries/1', detail: `${must}. Did you mean Kenya?` },
      { pointer: '/countries/3', detail: must },
    ];
    expect(await faultsOf(api.ask('post', '', limited))).toEqual(faults);
    expect((await api.ask('get', '/misspelt')).status).toBe(404);
    await api.create('misspelt', { countries: ['KEN', 'Guinée'] });
    expect(await faultsOf(api.ask('patch', '/misspelt', { countries: limited.countries }))).toEqual(faults);
    expect((await api.ask('get', '/misspelt')).body.countries).toEqual(['KEN', 'Guinée']);
  });

  it('reject unknown countries in the clients service', async () => {
    const clients = api.proxy.app.get(ClientsService, { strict: false });
    await expect(clients.create('never', ['read'], { countries: ['Kenya', 'Kenia'] })).rejects.toThrow(
      /^countries\/1 must be an English or French name of a country, .*Did you mean Kenya\?$/,
    );
  });
});
