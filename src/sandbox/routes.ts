import type { FastifyPluginCallback, FastifyRequest } from 'fastify';
import {
  deleteUnpaidTransaction,
  listIssueTransactions,
  listTransactions,
  readTransaction,
} from './account/transactions';
import { transfer } from './account/transfer';
import { shapeAnswers } from './answer-shape';
import { PREFIX, readAccount, readBody, Received, receivedOf, receiveRequests } from './arrivals/receive';
import { Call, Operation } from './call';
import { collect, initiateCollection, verifyCollection } from './collections/collections';
import { answerSendFault, answerUnknownOperation, success } from './envelope';
import { answerAsStruck } from './faults/answer';
import { bodyAsStruck, carryOut } from './faults/carry-out';
import { listAirtimeCountries, listAssets, listMobileMoneyCodes, localInUsd, usdInLocal } from './info/info';
import { payOutAirtime } from './payouts/airtime';
import { initiateCredit, payOutCredit } from './payouts/credit';
import { payOutMobileMoney } from './payouts/mobile-money';
import { redeemAirtime } from './redeem/redeem';
import { send } from './send/send';
import type { Service } from './service';
import { createSubAccount, listSubAccounts, readSubAccount } from './sub-accounts/sub-accounts';
import { listWallets, lookUpWallet } from './wallets/list';
import { transferBetweenWallets } from './wallets/transfer';

/** The operations that interface.md documents, and those that it lists by name only, below {@link PREFIX}. */
export function operations(service: Service): FastifyPluginCallback {
  return (api, _options, done) => {
    const { unit } = service;
    receiveRequests(api, service);
    api.addHook('preSerialization', shapeAnswers(service.behaviour));
    api.addHook('preSerialization', (_request, _reply, payload, done) => done(null, unit.answerOutside(payload)));
    answerAsStruck(api, service);
    api.setNotFoundHandler(answerUnknownOperation);
    api.addHook('onRoute', ({ method, path }) => {
      service.operations.add(`${String(method)} ${unit.pathInside(path.slice(PREFIX.length))}`);
    });

    let origin = '';
    api.addHook('onListen', (done) => {
      origin = api.listeningOrigin; // not to be asked later: a server that is closing has none
      done();
    });

    const withBody = (operation: Operation) => async (request: FastifyRequest) =>
      success(
        await serve(service, origin, request, operation, (received) =>
          bodyAsStruck(received.fault, readBody(received)),
        ),
      );
    const withQuery = (operation: Operation) => async (request: FastifyRequest) =>
      success(await serve(service, origin, request, operation, () => request.query));

    api.post('/send', { errorHandler: answerSendFault }, withBody(send));
    api.post('/payouts/airtime', withBody(payOutAirtime));
    api.post('/payouts/mobile-money', withBody(payOutMobileMoney));
    api.post(unit.pathOutside('/payouts/credit'), withBody(payOutCredit));
    api.post(unit.pathOutside('/payouts/initiate-credit'), withBody(initiateCredit));
    api.post('/account/transfer', withBody(transfer));
    api.post('/account/delete-unpaid-transaction', withBody(deleteUnpaidTransaction));
    api.get('/account/transaction', withQuery(readTransaction));
    api.get('/wallets/list', withQuery(listWallets)); // the documented method
    api.post('/wallets/list', withBody(listWallets)); // the method of the document's code examples
    api.get('/sub-account/list', withQuery(listSubAccounts));

    // Listed by name only; methods and paths as upstream-observed.md gives them.
    api.post('/account/transactions', withBody(listTransactions));
    api.post('/account/issue-id-transactions', withQuery(listIssueTransactions));
    api.get('/info/assets', withQuery(listAssets));
    api.get('/info/airtime-countries', withQuery(listAirtimeCountries));
    api.get('/info/mobile-money-codes', withQuery(listMobileMoneyCodes));
    api.get('/info/usd-amount-in-local', withQuery(usdInLocal));
    api.get('/info/local-amount-in-usd', withQuery(localInUsd));
    api.post('/collections/mobile-money/collect', withBody(collect));
    api.post('/collections/mobile-money/initiate', withBody(initiateCollection));
    api.post('/collections/mobile-money/verify', withBody(verifyCollection));
    api.post('/redeem/airtime', withBody(redeemAirtime));
    api.post('/sub-account/create', withBody(createSubAccount));
    api.get('/sub-account/get', withQuery(readSubAccount));
    api.post('/wallets/lookup', withBody(lookUpWallet));
    api.post('/wallets/transfer', withBody(transferBetweenWallets));
    done();
  };
}

/** Carries an operation out for a request that is noted, as the fault that struck it wants. */
async function serve(
  service: Service,
  origin: string,
  request: FastifyRequest,
  operation: Operation,
  inputOf: (received: Received) => unknown,
): Promise<unknown> {
  const received = receivedOf(request);
  if (!received) throw new Error('the request was not noted');
  const run = async () => {
    const call = callFor(service, origin, received);
    const answer = await operation(call, inputOf(received));
    if (!call.isProcessed) await call.processed(service.database, []); // it only reads
    return answer;
  };
  return carryOut(received.fault, () => service.gate.pass(run), service.timers);
}

function callFor({ arrivals, database, behaviour }: Service, origin: string, received: Received) {
  const call: Call & { isProcessed: boolean } = {
    account: readAccount(received),
    database,
    origin,
    behaviour,
    isProcessed: false,
    processed: async (work, chiRefs) => {
      await arrivals.processed(work, received.seq, chiRefs);
      call.isProcessed = true;
    },
  };
  return call;
}
