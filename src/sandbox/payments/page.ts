import Decimal from 'decimal.js';
import type { FastifyPluginCallback } from 'fastify';
import { Behaviour } from '../behaviour/behaviour';
import { Database } from '../database';
import { fieldsOf, readText } from '../http/validation';
import { PAYMENT_PATH, paymentLink } from '../pages/links';
import { html, Html, errorBox, sendPage, servePages, usdText } from '../pages/page';
import { changeStatus, expireOverdue, NOT_DELETED } from '../transactions/status';
import { post } from '../wallets/ledger';

/**
 * Page of a paymentLink or payoutLink: amount, number of transactions, state, and a button that pays the
 * unpaid ones. It shows no recipient, because links are passed on.
 */
export function paymentPage(database: Database, behaviour: Behaviour): FastifyPluginCallback {
  return (server, _options, done) => {
    servePages(server);
    server.get(PAYMENT_PATH, async (request, reply) => {
      const issueID = readText(fieldsOf(request.query).issueID, 'issueID');
      await expireOverdue(database, behaviour);
      const states = await totalsByStatus(database, issueID);
      if (states.length === 0)
        return sendPage(reply, 404, 'Payment', errorBox('There is no payment behind this link.'));
      return sendPage(reply, 200, titleOf(states), content(issueID, states));
    });
    server.post(PAYMENT_PATH, async (request, reply) => {
      const issueID = readText(fieldsOf(request.body).issueID, 'issueID');
      await payIssue(database, behaviour, issueID);
      // A reload must not send the form again.
      return reply.redirect(paymentLink('', issueID), 303);
    });
    done();
  };
}

interface StatusTotal {
  status: string;
  description: string | null;
  count: number;
  usd: Decimal;
}

async function totalsByStatus(database: Database, issueID: string): Promise<StatusTotal[]> {
  const groups = await database.transaction.groupBy({
    by: ['status', 'description'],
    where: { issueID, ...NOT_DELETED },
    _count: true,
    _sum: { valueInUSD: true },
    orderBy: { status: 'asc' },
  });
  return groups.map(({ status, description, _count: count, _sum: sum }) => ({
    status,
    description,
    count,
    usd: new Decimal(sum.valueInUSD ?? 0),
  }));
}

function titleOf(states: StatusTotal[]): string {
  if (states.some(({ status }) => status === 'unpaid')) return 'Payment';
  if (states.every(({ status }) => status === 'expired')) return 'This payment has expired';
  return 'Nothing is left to pay';
}

function content(issueID: string, states: StatusTotal[]): Html {
  const unpaid = states.find(({ status }) => status === 'unpaid');
  const hasExpired = states.some(({ status }) => status === 'expired');
  const description = states[0]?.description;
  return html` ${description ? html`<p>${description}</p>` : ''}
    <table>
      <thead>
        <tr>
          <th scope="col">Status</th>
          <th scope="col">Recipients</th>
          <th scope="col">Amount</th>
        </tr>
      </thead>
      <tbody>
        ${states.map(
          ({ status, count, usd }) =>
            html`<tr>
              <td>${status}</td>
              <td>${count}</td>
              <td>${usdText(usd)}</td>
            </tr>`,
        )}
      </tbody>
    </table>
    ${hasExpired && html`<p>Expired transactions cannot be paid. Ask the sender for a new link.</p>`}
    ${
      unpaid &&
      html`<form method="post" action="${PAYMENT_PATH}">
        <input type="hidden" name="issueID" value="${issueID}" />
        <button>Pay ${usdText(unpaid.usd)}</button>
      </form>`
    }`;
}

/** Excludes transactions that the control interface made unpaid, and a wallet pays or has paid. */
const PAYABLE = { status: 'unpaid', wallet: null, money: 'kept' };

/** Pays the unpaid transactions of a batch with money from outside, once. */
async function payIssue(database: Database, behaviour: Behaviour, issueID: string): Promise<void> {
  await expireOverdue(database, behaviour);
  await database.$transaction(async (work) => {
    const unpaid = await work.transaction.findMany({ where: { issueID, ...PAYABLE }, select: { id: true } });
    const ids = unpaid.map(({ id }) => id);
    // A concurrent payment leaves fewer or none.
    const paid = await changeStatus(work, ids, { from: 'unpaid', to: 'paid', money: 'paid' });
    const usd = paid.reduce((sum, { valueInUSD }) => sum.plus(valueInUSD), new Decimal(0));
    await post(work, `payment ${issueID}`, [
      { account: 'outside', usd: usd.negated() },
      { account: 'issued credit', usd },
    ]);
  });
}
