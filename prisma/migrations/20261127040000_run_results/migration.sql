-- A run without findings is clean only if its listing is whole and no call is in doubt. A debit of a wallet that no
-- transaction explains is a finding of its own.

ALTER TABLE reconciliation_run_end DROP CONSTRAINT reconciliation_run_end_result_check;
ALTER TABLE reconciliation_run_end ADD CONSTRAINT reconciliation_run_end_result_check
  CHECK (result IN ('clean', 'clean_with_doubts', 'incomplete', 'findings', 'failed'));

ALTER TABLE finding DROP CONSTRAINT finding_category_check;
ALTER TABLE finding ADD CONSTRAINT finding_category_check
  CHECK (category IN ('missing_upstream', 'missing_local', 'amount_over', 'amount_under', 'recipient', 'status',
    'duplicate_upstream', 'late', 'fee', 'balance_gap', 'unexplained_debit', 'unrecognised_status'));
