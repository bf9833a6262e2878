/** What there is not (404). */
export const NOT_FOUND = {
  client_not_found: { status: 404, text: 'There is no client of this name; GET /v1/clients lists them.' },
  key_not_found: { status: 404, text: 'This client has no key with this id; GET /v1/clients/{name}/keys lists them.' },
  approval_not_found: { status: 404, text: 'There is no call with this id that waits, or waited, for an approval.' },
  statement_not_found: {
    status: 404,
    text: 'There is no such statement; GET /v1/reconciliation/statements lists them.',
  },
  stop_not_found: { status: 404, text: 'There is no stop with this id that still holds; GET /v1/stops lists them.' },
  fault_not_found: { status: 404, text: 'There is no fault with this id that is on; GET /v1/sandbox lists them.' },
  not_found: { status: 404, text: 'There is nothing at this address; /docs lists what there is.' },
  call_not_found: { status: 404, text: 'There is no call of yours with this id.' },
  finding_not_found: {
    status: 404,
    text: 'There is no finding with this id; GET /v1/reconciliation/findings lists them.',
  },
  run_not_found: {
    status: 404,
    text: 'There is no run of the reconciliation with this id; GET /v1/reconciliation/runs lists them.',
  },
  record_not_found: { status: 404, text: 'There is no record with this id.' },
} as const;
