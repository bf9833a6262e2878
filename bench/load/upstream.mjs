/**
 * A stub upstream in a process of its own. It answers airtime and mobile money as the sandbox does, after the delay
 * that its parent set last, and stores nothing.
 */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { setTimeout } from 'node:timers';

let delayMs = Number(process.env.DELAY_MS ?? 0);
process.on('message', (ms) => (delayMs = ms));

const LISTS = {
  '/api/v0.1/info/airtime-countries': ['Kenya'],
  '/api/v0.1/info/mobile-money-codes': [{ name: 'M-Pesa', country: 'Kenya', code: 'MPS' }],
};

const server = createServer({ keepAliveTimeout: 600_000 }, (request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const body = JSON.stringify(answerTo(request.url, chunks));
    const reply = () =>
      response
        .writeHead(200, {
          'content-type': 'application/json; charset=utf-8',
          'content-length': Buffer.byteLength(body),
        })
        .end(body);
    if (delayMs === 0) reply();
    else setTimeout(reply, delayMs);
  });
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${server.address().port}` })}\n`);
});
process.once('SIGTERM', () => process.exit(0));

let serial = 0;

function answerTo(url, chunks) {
  const list = LISTS[url];
  if (list) return { status: 'success', data: list };
  const { airtimes, momos } = JSON.parse(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks));
  const issueID = `bench|${Date.now()}|${serial}`;
  const issueDate = new Date().toISOString();
  const transactions = (airtimes ?? momos).map((item) =>
    transaction(item, airtimes ? 'airtime' : 'momo', { issueID, issueDate }),
  );
  const payouts = transactions.map(({ phoneNumber, valueInUSD }) => ({
    phoneNumber,
    amount: valueInUSD,
    status: 'Sent',
  }));
  const data = airtimes ? { data: transactions, error: 'None', payouts } : { credits: transactions, payouts };
  return { status: 'success', data };
}

/** With the fields of the sandbox's transactions. */
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
