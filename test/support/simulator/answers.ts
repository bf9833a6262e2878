import type { ServerResponse } from 'node:http';
import type { Kind, RequestedItem } from './ledger';
import type { AnswerLie } from './lies';
import type { Row } from './rows';

const LINK = 'https://pay.example.com/';

/** Answers with JSON. */
export function answerJson(response: ServerResponse, status: number, body: object, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

function answerHtml(response: ServerResponse, status: number): void {
  response.writeHead(status, { 'content-type': 'text/html' });
  response.end(`<html><head><title>${status}</title></head><body><h1>${status}</h1></body></html>`);
}

const error = (text: string) => ({ status: 'error', error: text });

/** Answers a request to pay. `body` is the true answer, and `lateMs` is longer than the caller waits. */
type Answering = (response: ServerResponse, body: object, lateMs: number) => void;

export const ANSWERING: Record<AnswerLie | 'success', Answering> = {
  success: (response, body) => answerJson(response, 200, body),
  'error-500': (response) => answerJson(response, 500, error('Something went wrong')),
  'error-v2': (response) =>
    answerJson(response, 500, {
      status: 'error',
      type: 'Transaction Error',
      code: 'TRANSACTION_FAILED',
      message: 'fail to send bulk airtime',
    }),
  'html-500': (response) => answerHtml(response, 500),
  'html-502': (response) => answerHtml(response, 502),
  'error-200': (response) => answerJson(response, 200, error('Transaction failed')),
  'error-400': (response) => answerJson(response, 400, error('sender must be a valid user ID')),
  'refused-401': (response) =>
    answerJson(response, 401, error('key is not defined. Generate a new one from the developer portal')),
  'refused-403': (response) => answerJson(response, 403, error('API Access not enabled for account')),
  'limited-429': (response) => answerJson(response, 429, error('Too many requests'), { 'retry-after': '1' }),
  'empty-204': (response) => void response.writeHead(204).end(),
  'data-error': (response) =>
    answerJson(response, 200, { status: 'success', data: { error: 'not found for that id' } }),
  'names-nothing': (response) => answerJson(response, 200, { status: 'success', data: {} }),
  'cut-body': (response, body) => {
    startOf(response, body, () => response.socket?.destroy());
  },
  garbage: (response) => {
    const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n';
    response.socket?.end(`${head}5\r\n{"sta\r\nzz\r\n\x00\xff garbage`);
  },
  'hang-in-body': (response, body) => startOf(response, body, () => undefined),
  reset: (response) => response.socket?.resetAndDestroy(),
  'too-late': (response, body, lateMs) => {
    setTimeout(() => answerJson(response, 200, body), lateMs).unref();
  },
};

/** Sends the first half of an answer. */
function startOf(response: ServerResponse, body: object, then: () => void): void {
  const text = JSON.stringify(body);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': text.length });
  response.write(text.slice(0, text.length / 2), then);
}

const handover = ({ phoneNumber, usd }: RequestedItem, position: number) => ({
  phoneNumber,
  amount: `KES ${(usd * 129.5).toFixed(4)}`,
  status: 'Sent',
  requestId: `handover-${position}`,
  errorMessage: 'None',
});

/** Returns the observed success of an operation. */
export function successOf(
  operation: string,
  { kind, items, rows, error: text }: { kind: Kind; items: RequestedItem[]; rows: Row[]; error: string },
): object {
  const isHandedOver = rows.length === items.length && rows.every(({ status }) => status === 'paid');
  const payouts = isHandedOver && kind !== 'credit' && { payouts: items.map(handover) };
  switch (operation) {
    case '/payouts/airtime':
      return { status: 'success', data: { payoutLink: LINK, data: rows, error: text, ...payouts } };
    case '/payouts/mobile-money':
      return { status: 'success', data: { credits: rows, ...payouts } };
    case '/payouts/credit':
      return { status: 'success', data: { paymentLink: LINK, data: rows, credits: [], error: text } };
    case '/payouts/initiate-credit':
      return { status: 'success', data: { paymentLink: LINK, data: rows, error: text } };
    case '/account/transfer': {
      const [row] = rows;
      const { receiver, usd: valueInUSD } = items[0] ?? {};
      const data = { sender: row?.issuer, wallet: 'chi', valueInUSD, tnxID: row?.chiRef, receiver };
      return { status: 'success', data: { data, error: text } };
    }
    default:
      return { status: 'success', data: { paymentLink: LINK } };
  }
}
