import type { FastifyPluginCallback, FastifyRequest } from 'fastify';
import { authenticate } from './account/authentication';
import {
  deleteUnpaidTransaction,
  listIssueTransactions,
  listTransactions,
  readTransaction,
} from './account/transactions';
import { transfer } from './account/transfer';
import { shapeAnswers } from './answer-shape';
import { Behaviour } from './behaviour';
import { Call, Operation } from './call';
import { collect, initiateCollection, verifyCollection } from './collections/collections';
import { Database } from './database';
import { answerSendFault, success } from './envelope';
import { Account } from './generated/client';
import { listAirtimeCountries, listAssets, listMobileMoneyCodes, localInUsd, usdInLocal } from './info/info';
import { payOutAirtime } from './payouts/airtime';
import { initiateCredit, payOutCredit } from './payouts/credit';
import { payOutMobileMoney } from './payouts/mobile-money';
import { redeemAirtime } from './redeem/redeem';
import { send } from './send/send';
import { createSubAccount, listSubAccounts, readSubAccount } from './sub-accounts/sub-accounts';
import { listWallets, lookUpWallet } from './wallets/list';
import { transferBetweenWallets } from './wallets/transfer';

export const PREFIX = '/api/v0.1';

/** The operations that interface.md documents, and those that it lists by name only. */
export function operations(database: Database, behaviour: Behaviour): FastifyPluginCallback {
  return (api, _options, done) => {
    api.decorateRequest('account', null);
    // Before the body is read: whoever has no key learns nothing else about the request.
    api.addHook('onRequest', async (request) => {
      request.setDecorator('account', await authenticate(database, request));
    });

    api.addHook('preSerialization', shapeAnswers(behaviour));

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
