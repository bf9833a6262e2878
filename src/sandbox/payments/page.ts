import type { FastifyPluginCallback } from 'fastify';
import Decimal from 'decimal.js';
import { Database } from '../database';
import { fieldsOf, readText } from '../validation';
import { PAYMENT_PATH } from './link';

/** What a paymentLink or payoutLink shows: how much, how many, and in which state. No recipient: whoever has the link sees it. */
export function paymentPage(database: Database): FastifyPluginCallback {
  return (server, _options, done) => {
    server.get(PAYMENT_PATH, async (request, reply) => {
      const issueID = readText(fieldsOf(request.query).issueID, 'issueID');
      const states = await database.transaction.groupBy({
        by: ['status'],
        where: { issueID },
        _count: true,
        _sum: { valueInUSD: true },
        orderBy: { status: 'asc' },
      });
      const lines = states.map(
        ({ status, _count: count, _sum: sum }) =>
          `${new Decimal(sum.valueInUSD ?? 0).toFixed(2)} USD to ${count} recipient${count === 1 ? '' : 's'}: ${status}`,
      );
      return reply
        .status(lines.length > 0 ? 200 : 404)
        .type('text/html; charset=utf-8')
        .header('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'")
        .send(page(lines.length > 0 ? lines : ['There is no payment behind this link.']));
    });
    done();
  };
}

/** `lines` hold only amounts and words of our own, never anything that a caller sent. */
function page(lines: string[]): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Sandbox payment</title>
<style>body{font:1rem/1.5 system-ui,sans-serif;max-width:36rem;margin:4rem auto;padding:0 1rem}</style>
<h1>Sandbox payment</h1>
${lines.map((line) => `<p>${line}</p>`).join('\n')}
<p><small>This is a sandbox: no money exists here.</small></p>
</html>
`;
}
