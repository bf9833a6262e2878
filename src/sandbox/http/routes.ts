import type { FastifyPluginCallback, FastifyRequest } from 'fastify';
import { actingAccount, Owner } from '../account/authentication';
import { transactionRoutes } from '../account/transactions';
import type { ArrivedRequest } from '../arrivals/arrived-request';
import { PREFIX, readOwner, readBody, receivedOf, receiveRequests } from '../arrivals/receive';
import { recordProcessed } from '../arrivals/record-processed';
import { collectionRoutes } from '../collections/collections';
import { applyAnswerFaults, bodyForFault, carryOut } from '../faults/effects';
import { infoRoutes } from '../info/info';
import { airtimeRoutes, mobileMoneyRoutes, creditRoutes, sendRoutes } from '../payouts/payouts';
import { redeemRoutes } from '../redeem/redeem';
import type { Service } from '../service';
import { subAccountRoutes } from '../sub-accounts/sub-accounts';
import { walletRoutes } from '../wallets/list';
import { transferRoutes } from '../wallets/transfer';
import { shapeAnswers } from './answer-shape';
import { Call, Operation, Routes } from './call';
import { answerSendFault, answerUnknownOperation, success } from './envelope';

/** All operations, by resource. */
const ROUTES = {
  ...sendRoutes,
  ...airtimeRoutes,
  ...mobileMoneyRoutes,
  ...creditRoutes,
  ...transferRoutes,
  ...transactionRoutes,
  ...walletRoutes,
  ...subAccountRoutes,
  ...infoRoutes,
  ...collectionRoutes,
  ...redeemRoutes,
} satisfies Routes;

/** All operations, with the type of their `data`. */
export type SandboxOperations = typeof ROUTES;

/** POST operations with their input in the query (docs/reference/upstream.md). */
const READS_QUERY = new Set(['POST /account/issue-id-transactions']);

/** Adds all operations of the interface below {@link PREFIX}, documented or listed by name only. */
export function operations(service: Service): FastifyPluginCallback {
  return (api, _options, done) => {
    const { unit } = service;
    receiveRequests(api, service);
    api.addHook('preSerialization', shapeAnswers(service.behaviour));
    api.addHook('preSerialization', (_request, _reply, payload, done) =>
      done(null, unit.answerOutside(payload)),
    );
    applyAnswerFaults(api, service);
    api.setNotFoundHandler(answerUnknownOperation);
    api.addHook('onRoute', ({ method, path }) => {
      service.operations.add(`${String(method)} ${unit.pathInside(path.slice(PREFIX.length))}`);
    });

    let origin = '';
    api.addHook('onListen', (done) => {
      origin = api.listeningOrigin; // Not later, because a closing server has no address.
      done();
    });

    for (const [name, operation] of Object.entries<Operation>(ROUTES)) {
      const [method = '', path = ''] = name.split(' ');
      const inputOf: InputOf =
        method === 'GET' || READS_QUERY.has(name)
          ? (_received, { query }) => query
          : (received) => bodyForFault(received.fault, readBody(received));
      api.route({
        method,
        url: unit.pathOutside(path),
        handler: async (request) => success(await serve(service, origin, request, operation, inputOf)),
        ...(name === 'POST /send' && { errorHandler: answerSendFault }),
      });
    }
    done();
  };
}

/** The input of an operation: its body or its query. */
type InputOf = (received: ArrivedRequest, request: FastifyRequest) => unknown;

/** Carries an operation out for a recorded request, under the request's fault. */
async function serve(
  service: Service,
  origin: string,
  request: FastifyRequest,
  operation: Operation,
  inputOf: InputOf,
): Promise<unknown> {
  const received = receivedOf(request);
  if (!received) throw new Error('the request was not recorded');
  const run = async () => {
    const owner = readOwner(received);
    const input = inputOf(received, request);
    const account = await actingAccount(service.database, owner, [received.body ?? request.query, input]);
    const call = callFor(service, origin, received, account);
    const answer = await operation(call, input);
    if (!call.isProcessed) await call.processed(service.database, []); // A read.
    return answer;
  };
  return carryOut(received.fault, () => service.lock.pass(run), service.timers);
}

function callFor(service: Service, origin: string, received: ArrivedRequest, account: Owner) {
  const { database, behaviour } = service;
  const call: Call & { isProcessed: boolean } = {
    account,
    database,
    origin,
    behaviour,
    isProcessed: false,
    processed: async (work, chiRefs) => {
      await recordProcessed(service.arrivals, work, [{ request: received, chiRefs }]);
      call.isProcessed = true;
    },
    payOut: async (payout) => {
      await service.payouts.carryOut(payout, received);
      call.isProcessed = true;
    },
  };
  return call;
}
