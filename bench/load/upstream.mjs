/**
 * A stub upstream in a process of its own. It answers airtime and mobile money as the sandbox does, by the
 * last settings of its parent. It keeps only payments to be listed.
 */
import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { createServer } from 'node:http';
import { setTimeout } from 'node:timers';

const settings = {
  /** The delay of each answer, in ms. */
  delayMs: 0,
  /** Whether payments are listed from now on. */
  lists: false,
  /** Each payment whose number is divisible by this is made, and its answer is lost. 0 for none. */
  losesEach: 0,
  /** A file with the listing, in place of what was paid. */
  listing: null,
  /** JSON of its wallets. */
  wallets: '[]',
};
process.on('message', (changes) => Object.assign(settings, changes));

const TRANSACTIONS = '/api/v0.1/account/transactions';
const WALLETS = '/api/v0.1/wallets/list';
const LISTS = {
  '/api/v0.1/info/airtime-countries': ['Kenya'],
  '/api/v0.1/info/mobile-money-codes': [{ name: 'M-Pesa', country: 'Kenya', code: 'MPS' }],
};

const server = createServer({ keepAliveTimeout: 600_000 }, (request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    response.setHeader('content-type', 'application/json; charset=utf-8');
    const { delayMs, listing, losesEach } = settings;
    if (listing !== null && request.url.startsWith(TRANSACTIONS))
      return createReadStream(listing).pipe(response);
    const body = JSON.stringify(answerTo(request.url, chunks));
    const reply = () =>
      response
        .writeHead(200, {
          'content-length': Buffer.byteLength(body),
        })
        .end(body);
    if (losesEach > 0 && serial % losesEach === 0) request.socket.destroy();
    else if (delayMs === 0) reply();
    else setTimeout(reply, delayMs);
  });
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${server.address().port}` })}\n`);
});
process.once('SIGTERM', () => process.exit(0));

let serial = 0;
const listed = [];

function answerTo(url, chunks) {
  const path = url.split('?', 1)[0];
  const list = path === TRANSACTIONS ? listed : path === WALLETS ? JSON.parse(settings.wallets) : LISTS[path];
  if (list) return { status: 'success', data: list };
  if (!path.includes('/payouts/')) return { status: 'success', data: { error: 'not found for that id' } };
  const { airtimes, momos } = JSON.parse(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks));
  const issueID = `bench|${Date.now()}|${serial}`;
  const issueDate = new Date().toISOString();
  const transactions = (airtimes ?? momos).map((item) =>
    transaction(item, airtimes ? 'airtime' : 'momo', { issueID, issueDate }),
  );
  // All payments are equal.
  if (settings.lists) listed.push(...transactions.map((one) => ({ ...one, reference: undefined })));
  const payouts = transactions.map(({ phoneNumber, valueInUSD }) => ({
    phoneNumber,
    amount: valueInUSD,
    status: 'Sent',
  }));
  const data = airtimes ? { data: transactions, error: 'None', payouts } : { credits: transactions, payouts };
  return { status: 'success', data };
}

/** Returns a transaction with the fields of the sandbox's. */
function transaction(item, type, issue) {
  serial += 1;
  const id = randomUUID(); // Like theirs, anywhere in an index.
  return {
    id,
    chiRef: `c${id.slice(1)}`,
    ...issue,
    issuer: 'bench',
    initiatedBy: 'bench',
    type,
    status: 'paid',
    credit: item.valueInUSD * 1_000,
    ...item,
    phone: item.phoneNumber,
    enabledToRedeem: [type],
    integration: { appID: 'bench' },
  };
}
