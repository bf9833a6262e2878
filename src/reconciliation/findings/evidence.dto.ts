import { ApiExtraModels } from '@nestjs/swagger';
import { described, INSTANT, INTEGER, nullable, optional, orNull, TEXT, UUID } from '../../platform/schema/fields';

/** Our payment. */
class EvidenceOurs {
  @described(UUID, "The call's ID.") call_id!: string;
  @described(INTEGER, "The payment's position in the call, from 0.") position!: number;
  @described(TEXT, "The operation's name.") operation!: string;
  @described(INSTANT, 'Time of the call.') at!: string;
  @nullable(TEXT, 'Amount in US dollars, decimal text.') amount_usd!: string | null;
  @described(TEXT, 'The recorded outcome.') outcome!: string;
}

/** The upstream's transaction or wallet entry. */
class EvidenceTheirs {
  @described(UUID, 'The ID of the reading that lists it.') read_id!: string;
  @described(INTEGER, 'Its position in the reading, from 0.') ordinal!: number;
  @nullable(INSTANT, "Its time, by the upstream's clock.") at!: string | null;
  @optional(orNull(TEXT), "The upstream's reference, of a transaction.") upstream_ref?: string | null;
  @optional(orNull(TEXT), "The upstream's ID, of a transaction.") upstream_id?: string | null;
  @optional(orNull(TEXT), "The upstream's ID of the batch, of a transaction.") batch_ref?: string | null;
  @optional(orNull(TEXT), "The upstream's status, of a transaction.") status?: string | null;
  @optional(orNull(TEXT), 'Amount in US dollars, decimal text, of a transaction.') amount_usd?: string | null;
  @optional(orNull(TEXT), 'The wallet, of a wallet entry.') wallet_id?: string | null;
}

class EvidenceMatch {
  @described({ ...TEXT, example: 'upstream_ref' }, 'The rule that matched the two.')
  rule!: string;
  @described({ enum: ['certain', 'probable', 'possible'] }, 'How certain the match is.')
  certainty!: string;
}

/** The records that support a finding. They name nobody. */
@ApiExtraModels(EvidenceOurs, EvidenceTheirs, EvidenceMatch)
export class FindingEvidence {
  @nullable(EvidenceOurs, 'Null if our records have no payment for it.')
  ours!: EvidenceOurs | null;
  @nullable(EvidenceTheirs, 'Null if the upstream lists no transaction for it.')
  theirs!: EvidenceTheirs | null;
  @nullable(EvidenceMatch, 'Null if the two are not matched.')
  match!: EvidenceMatch | null;
}
