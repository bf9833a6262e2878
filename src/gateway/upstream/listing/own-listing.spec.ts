import { listedIn, withListed } from './own-listing';

const [OWN, OTHERS] = [{ chiRef: 'own' }, { chiRef: 'theirs', email: 'ada@example.com' }];
const isOwn = (one: unknown) => one === OWN || (one as typeof OWN | null)?.chiRef === 'own';
const kept = (body: unknown) =>
  JSON.parse(
    withListed(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)), isOwn).toString(),
  ) as object;

describe('withListed', () => {
  it('keeps the digits of its references', () => {
    const [own, other] = [12345678901234567n, 12345678901234568n];
    const body = Buffer.from(`{"status":"success","data":[{"chiRef":${own}},{"chiRef":${other}}]}`);
    const shown = withListed(body, (one) => (one as { chiRef: bigint }).chiRef === own).toString();
    expect(shown).toBe(`{"status":"success","data":[{"chiRef":${own}}]}`);
  });

  it.each([
    [
      { status: 'success', data: [OWN, OTHERS] },
      { status: 'success', data: [OWN] },
    ],
    [
      { status: 'success', data: { data: [OTHERS, OWN], credits: [OTHERS], error: 'None' } },
      { status: 'success', data: { error: 'None', data: [OWN], credits: [] } },
    ],
    [
      { status: 'success', data: {} },
      { status: 'success', data: {} },
    ],
    [
      { status: 'error', error: 'not found for that id' },
      { status: 'error', error: 'not found for that id' },
    ],
  ])('keeps its envelope: %j', (body, shown) => expect(kept(body)).toEqual(shown));

  it.each([
    [{ status: 'success', data: OTHERS }],
    [{ status: 'success', data: { ...OTHERS, error: OTHERS } }],
    [{ status: 'success', data: { payouts: [OTHERS], paymentLink: 'theirs' } }],
    [{ status: 'success', data: { data: { data: [OTHERS] } } }],
    [{ status: 'success', data: [[OTHERS], null, 'theirs', 1], transactions: [OTHERS] }],
    [{ status: [OTHERS], error: OTHERS, message: { data: [OTHERS] } }],
    [[OTHERS]],
    ['theirs'],
    ['{"data": [{"chiRef": "theirs"}'],
    [''],
  ])('omits everything that may belong to others: %j', (body) => {
    expect(JSON.stringify(kept(body))).not.toMatch(/theirs|ada/);
  });

  it('lists only the transactions that it keeps', () => {
    const body = { data: { data: [OWN, OTHERS], credits: [OWN], payouts: [OTHERS] } };
    expect(listedIn(Buffer.from(JSON.stringify(body)))).toEqual([OWN, OTHERS, OWN]);
    for (const other of ['', 'x', '[]', '{"data":"x"}', '{"data":{"data":{}}}']) {
      expect(listedIn(Buffer.from(other))).toEqual([]);
    }
  });
});
