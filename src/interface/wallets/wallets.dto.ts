import { UsdAmount } from '../../http/validation/rules/money-rules';
import { Receiver } from '../../http/validation/rules/people-rules';
import { Text } from '../../http/validation/rules/rules';

/** See "POST /wallets/lookup" in docs/reference/upstream.md. */
export class WalletLookupDto {
  @Text({ max: 100, description: 'ID of the wallet, from `/wallets/list`.', example: 'Zk3x9Qw1Lm7Tn2Rb5Vc8' })
  walletID!: string;
}

/** See "POST /wallets/transfer" in docs/reference/upstream.md. */
export class WalletTransferDto {
  @Receiver('User ID of the receiver.') receiver!: string;

  @UsdAmount({ description: 'Value in US dollars.' }) valueInUSD!: number;

  @Text({ max: 50, required: false, description: 'Name of the wallet.', example: 'airtime' }) wallet?: string;
}
