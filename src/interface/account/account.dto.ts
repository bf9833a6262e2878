import { UsdAmount } from '../../http/validation/rules/money-rules';
import { Receiver } from '../../http/validation/rules/people-rules';
import { NoProperties, Text } from '../../http/validation/rules/rules';

/** See "POST /account/transfer" in docs/reference/upstream.md. */
export class TransferDto {
  @Receiver('User ID of the sub-account, from `/sub-account/list`.') receiver!: string;

  @UsdAmount({ required: false, description: 'Amount to transfer, in US dollars.' }) amount?: number;

  @Text({ max: 50, required: false, description: 'Name of the wallet.', example: 'airtime' }) wallet?: string;
}

/** See "POST /account/delete-unpaid-transaction" in docs/reference/upstream.md. */
export class DeleteUnpaidTransactionDto {
  @Text({
    max: 100,
    description: 'Reference of the transaction.',
    example: '3f8a0c1e-9d0b-4c54-8f55-2f6d0a4f8f11',
  })
  chiRef!: string;
}

/** See "GET /account/transaction" in docs/reference/upstream.md. */
export class TransactionQuery {
  @Text({ max: 100, description: 'ID of the transaction.', example: 'Zk3x9Qw1Lm7Tn2Rb5Vc8' }) id!: string;
}

/** See "POST /account/transactions {}" in docs/reference/upstream.md. The body is `{}` or absent. */
export class TransactionsDto extends NoProperties {}

/** See "POST /account/issue-id-transactions?issueID=" in docs/reference/upstream.md. A POST with a query. */
export class IssueTransactionsQuery {
  @Text({ max: 255, description: '`issueID` of the batch.', example: 'user-1_7.5_1700000000000' })
  issueID!: string;
}
