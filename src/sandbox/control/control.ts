import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyPluginCallback } from 'fastify';
import { BehaviourPatch, EVENT_RULES, readBehaviourPatch, showBehaviour } from '../behaviour/behaviour-patch';
import { faultKinds, magicRecipients, readFault } from '../faults/faults';
import { check, integer, isObject, number, Rule, trimmedText, webAddress } from '../http/rules';
import type { Service } from '../service';
import { ledgerOf } from '../wallets/ledger';
import { NewAccount, openAccount } from './changes';
import { answerControlError, ControlRequestError, readNumber, readOrRefuse } from './control-errors';
import { listAccounts } from './true-state';
import { truthRoutes } from './truth';

export const CONTROL_PREFIX = '/_sandbox';

/** Functions of the control interface that concern the whole sandbox. */
export interface Controls {
  controlKey: string;
  /** Resets data, faults, ground truth, events, and settings. */
  reset(): Promise<void>;
  /** Changes the behaviour of the sandbox. */
  patchSettings(patch: BehaviourPatch): Promise<void>;
}

const INDEX = {
  'GET /_sandbox': 'this list',
  'GET /_sandbox/requests': 'list every request, in order of arrival; ?operation= ?after=<seq> ?limit=',
  'GET /_sandbox/ledger': 'read the balances of all accounts',
  'GET /_sandbox/accounts': 'list the accounts and their balances, oldest first',
  'POST /_sandbox/accounts':
    'open an account with its own key: {"name":"Second shop","openingBalance":100}, ' +
    'or with its own events: {"name":"Third shop","eventsUrl":"http://…","eventsSecret":"…"}',
  'GET /_sandbox/transactions': 'list the true state of every transaction, newest first; ?issueID= ?limit=',
  'GET /_sandbox/transactions/{id}': 'read a transaction by its id or chiRef, with its history and postings',
  'PATCH /_sandbox/transactions/{id}': 'change a transaction, and book its wallet: {"status":"reversed"}',
  'GET /_sandbox/wallets': 'list every wallet with its true balance and entries, newest first; ?account=',
  'POST /_sandbox/entries':
    'book an entry: {"type":"top-up","account":"<id>","wallet":"momo","valueInUSD":50}, ' +
    'or a fee for a transaction: {"type":"fee","chiRef":"<chiRef>","valueInUSD":0.1}',
  'POST /_sandbox/faults': 'add a fault: {"fault":"noResponse","operation":"POST /payouts/airtime","nth":1}',
  'GET /_sandbox/faults': 'list the faults, and how often each struck',
  'GET /_sandbox/faults/kinds': 'list the kinds of faults, and their settings',
  'DELETE /_sandbox/faults': 'remove all faults',
  'DELETE /_sandbox/faults/{id}': 'remove a fault',
  'GET /_sandbox/magic-recipients': 'list the recipients with a fixed result',
  'GET /_sandbox/settings': 'read the settings',
  'PATCH /_sandbox/settings': 'change settings: {"quirks":{"floatBalances":true}}',
  'GET /_sandbox/events': 'list the newest events, with each delivery attempt; ?limit=',
  'POST /_sandbox/events/{id}/resend': 'deliver an event again',
  'POST /_sandbox/reset': 'reset data, faults, ground truth, events, and settings',
};

const MAX_SEQ = Number.MAX_SAFE_INTEGER;
const MAX_LIMIT = 1_000_000;
const EVENTS_SHOWN = '1000';

/** The control interface, for tests and demonstrations, with its own key and error format. */
export function controlInterface(service: Service, controls: Controls): FastifyPluginCallback {
  const { behaviour, database } = service;
  return (control, _options, done) => {
    requireControlKey(control, controls.controlKey);
    takeAnyBodyAsJson(control);
    control.setErrorHandler(answerControlError);
    control.setNotFoundHandler((request) => {
      const operation = `${request.method} ${request.url}`;
      throw new ControlRequestError(
        [`${operation} does not exist; GET ${CONTROL_PREFIX} lists the operations`],
        404,
      );
    });

    control.get('/', () => INDEX);
    requestRoutes(control, service);
    control.get('/ledger', () => ledgerOf(database));
    accountRoutes(control, service);
    truthRoutes(control, service);
    faultRoutes(control, service);
    control.get('/magic-recipients', magicRecipients);
    control.get('/settings', () => showBehaviour(behaviour));
    control.patch('/settings', async ({ body }) => {
      await controls.patchSettings(readOrRefuse((wrong) => readBehaviourPatch(body, wrong)));
      return showBehaviour(behaviour);
    });
    eventRoutes(control, service);
    control.post('/reset', async (_request, reply) => {
      await controls.reset();
      return reply.status(204).send();
    });
    done();
  };
}

/** Reads every body as JSON, because curl's -d declares a form. */
function takeAnyBodyAsJson(control: FastifyInstance): void {
  control.removeAllContentTypeParsers();
  control.addContentTypeParser('*', { parseAs: 'string' }, (_request, text: string, done) => {
    if (text.trim() === '') return done(null, undefined);
    try {
      done(null, JSON.parse(text));
    } catch {
      done(new ControlRequestError(['the body must be JSON']));
    }
  });
}

function requestRoutes(control: FastifyInstance, { arrivals }: Service): void {
  control.get('/requests', ({ query }) => {
    const { operation, after, limit } = query as Record<string, string | undefined>;
    const part = readOrRefuse((wrong) => ({
      operation,
      after: readNumber(after, 'after', integer(0, MAX_SEQ), wrong),
      limit: readNumber(limit, 'limit', integer(1, MAX_LIMIT), wrong),
    }));
    return arrivals.list(part);
  });
}

const MAX_OPENING_USD = 1_000_000_000; // A wallet's numeric(20,6) has room for thousands of such amounts.
const accountEventsUrl: Rule = {
  holds: (value) => value !== '' && webAddress.holds(value),
  must: 'an http:// or https:// address',
};
const ACCOUNT_RULES: Record<string, Rule> = {
  name: trimmedText,
  openingBalance: number(0, MAX_OPENING_USD),
  eventsUrl: accountEventsUrl,
  eventsSecret: EVENT_RULES.secret,
};

function accountRoutes(control: FastifyInstance, { database, events, lock }: Service): void {
  control.get('/accounts', () => listAccounts(database));
  control.post('/accounts', async ({ body }, reply) => {
    const account = readOrRefuse((wrong) => readNewAccount(body, wrong));
    const opened = await lock.pass(() => openAccount(database, account));
    await events.listen();
    return reply.status(201).send(opened);
  });
}

function readNewAccount(body: unknown, faults: string[]): NewAccount {
  if (!isObject(body)) faults.push('the body must be an object');
  const account: Record<string, unknown> = { name: '', openingBalance: 0, ...(isObject(body) && body) };
  check(account, ACCOUNT_RULES, faults);
  if ('eventsSecret' in account && !('eventsUrl' in account)) faults.push('eventsSecret needs eventsUrl');
  return account as unknown as NewAccount;
}

function faultRoutes(control: FastifyInstance, { faults, operations }: Service): void {
  control.post('/faults', ({ body }, reply) => {
    const fault = readOrRefuse((wrong) => readFault(body, [...operations], wrong));
    return reply.status(201).send(faults.add(fault));
  });
  control.get('/faults', () => faults.list());
  control.get('/faults/kinds', faultKinds);
  control.delete('/faults', (_request, reply) => {
    faults.clear();
    return reply.status(204).send();
  });
  control.delete<{ Params: { id: string } }>('/faults/:id', ({ params: { id } }, reply) => {
    if (!faults.remove(Number(id)))
      throw new ControlRequestError([`fault ${id} does not exist; GET /_sandbox/faults lists them`], 404);
    return reply.status(204).send();
  });
}

function eventRoutes(control: FastifyInstance, { events }: Service): void {
  control.get('/events', ({ query }) => {
    const { limit } = query as { limit?: string };
    const most = readOrRefuse((wrong) =>
      readNumber(limit ?? EVENTS_SHOWN, 'limit', integer(1, MAX_LIMIT), wrong),
    );
    return events.list(most);
  });
  control.post<{ Params: { id: string } }>('/events/:id/resend', async ({ params: { id } }, reply) => {
    if (!(await events.resend(id)))
      throw new ControlRequestError([`event ${id} does not exist; GET /_sandbox/events lists them`], 404);
    return reply.status(202).send();
  });
}

const HEADER = 'X-Sandbox-Control-Key';

/** Rejects requests without the control key. An API key is not accepted. */
function requireControlKey(control: FastifyInstance, controlKey: string): void {
  const expected = digest(controlKey);
  control.addHook('onRequest', (request, reply, done) => {
    const key = request.headers[HEADER.toLowerCase()];
    if (typeof key === 'string' && timingSafeEqual(digest(key), expected)) return done();
    void reply.status(401).send({ error: `send the control key in the header ${HEADER}` });
  });
}

/** Returns a hash of constant length, for a comparison in constant time. */
function digest(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
