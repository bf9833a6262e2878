import { kinds } from './kinds';

/** The errors for objects that do not exist (404). */
export const NOT_FOUND = {
  ...kinds(404, 'fix_request', {
    client_not_found: 'No client has this name. GET /v1/clients lists the clients.',
    person_not_found: 'This client has no person with this ID. GET /v1/clients/{name}/persons lists them.',
    key_not_found: 'This client has no key with this ID. GET /v1/clients/{name}/keys lists its keys.',
    ephemeral_key_not_found:
      'Your client has no ephemeral key with this ID. GET /v1/ephemeral-keys lists them.',
    change_not_found: 'No change has this ID. GET /v1/changes lists the changes.',
    approval_not_found: 'No call with this ID was held for approval.',
    transaction_not_found:
      'The book has no transaction with this ID. GET /v1/reconciliation/transactions finds transactions.',
    statement_not_found: 'No statement has this ID. GET /v1/reconciliation/statements lists the statements.',
    stop_not_found: 'No active stop has this ID. GET /v1/stops lists the active stops.',
    fees_not_found:
      'The proxy has learned no fees of this operation and account. GET /v1/fees lists the learned fees. A ' +
      'configured rule is changed in UPSTREAM_FEES.',
    fault_not_found: 'No active fault has this ID. GET /v1/sandbox lists the active faults.',
    not_found: 'No route has this path. /docs lists every route.',
    call_not_found: 'You have no call with this ID.',
    object_not_found:
      'Your client has no transaction or sub-account with this ID. Nothing was sent. POST ' +
      '/account/transactions lists your transactions.',
    payout_not_found:
      'You have no payout with this ID. GET /v1/calls/{id} lists the "payout_id" of each item.',
    finding_not_found: 'No finding has this ID. GET /v1/reconciliation/findings lists the findings.',
    run_not_found: 'No reconciliation run has this ID. GET /v1/reconciliation/runs lists the runs.',
    record_not_found: 'No record has this ID.',
  }),
};
