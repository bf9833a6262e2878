import type { FastifyPluginCallback, FastifyRequest } from 'fastify';
import { authenticate } from './account/authentication';
import { deleteUnpaidTransaction, readTransaction } from './account/transactions';
import { transfer } from './account/transfer';
import { Behaviour } from './behaviour';
import { Call, Operation } from './call';
import { Database } from './database';
import { answerSendFault, success } from './envelope';
import { Account } from './generated/client';
import { payOutAirtime } from './payouts/airtime';
import { initiateCredit, payOutCredit } from './payouts/credit';
import { payOutMobileMoney } from './payouts/mobile-money';
import { send } from './send/send';
import { listSubAccounts } from './sub-accounts/list';
import { listWallets } from './wallets/list';

export const PREFIX = '/api/v0.1';

/** The ten operations that interface.md documents. */
export function operations(database: Database, behaviour: Behaviour): FastifyPluginCallback {
  return (api, _options, done) => {
    api.decorateRequest('account', null);
    // Before the body is read: whoever has no key learns nothing else about the request.
    api.addHook('onRequest', async (request) => {
      request.setDecorator('account', await authenticate(database, request));
    });

    let origin = '';
    api.addHook('onListen', (done) => {
      origin = api.listeningOrigin; // not to be asked later: a server that is closing has none
      done();
    });

    const callOf = (request: FastifyRequest): Call => ({
      account: request.getDecorator<Account>('account'),
      database,
      origin,
      behaviour,
      processed: () => Promise.resolve(), // the ground truth is not kept yet
    });
    const withBody = (operation: Operation) => async (request: FastifyRequest) =>
      success(await operation(callOf(request), request.body));
    const withQuery = (operation: Operation) => async (request: FastifyRequest) =>
      success(await operation(callOf(request), request.query));

    api.post('/send', { errorHandler: answerSendFault }, withBody(send));
    api.post('/payouts/airtime', withBody(payOutAirtime));
    api.post('/payouts/mobile-money', withBody(payOutMobileMoney));
    api.post('/payouts/credit', withBody(payOutCredit));
    api.post('/payouts/initiate-credit', withBody(initiateCredit));
    api.post('/account/transfer', withBody(transfer));
    api.post('/account/delete-unpaid-transaction', withBody(deleteUnpaidTransaction));
    api.get('/account/transaction', withQuery(readTransaction));
    api.get('/wallets/list', withQuery(listWallets)); // the documented method
    api.post('/wallets/list', withBody(listWallets)); // the method of the document's code examples
    api.get('/sub-account/list', withQuery(listSubAccounts));
    done();
  };
}
