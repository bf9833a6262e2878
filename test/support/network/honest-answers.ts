import { randomUUID } from 'node:crypto';

type Fields = Record<string, unknown>;

/** Status of a new transaction, and the shape of the answer, by operation that names its transactions. */
const NAMING: Record<string, { type: string; status: string; data: (transactions: Fields[]) => Fields }> = {
  '/payouts/airtime': {
    type: 'airtime',
    status: 'paid',
    data: (data) => ({ payoutLink: LINK, data, error: 'None', payouts: data.map(toPayout) }),
  },
  '/payouts/mobile-money': {
    type: 'momo',
    status: 'paid',
    data: (credits) => ({ credits, payouts: credits.map(toPayout) }),
  },
  '/payouts/credit': {
    type: 'credit',
    status: 'paid',
    data: (data) => ({ paymentLink: LINK, data, credits: [], error: 'None' }),
  },
  '/payouts/initiate-credit': {
    type: 'credit',
    status: 'unpaid',
    data: (data) => ({ paymentLink: LINK, data, error: 'None' }),
  },
};

const LINK = 'https://pay.example.com/1';

/** The body of a success. */
interface Success {
  status: 'success';
  data: Fields;
}

/**
 * Returns a success as the contract shows it (docs/reference/upstream.md, "Results by operation"): with a new
 * transaction for each item of the request. Other operations get an empty success.
 */
export function successOf({ url, body }: { url: string; body: string }): Success {
  const [path = ''] = url.replace('/api/v0.1', '').split('?');
  const naming = NAMING[path];
  if (!naming) return { status: 'success', data: { error: 'None' } };
  const { type, status, data } = naming;
  const issueID = `issuer_${Date.now()}`;
  const issueDate = new Date().toISOString();
  const transactions = itemsOf(body).map((item) => ({
    id: randomUUID().replaceAll('-', '').slice(0, 20),
    chiRef: randomUUID(),
    issueID,
    issueDate,
    type,
    status,
    ...item,
  }));
  return { status: 'success', data: data(transactions) };
}

/** Returns the items of a request. Its body has one list. */
function itemsOf(body: string): Fields[] {
  const lists = Object.values(JSON.parse(body) as Fields).filter(Array.isArray) as Fields[][];
  return lists.flat();
}

function toPayout({ id, phoneNumber, valueInUSD }: Fields): Fields {
  return {
    phoneNumber,
    amount: `USD ${String(valueInUSD)}`,
    status: 'Sent',
    requestId: id,
    errorMessage: 'None',
  };
}
