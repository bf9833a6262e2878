import { ApiExtraModels, ApiProperty, ApiPropertyOptional, getSchemaPath } from '@nestjs/swagger';

type Schema = { type: 'string' | 'integer'; format?: string };

const TEXT: Schema = { type: 'string' };
const UUID: Schema = { type: 'string', format: 'uuid' };
const INSTANT: Schema = { type: 'string', format: 'date-time' };
const orNull = (schema: object) => ({ anyOf: [schema, { type: 'null' }] });
const nullable = (schema: Schema, description: string) => ApiProperty({ ...orNull(schema), description });
const maybe = (schema: Schema, description: string) => ApiPropertyOptional({ ...orNull(schema), description });

/** Our payment. */
class EvidenceOurs {
  @ApiProperty({ ...UUID, description: "The call's ID." }) call_id!: string;
  @ApiProperty({ type: 'integer', description: "The payment's position in the call, from 0." }) position!: number;
  @ApiProperty({ ...TEXT, description: "The operation's name." }) operation!: string;
  @ApiProperty({ ...INSTANT, description: 'Time of the call.' }) at!: string;
  @nullable(TEXT, 'Amount in US dollars, decimal text.') amount_usd!: string | null;
  @ApiProperty({ ...TEXT, description: 'The recorded outcome.' }) outcome!: string;
}

/** The upstream's transaction or wallet entry. */
class EvidenceTheirs {
  @ApiProperty({ ...UUID, description: 'The ID of the reading that lists it.' }) read_id!: string;
  @ApiProperty({ type: 'integer', description: 'Its position in the reading, from 0.' }) ordinal!: number;
  @nullable(INSTANT, "Its time, by the upstream's clock.") at!: string | null;
  @maybe(TEXT, "The upstream's reference, of a transaction.") upstream_ref?: string | null;
  @maybe(TEXT, "The upstream's ID, of a transaction.") upstream_id?: string | null;
  @maybe(TEXT, "The upstream's ID of the batch, of a transaction.") batch_ref?: string | null;
  @maybe(TEXT, "The upstream's status, of a transaction.") status?: string | null;
  @maybe(TEXT, 'Amount in US dollars, decimal text, of a transaction.') amount_usd?: string | null;
  @maybe(TEXT, 'The wallet, of a wallet entry.') wallet_id?: string | null;
}

class EvidenceMatch {
  @ApiProperty({ ...TEXT, description: 'The rule that matched the two.', example: 'upstream_ref' })
  rule!: string;
  @ApiProperty({ enum: ['certain', 'probable', 'possible'], description: 'How certain the match is.' })
  certainty!: string;
}

/** The records that support a finding. They name nobody. */
@ApiExtraModels(EvidenceOurs, EvidenceTheirs, EvidenceMatch)
export class FindingEvidence {
  @ApiProperty({
    ...orNull({ $ref: getSchemaPath(EvidenceOurs) }),
    description: 'Null if our records have no payment for it.',
  })
  ours!: EvidenceOurs | null;
  @ApiProperty({
    ...orNull({ $ref: getSchemaPath(EvidenceTheirs) }),
    description: 'Null if the upstream lists no transaction for it.',
  })
  theirs!: EvidenceTheirs | null;
  @ApiProperty({ ...orNull({ $ref: getSchemaPath(EvidenceMatch) }), description: 'Null if the two are not matched.' })
  match!: EvidenceMatch | null;
}
